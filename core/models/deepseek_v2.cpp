// deepseek_v2: latent attention rotated by complex products; a mixture with shared experts behind
// the first layers. Source: transformers models/deepseek_v2/modeling_deepseek_v2.py.
#include "core/models/latent_attention.hpp"
#include "core/models/mixture.hpp"
#include "core/ops/complex.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

void make_layer(Builder& b, DecoderLayer& layer) {
  make_latent_attention(b, layer);
  make_feed_forward(b, layer);
  make_layer_norms(b, layer);
}

// One complex table stands in the place of cos.
RotaryTables complex_tables(Tape& t, Count length, Count width, Dtype) {
  return {ops::complex_rotary_table(t, length, width), {}};
}

Rotated rotate(Tape& t, Tensor q, Tensor k, Tensor table, Tensor) {
  Tensor wide_q = ops::to_complex(t.as("queries as complex numbers"), q);
  Tensor wide_k = ops::to_complex(t.as("keys as complex numbers"), k);
  Tensor rotated_q = ops::complex_rotation(t, wide_q, table, q.dtype());
  Tensor rotated_k = ops::complex_rotation(t, wide_k, table, k.dtype());
  return {std::move(rotated_q), std::move(rotated_k)};
}

}  // namespace

DecoderConfig configure_deepseek_v2(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.mlp_bias = config.flag("mlp_bias");
  c.latent = latent_config(config, workings);
  c.rotary_width = c.latent.rotated_width;
  MixtureConfig& m = c.mixture =
      mixture_config(c, config, workings, "n_routed_experts", "moe_intermediate_size");
  m.shared_feed_forward = m.feed_forward * workings.named("n_s", config.number("n_shared_experts"));
  m.group_limited = config.text("topk_method") == "group_limited_greedy";
  m.groups = workings.named("n_g", config.number_or("n_group", 1));
  m.chosen_groups = config.number_or("topk_group", 1);
  dense_first(m, config);
  m.router_first = false;
  m.targets = ExpertTargets::kQwen2Moe;
  m.route = grouped_softmax_router;
  c.blocks.make_layer = make_layer;
  c.blocks.attention = latent_attention;
  c.blocks.tables = complex_tables;
  c.blocks.rotate = rotate;
  c.blocks.feed_forward = shared_feed_forward;
  return c;
}

}  // namespace ledger::models
