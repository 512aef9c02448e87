// Latent attention, statement by statement as in transformers models/deepseek_v3.
#include "core/models/latent_attention.hpp"

#include "core/models/cache.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {

LatentConfig latent_config(const ModelConfig& config, Workings& w) {
  LatentConfig l;
  const double query_rank = config.number_or("q_lora_rank", 0);
  if (query_rank > 0) l.query_rank = w.letter(Letter::r_q, query_rank);
  l.key_value_rank = w.letter(Letter::r_kv, config.number("kv_lora_rank"));
  l.plain_width = w.named("d_n", config.number("qk_nope_head_dim"));
  l.rotated_width = w.named("d_r", config.number("qk_rope_head_dim"));
  l.value_width = w.named("d_v", config.number("v_head_dim"));
  l.bias = config.flag("attention_bias");
  return l;
}

void make_latent_attention(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const LatentConfig& l = c.latent;
  LatentAttention& a = layer.latent;
  const Count query_width = c.heads * (l.plain_width + l.rotated_width);
  if (l.query_rank.value() > 0) {
    b.linear(a.q_a_proj, "layers.*.self_attn.q_a_proj", c.hidden, l.query_rank, l.bias);
    b.norm(a.q_a_layernorm, "layers.*.self_attn.q_a_layernorm", l.query_rank);
    b.linear(a.q_b_proj, "layers.*.self_attn.q_b_proj", l.query_rank, query_width, false);
  } else {
    b.linear(a.q_b_proj, "layers.*.self_attn.q_proj", c.hidden, query_width, false);
  }
  b.linear(a.kv_a_proj, "layers.*.self_attn.kv_a_proj_with_mqa", c.hidden,
           l.key_value_rank + l.rotated_width, l.bias);
  b.norm(a.kv_a_layernorm, "layers.*.self_attn.kv_a_layernorm", l.key_value_rank);
  b.linear(a.kv_b_proj, "layers.*.self_attn.kv_b_proj", l.key_value_rank,
           c.heads * (l.plain_width + l.value_width), false);
  b.linear(layer.self_attn.o_proj, "layers.*.self_attn.o_proj", c.heads * l.value_width, c.hidden,
           l.bias);
}

namespace {

// q_b_proj is the only projection where queries have no latent.
Tensor project_queries(Tape& t, const LatentAttention& a, const Tensor& hidden) {
  if (!a.q_a_layernorm.weight) return ops::linear(t.as("query states"), a.q_b_proj, hidden);
  Tensor latent = ops::linear(t.as("queries' latent"), a.q_a_proj, hidden);
  Tensor normed = rms_norm(t, a.q_a_layernorm, std::move(latent));
  return ops::linear(t.as("query states"), a.q_b_proj, std::move(normed));
}

}  // namespace

AttentionOutput latent_attention(Tape& t, const DecoderLayer& layer, const LayerInputs& in,
                                 Tensor hidden) {
  const DecoderConfig& c = layer.model->config;
  const LatentConfig& l = c.latent;
  const LatentAttention& a = layer.latent;
  const Within here(t, layer.self_attn.place);
  const Count batch = hidden.dim(0), length = hidden.dim(1);

  Tensor queries = project_queries(t, a, hidden);
  queries = ops::split_heads(t, queries, c.heads, l.plain_width + l.rotated_width);
  queries = ops::transpose(t, queries);
  ops::Halves query_parts = ops::split_last(t, queries, l.plain_width);
  Tensor compressed = ops::linear(t.as("latent of keys and values"), a.kv_a_proj, hidden);
  ops::Halves latent_parts = ops::split_last(t, compressed, l.key_value_rank);
  Tensor latent = rms_norm(t, a.kv_a_layernorm, latent_parts.first);
  latent = ops::reshape(t, latent, t.shape({batch, 1, length, l.key_value_rank}));
  Tensor turned =
      ops::reshape(t, latent_parts.second, t.shape({batch, 1, length, l.rotated_width}));
  Rotated rotated = c.blocks.rotate(t, query_parts.second, turned, in.cos, in.sin);
  query_parts.second = std::move(rotated.q);
  turned = std::move(rotated.k);
  Count seen = length;
  if (in.cache) {
    in.cache->update(t, layer.index, latent, turned);
    seen = latent.dim(2);
  }
  Tensor query_states =
      ops::concatenate(t.as("query states, both parts"), query_parts.first, query_parts.second);

  Tensor key_states, value_states;
  {
    Tensor expanded = ops::linear(t.as("keys and values"), a.kv_b_proj, latent);
    const Shape shape = t.shape({batch, seen, c.heads, l.plain_width + l.value_width});
    expanded = ops::transpose(t, ops::reshape(t, expanded, shape));
    ops::Halves parts = ops::split_last(t, expanded, l.plain_width);
    Tensor shared = ops::expand_heads(t, turned, c.heads);
    key_states = ops::fill_slices(t.as("key states"), parts.first, shared);
    value_states = std::move(parts.second);
  }
  AttentionOutput result =
      c.blocks.attend(t, layer, query_states, key_states, value_states, in.mask);
  result.output = ops::merge_heads(t, std::move(result.output));
  result.output = ops::linear(t.as("attention projected"), layer.self_attn.o_proj, result.output);
  return result;
}

}  // namespace ledger::models
