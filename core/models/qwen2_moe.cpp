// qwen2_moe: qwen2's attention; experts in some layers or all, and one that sees every token.
// Source: transformers models/qwen2_moe/modeling_qwen2_moe.py, configuration_qwen2_moe.py.
#include "core/models/mixture.hpp"
#include "core/models/windows.hpp"

namespace ledger::models {

DecoderConfig configure_qwen2_moe(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_value_bias = config.flag("qkv_bias");
  // Both masks are made whatever the layers use; windowed are every other of the first layers.
  c.always_full_mask = c.always_windowed_mask = true;
  const double window =
      config.flag("use_sliding_window") ? config.number_or("sliding_window", 0) : 0;
  if (window > 0) c.window = workings.letter(Letter::w, window);
  if (!window_from_types(c, config)) {
    const auto end = static_cast<std::size_t>(config.number("max_window_layers"));
    for (std::size_t i = 0; i < c.windowed.size(); i += 2) {
      c.windowed[i] = window > 0 && i < end;
    }
  }
  c.mixture = mixture_config(c, config, workings, "num_experts", "moe_intermediate_size");
  c.mixture.normalised = config.flag("norm_topk_prob");
  c.mixture.shared_feed_forward =
      workings.named("f_s", config.number("shared_expert_intermediate_size"));
  c.mixture.shared_gate = true;
  sparse_by_step(c.mixture, config);
  c.blocks.make_layer = make_mixture_layer;
  c.blocks.feed_forward = gated_shared_feed_forward;
  return c;
}

}  // namespace ledger::models
