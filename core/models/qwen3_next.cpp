// qwen3_next: linear attention in three of four layers, its projections joint; gated attention in
// the fourth; experts in some layers or all, and one that sees every token. Source: transformers
// models/qwen3_next/modeling_qwen3_next.py, configuration_qwen3_next.py.
#include "core/models/delta_net.hpp"
#include "core/models/mixture.hpp"

namespace ledger::models {

DecoderConfig configure_qwen3_next(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  configure_delta(c, config, workings);
  c.delta.joint = true;
  c.mixture = mixture_config(c, config, workings, "num_experts", "moe_intermediate_size");
  c.mixture.targets = ExpertTargets::kQwen2Moe;
  c.mixture.normalised = config.flag("norm_topk_prob");
  c.mixture.shared_gate = true;
  c.mixture.shared_feed_forward =
      workings.named("f_s", config.number("shared_expert_intermediate_size"));
  sparse_by_step(c.mixture, config);
  c.blocks.feed_forward = gated_shared_feed_forward;
  return c;
}

}  // namespace ledger::models
