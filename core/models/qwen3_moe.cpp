// qwen3_moe: qwen3's attention; experts in some layers or all.
// Source: transformers models/qwen3_moe/modeling_qwen3_moe.py, configuration_qwen3_moe.py.
#include "core/models/mixture.hpp"

namespace ledger::models {

DecoderConfig configure_qwen3_moe(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_norm = true;
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  // One mask for all layers.
  const double window =
      config.flag("use_sliding_window") ? config.number_or("sliding_window", 0) : 0;
  if (window > 0) {
    c.window = workings.letter(Letter::w, window);
    c.windowed.assign(c.windowed.size(), true);
  }
  c.mixture = mixture_config(c, config, workings, "num_experts", "moe_intermediate_size");
  c.mixture.targets = ExpertTargets::kQwen2Moe;
  c.mixture.normalised = config.flag("norm_topk_prob");
  c.mixture.router_first = false;
  sparse_by_step(c.mixture, config);
  c.blocks.make_layer = make_mixture_layer;
  c.blocks.feed_forward = routed_feed_forward;
  return c;
}

}  // namespace ledger::models
