// glm4_moe: heads rotated in part; a mixture with shared experts behind the first layers, routed by
// corrected sigmoids. Source: transformers models/glm4_moe/modeling_glm4_moe.py.
#include "core/models/mixture.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

Tensor heads_of(Tape& t, const DecoderConfig& c, const ops::Linear& projection, const char* what,
                const Tensor& x, Count heads) {
  Tensor projected = ops::linear(t.as(what), projection, x);
  return ops::split_heads(t, std::move(projected), heads, c.head_width);
}

// All three projections come before the norms.
QueryKeyValue project(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Attention& a = layer.self_attn;
  const DecoderConfig& c = layer.model->config;
  Tensor q = heads_of(t, c, a.q_proj, "query states", x, c.heads);
  Tensor k = heads_of(t, c, a.k_proj, "key states", x, c.key_value_heads);
  Tensor v = heads_of(t, c, a.v_proj, "value states", x, c.key_value_heads);
  if (c.query_key_norm) {
    q = rms_norm(t, a.q_norm, q);
    k = rms_norm(t, a.k_norm, k);
  }
  q = ops::transpose(t, q);
  k = ops::transpose(t, k);
  v = ops::transpose(t, v);
  return {std::move(q), std::move(k), std::move(v)};
}

}  // namespace

DecoderConfig configure_glm4_moe(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_value_bias = config.flag("attention_bias");
  c.query_key_norm = config.flag("use_qk_norm");
  rotate_partly(c, config, workings);
  MixtureConfig& m = c.mixture =
      mixture_config(c, config, workings, "n_routed_experts", "moe_intermediate_size");
  m.shared_feed_forward = m.feed_forward * workings.named("n_s", config.number("n_shared_experts"));
  m.groups = workings.named("n_g", config.number("n_group"));
  m.chosen_groups = config.number("topk_group");
  m.normalised = config.flag("norm_topk_prob");
  m.corrected = m.correction_in_32_bit = true;
  dense_first(m, config);
  m.router_first = false;
  m.targets = ExpertTargets::kQwen2Moe;
  m.route = sigmoid_router;
  c.blocks.make_layer = make_mixture_layer;
  c.blocks.project = project;
  c.blocks.feed_forward = shared_feed_forward;
  return c;
}

}  // namespace ledger::models
