// qwen3_5: linear attention in three of four layers, gated attention in the fourth; a plain
// feed-forward, or in qwen3_5_moe experts with one that sees every token. The language model alone.
// Source: transformers models/qwen3_5/modeling_qwen3_5.py, models/qwen3_5_moe.
#include "core/models/delta_net.hpp"
#include "core/models/mixture.hpp"

namespace ledger::models {

DecoderConfig configure_qwen3_5_text(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  configure_delta(c, config, workings);
  c.delta.grids = true;
  return c;
}

DecoderConfig configure_qwen3_5_moe_text(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = configure_qwen3_5_text(config, workings);
  c.mixture = mixture_config(c, config, workings, "num_experts", "moe_intermediate_size");
  c.mixture.normalised = true;
  c.mixture.shared_gate = true;
  c.mixture.shared_feed_forward =
      workings.named("f_s", config.number("shared_expert_intermediate_size"));
  c.blocks.feed_forward = gated_shared_feed_forward;
  return c;
}

}  // namespace ledger::models
