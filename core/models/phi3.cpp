// phi3: one matrix for queries, keys and values, one for gate and up; a part of each head rotates.
// Source: transformers models/phi3/modeling_phi3.py.
#include "core/models/builder.hpp"
#include "core/models/decoder.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

void make_phi3_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const Count query_width = c.heads * c.head_width;
  const Count key_width = c.key_value_heads * c.head_width;
  Attention& a = layer.self_attn;
  b.linear(a.o_proj, "layers.*.self_attn.o_proj", query_width, c.hidden, false);
  b.linear(a.qkv_proj, "layers.*.self_attn.qkv_proj", c.hidden, query_width + key_width * 2, false);
  b.linear(layer.mlp.gate_up_proj, "layers.*.mlp.gate_up_proj", c.hidden, c.feed_forward * 2,
           false);
  b.linear(layer.mlp.down_proj, "layers.*.mlp.down_proj", c.feed_forward, c.hidden, false);
  b.norm(layer.input_layernorm, "layers.*.input_layernorm", c.hidden);
  b.norm(layer.post_attention_layernorm, "layers.*.post_attention_layernorm", c.hidden);
}

QueryKeyValue project_and_cut(Tape& t, const DecoderLayer& layer, Tensor x) {
  const DecoderConfig& c = layer.model->config;
  const Count width = c.head_width;
  Tensor all = ops::linear(t.as("query, key and value states"), layer.self_attn.qkv_proj, x);
  Tensor q = ops::narrow_last(t, all, c.heads * width);
  Tensor k = ops::narrow_last(t, all, c.key_value_heads * width);
  Tensor v = ops::narrow_last(t, all, c.key_value_heads * width);
  q = into_heads(t, q, c.heads, width);
  k = into_heads(t, k, c.key_value_heads, width);
  v = into_heads(t, v, c.key_value_heads, width);
  return {std::move(q), std::move(k), std::move(v)};
}

// As much of each head as the tables are wide is rotated, then the rest put beside it again.
Rotated rotate_part(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin) {
  const Count width = cos.shape().last(), rest = q.shape().last() - width;
  Tensor part_q = ops::narrow_last(t, q, width);
  Tensor rest_q = ops::narrow_last(t, q, rest);
  Tensor part_k = ops::narrow_last(t, k, width);
  Tensor rest_k = ops::narrow_last(t, k, rest);
  Tensor turned = rotate(t, part_q, cos, sin, "query states, rotated part");
  Tensor rotated_q = ops::concatenate(t.as("query states, rotated"), std::move(turned), rest_q);
  turned = rotate(t, part_k, cos, sin, "key states, rotated part");
  Tensor rotated_k = ops::concatenate(t.as("key states, rotated"), std::move(turned), rest_k);
  return {std::move(rotated_q), std::move(rotated_k)};
}

Tensor cut_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Mlp& mlp = layer.mlp;
  const Within here(t, mlp.place);
  const Count width = layer.model->config.feed_forward;
  Tensor up = ops::linear(t.as("gate and up"), mlp.gate_up_proj, x);
  auto [gate, cut, none] = ops::split_parts(t, up, {width, width});
  up = std::move(cut);
  Tensor activated = layer.model->config.blocks.activation(t.as("gate, activated"), gate);
  up = ops::mul(t.as("up times activated gate"), up, std::move(activated));
  return ops::linear(t.as("down"), mlp.down_proj, up);
}

Tensor phi3_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const DecoderConfig& c = layer.model->config;
  const Blocks& blocks = c.blocks;
  auto dropped = [&](const Tensor& x) { return c.residual_dropout ? ops::dropout(t, x) : x; };
  Tensor residual = in.hidden;
  Tensor hidden = blocks.norm(t, layer.input_layernorm, residual);
  AttentionOutput attended = attention(t, layer, in, hidden);
  hidden = std::move(attended.output);
  Tensor update = dropped(hidden);
  hidden = ops::add(t.as("residual stream"), residual, std::move(update));
  residual = hidden;
  hidden = blocks.norm(t, layer.post_attention_layernorm, hidden);
  hidden = blocks.feed_forward(t, layer, hidden);
  update = dropped(hidden);
  hidden = ops::add(t.as("residual stream"), residual, std::move(update));
  return hidden;
}

}  // namespace

DecoderConfig configure_phi3(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.rotary_width = partial_width(config, c, workings);
  c.residual_dropout = config.number_or("resid_pdrop", 0) > 0;
  c.blocks.make_layer = make_phi3_layer;
  c.blocks.project = project_and_cut;
  c.blocks.rotate = rotate_part;
  c.blocks.feed_forward = cut_feed_forward;
  c.blocks.layer = phi3_layer;
  const double window = config.number_or("sliding_window", 0);
  if (window > 0) {
    c.window = workings.letter(Letter::w, window);
    c.windowed.assign(c.windowed.size(), true);
  }
  return c;
}

}  // namespace ledger::models
