// olmo2: norms after the blocks only, norms over all heads' queries and keys, rotation in 32 bit.
// Source: transformers models/olmo2/modeling_olmo2.py.
#include "core/models/builder.hpp"
#include "core/models/decoder.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"

namespace ledger::models {
namespace {

void make_olmo2_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const Count query_width = c.heads * c.head_width;
  const Count key_width = c.key_value_heads * c.head_width;
  const bool bias = c.query_key_value_bias;
  Attention& a = layer.self_attn;
  b.linear(a.q_proj, "layers.*.self_attn.q_proj", c.hidden, query_width, bias);
  b.linear(a.k_proj, "layers.*.self_attn.k_proj", c.hidden, key_width, bias);
  b.linear(a.v_proj, "layers.*.self_attn.v_proj", c.hidden, key_width, bias);
  b.linear(a.o_proj, "layers.*.self_attn.o_proj", query_width, c.hidden, c.output_bias);
  b.norm(a.q_norm, "layers.*.self_attn.q_norm", query_width);
  b.norm(a.k_norm, "layers.*.self_attn.k_norm", key_width);
  Mlp& mlp = layer.mlp;
  b.linear(mlp.gate_proj, "layers.*.mlp.gate_proj", c.hidden, c.feed_forward, false);
  b.linear(mlp.up_proj, "layers.*.mlp.up_proj", c.hidden, c.feed_forward, false);
  b.linear(mlp.down_proj, "layers.*.mlp.down_proj", c.feed_forward, c.hidden, false);
  b.norm(layer.post_attention_layernorm, "layers.*.post_attention_layernorm", c.hidden);
  b.norm(layer.post_feedforward_layernorm, "layers.*.post_feedforward_layernorm", c.hidden);
}

// The weight is applied in 32 bit, the cast comes last.
Tensor norm_then_cast(Tape& t, const Norm& norm, Tensor x) {
  const Within here(t, norm.place);
  const Dtype dtype = x.dtype();
  Tensor hidden = ops::to(t.as("norm's input in 32 bit"), x, Dtype::kFloat32);
  Tensor squares = ops::square(t, hidden);
  Tensor variance = ops::mean_last(t.as("variance"), std::move(squares));
  Tensor shifted = ops::add_constant(t, variance);
  Tensor scale = ops::rsqrt(t.as("reciprocal root of the variance"), std::move(shifted));
  hidden = ops::mul(t.as("normalised in 32 bit"), hidden, std::move(scale));
  Tensor weighted = ops::mul(t.as("norm's output in 32 bit"), norm.weight, hidden);
  return ops::to(t.as("norm's output"), std::move(weighted), dtype);
}

QueryKeyValue project_and_norm(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Attention& a = layer.self_attn;
  const DecoderConfig& c = layer.model->config;
  Tensor projected = ops::linear(t.as("query states"), a.q_proj, x);
  Tensor q = norm_then_cast(t, a.q_norm, std::move(projected));
  projected = ops::linear(t.as("key states"), a.k_proj, x);
  Tensor k = norm_then_cast(t, a.k_norm, std::move(projected));
  Tensor v = ops::linear(t.as("value states"), a.v_proj, x);
  q = into_heads(t, q, c.heads, c.head_width);
  k = into_heads(t, k, c.key_value_heads, c.head_width);
  v = into_heads(t, v, c.key_value_heads, c.head_width);
  return {std::move(q), std::move(k), std::move(v)};
}

Rotated rotate_in_32_bit(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin) {
  Rotated wide = apply_rotary(t, q, k, cos, sin);
  Tensor narrow_q = ops::to(t.as("query states, rotated"), wide.q, q.dtype());
  Tensor narrow_k = ops::to(t.as("key states, rotated"), wide.k, k.dtype());
  return {std::move(narrow_q), std::move(narrow_k)};
}

Prepared prepare_olmo2(Tape& t, const Decoder& model, const Inputs& in) {
  const DecoderConfig& c = model.config;
  Prepared at;
  at.embedded = c.blocks.embed(t, model, in.ids);
  at.positions = position_ids(t, in);
  at.masks = make_masks(t, model, at.embedded, in);
  at.hidden = at.embedded;
  at.tables = rotary_tables(t, in.ids.dim(1), c.rotary_width, Dtype::kFloat32);
  return at;
}

Tensor olmo2_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const Blocks& blocks = layer.model->config.blocks;
  Tensor residual = in.hidden;
  Tensor hidden = residual;
  AttentionOutput attended = attention(t, layer, in, hidden);
  hidden = std::move(attended.output);
  hidden = blocks.norm(t, layer.post_attention_layernorm, hidden);
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  residual = hidden;
  hidden = blocks.feed_forward(t, layer, hidden);
  hidden = blocks.norm(t, layer.post_feedforward_layernorm, hidden);
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  return hidden;
}

}  // namespace

DecoderConfig configure_olmo2(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  c.blocks.make_layer = make_olmo2_layer;
  c.blocks.norm = norm_then_cast;
  c.blocks.project = project_and_norm;
  c.blocks.rotate = rotate_in_32_bit;
  c.blocks.prepare = prepare_olmo2;
  c.blocks.layer = olmo2_layer;
  return c;
}

}  // namespace ledger::models
