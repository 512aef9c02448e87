// olmoe: experts in every layer; a norm over all heads' queries and keys together.
// Source: transformers models/olmoe/modeling_olmoe.py.
#include "core/models/mixture.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

// The norms' weights span all heads.
void make_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  Attention& a = layer.self_attn;
  make_attention(b, layer);
  b.norm(a.q_norm, "layers.*.self_attn.q_norm", c.hidden);
  b.norm(a.k_norm, "layers.*.self_attn.k_norm", c.hidden / c.heads * c.key_value_heads);
  make_feed_forward(b, layer);
  make_layer_norms(b, layer);
}

Tensor heads_of(Tape& t, const DecoderConfig& c, Tensor x, Count heads) {
  Tensor split = ops::split_heads(t, std::move(x), heads, c.head_width);
  return ops::transpose(t, std::move(split));
}

QueryKeyValue project(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Attention& a = layer.self_attn;
  const DecoderConfig& c = layer.model->config;
  Tensor query = ops::linear(t.as("query states"), a.q_proj, x);
  Tensor q = rms_norm(t, a.q_norm, std::move(query));
  Tensor key = ops::linear(t.as("key states"), a.k_proj, x);
  Tensor k = rms_norm(t, a.k_norm, std::move(key));
  Tensor v = ops::linear(t.as("value states"), a.v_proj, x);
  q = heads_of(t, c, std::move(q), c.heads);
  k = heads_of(t, c, std::move(k), c.key_value_heads);
  v = heads_of(t, c, std::move(v), c.key_value_heads);
  return {std::move(q), std::move(k), std::move(v)};
}

}  // namespace

DecoderConfig configure_olmoe(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  c.mixture = mixture_config(c, config, workings, "num_experts", "intermediate_size");
  c.mixture.targets = ExpertTargets::kQwen2Moe;
  c.mixture.normalised = config.flag("norm_topk_prob");
  c.blocks.make_layer = make_layer;
  c.blocks.project = project;
  c.blocks.feed_forward = routed_feed_forward;
  return c;
}

}  // namespace ledger::models
