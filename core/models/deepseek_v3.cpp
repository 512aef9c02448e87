// deepseek_v3, and kimi_k2, which transformers builds as the same: latent attention; a mixture with
// shared experts behind the first layers, routed by corrected sigmoids.
// Source: transformers models/deepseek_v3/modeling_deepseek_v3.py.
#include "core/models/latent_attention.hpp"
#include "core/models/mixture.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

void make_layer(Builder& b, DecoderLayer& layer) {
  make_latent_attention(b, layer);
  make_feed_forward(b, layer);
  make_layer_norms(b, layer);
}

// Pairs lie side by side: x[..., 0::2] and x[..., 1::2].
Rotated rotate_interleaved(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin) {
  cos = ops::every_second(t, cos);
  sin = ops::every_second(t, sin);
  Tensor even_q = ops::every_second(t, q), odd_q = ops::every_second(t, q);
  Tensor even_k = ops::every_second(t, k), odd_k = ops::every_second(t, k);
  Tensor rotated_q = rotate_pairs(t, even_q, odd_q, cos, sin, "query states, rotated");
  Tensor rotated_k = rotate_pairs(t, even_k, odd_k, cos, sin, "key states, rotated");
  return {std::move(rotated_q), std::move(rotated_k)};
}

}  // namespace

DecoderConfig configure_deepseek_v3(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.latent = latent_config(config, workings);
  c.rotary_width = c.latent.rotated_width;
  MixtureConfig& m = c.mixture =
      mixture_config(c, config, workings, "n_routed_experts", "moe_intermediate_size");
  m.shared_feed_forward = m.feed_forward * workings.named("n_s", config.number("n_shared_experts"));
  m.groups = workings.named("n_g", config.number("n_group"));
  m.chosen_groups = config.number("topk_group");
  m.normalised = config.flag("norm_topk_prob");
  m.corrected = true;
  dense_first(m, config);
  m.router_first = false;
  m.targets = ExpertTargets::kQwen2Moe;
  m.route = sigmoid_router;
  c.blocks.make_layer = make_layer;
  c.blocks.attention = latent_attention;
  if (config.flag("rope_interleave")) c.blocks.rotate = rotate_interleaved;
  c.blocks.feed_forward = shared_feed_forward;
  return c;
}

}  // namespace ledger::models
