// stablelm: layer norms, a part of each head rotates; attention and feed-forward side by side where
// configured so. Source: transformers models/stablelm/modeling_stablelm.py.
#include "core/models/builder.hpp"
#include "core/models/decoder.hpp"
#include "core/ops/elementwise.hpp"

namespace ledger::models {
namespace {

void make_stablelm_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const Count key_width = c.key_value_heads * c.head_width;
  const bool bias = c.query_key_value_bias;
  Attention& a = layer.self_attn;
  b.linear(a.q_proj, "layers.*.self_attn.q_proj", c.hidden, c.hidden, bias);
  b.linear(a.k_proj, "layers.*.self_attn.k_proj", c.hidden, key_width, bias);
  b.linear(a.v_proj, "layers.*.self_attn.v_proj", c.hidden, key_width, bias);
  b.linear(a.o_proj, "layers.*.self_attn.o_proj", c.hidden, c.hidden, false);
  Mlp& mlp = layer.mlp;
  b.linear(mlp.gate_proj, "layers.*.mlp.gate_proj", c.hidden, c.feed_forward, false);
  b.linear(mlp.up_proj, "layers.*.mlp.up_proj", c.hidden, c.feed_forward, false);
  b.linear(mlp.down_proj, "layers.*.mlp.down_proj", c.feed_forward, c.hidden, false);
  b.norm(layer.input_layernorm, "layers.*.input_layernorm", c.hidden, true);
  if (c.parallel_residual) return;
  b.norm(layer.post_attention_layernorm, "layers.*.post_attention_layernorm", c.hidden, true);
}

// All three products come before the views.
QueryKeyValue project_first(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Attention& a = layer.self_attn;
  const DecoderConfig& c = layer.model->config;
  Tensor q = ops::linear(t.as("query states"), a.q_proj, x);
  Tensor k = ops::linear(t.as("key states"), a.k_proj, x);
  Tensor v = ops::linear(t.as("value states"), a.v_proj, x);
  q = into_heads(t, q, c.heads, c.head_width);
  k = into_heads(t, k, c.key_value_heads, c.head_width);
  v = into_heads(t, v, c.key_value_heads, c.head_width);
  return {std::move(q), std::move(k), std::move(v)};
}

Tensor stablelm_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const DecoderConfig& c = layer.model->config;
  const Blocks& blocks = c.blocks;
  Tensor residual = in.hidden;
  Tensor hidden = blocks.norm(t, layer.input_layernorm, residual);
  AttentionOutput attended = attention(t, layer, in, hidden);
  if (c.parallel_residual) {
    Tensor update = blocks.feed_forward(t, layer, hidden);
    if (c.residual_dropout) update = ops::dropout(t, update);
    Tensor sum = ops::add(t.as("residual stream after attention"), residual, attended.output);
    return ops::add(t.as("residual stream"), std::move(sum), update);
  }
  residual = ops::add(t.as("residual stream"), residual, attended.output);
  Tensor normed = blocks.norm(t, layer.post_attention_layernorm, residual);
  Tensor update = blocks.feed_forward(t, layer, std::move(normed));
  if (c.residual_dropout) update = ops::dropout(t, update);
  hidden = ops::add(t.as("residual stream"), residual, update);
  return hidden;
}

// Norm first, then the tables: the order of construction.
void make_norm_before_tables(Builder& b, Decoder& model) {
  b.norm(model.norm, "norm", b.config().hidden, true);
  make_rotary_buffers(b.tape(), model);
  initialise_rotary_buffers(b.tape(), model);
}

}  // namespace

DecoderConfig configure_stablelm(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.rotary_width = partial_width(config, c, workings);
  c.query_key_value_bias = config.flag("use_qkv_bias");
  c.parallel_residual = config.flag("use_parallel_residual");
  c.residual_dropout = config.number_or("hidden_dropout", 0) > 0;
  c.blocks.make_layer = make_stablelm_layer;
  c.blocks.make_top = make_norm_before_tables;
  c.blocks.norm = layer_norm;
  c.blocks.project = project_first;
  c.blocks.rotate = apply_partial_rotary_inline;
  c.blocks.layer = stablelm_layer;
  return c;
}

}  // namespace ledger::models
