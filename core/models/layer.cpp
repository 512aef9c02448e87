// The blocks of a llama-like layer, statement by statement as in transformers' modeling files: a
// named local here is a name there, a moved operand is a temporary there.
#include "core/models/cache.hpp"
#include "core/models/decoder.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/norm.hpp"

namespace ledger::models {
namespace {

Tensor fused_attention(Tape& t, const DecoderConfig& c, Tensor q, Tensor k, Tensor v, Tensor mask) {
  // Grouped heads reach the kernel as they are, unless a mask or wide heads forbid it.
  const bool repeats = mask || c.head_width.value() > 256;
  Tensor key_states = repeats ? ops::repeat_heads(t, k, c.heads) : k;
  Tensor value_states = repeats ? ops::repeat_heads(t, v, c.heads) : v;
  Tensor attended =
      ops::scaled_dot_product_attention(t, q, key_states, value_states, mask, c.attention_dropout);
  Tensor turned = ops::transpose(t, std::move(attended));
  return ops::contiguous(t, std::move(turned));
}

Tensor heads_of(Tape& t, const DecoderConfig& c, const ops::Linear& projection, const Norm& norm,
                const char* what, Tensor x, Count heads) {
  Tensor projected = ops::linear(t.as(what), projection, std::move(x));
  Tensor split = ops::split_heads(t, std::move(projected), heads, c.head_width);
  if (norm.weight) split = c.blocks.norm(t, norm, std::move(split));
  return ops::transpose(t, std::move(split));
}

}  // namespace

AttentionOutput eager_attention(Tape& t, const DecoderConfig& c, Tensor q, Tensor k, Tensor v,
                                Tensor mask) {
  Tensor key_states = ops::repeat_heads(t, k, c.heads);
  Tensor value_states = ops::repeat_heads(t, v, c.heads);
  Tensor product = ops::batched_product(t.as("attention scores"), q, key_states, true);
  Tensor weights = ops::mul_constant(t.as("attention scores, scaled"), std::move(product));
  if (c.score_cap) weights = ops::soft_cap(t, std::move(weights));
  if (mask) weights = ops::add(t.as("attention scores, masked"), weights, mask);
  Tensor wide = ops::softmax_float32(t, weights);
  weights = ops::to(t.as("attention weights"), std::move(wide), q.dtype());
  if (c.attention_dropout) weights = ops::dropout(t.as("attention weights, dropped out"), weights);
  Tensor attended = ops::batched_product(t.as("attention output"), weights, value_states, false);
  Tensor turned = ops::transpose(t, std::move(attended));
  Tensor output = ops::contiguous(t, std::move(turned));
  return {std::move(output), std::move(weights)};
}

Tensor rms_norm(Tape& t, const Norm& norm, Tensor x) {
  const Within here(t, norm.place);
  const Dtype dtype = x.dtype();
  if (norm.distributed) x = ops::distributed(t, std::move(x));
  Tensor hidden = ops::to(t.as("norm's input in 32 bit"), x, Dtype::kFloat32);
  if (norm.distributed) hidden->distributed = true;
  Tensor squares = ops::square(t, hidden);
  Tensor variance = ops::mean_last(t.as("variance"), std::move(squares));
  Tensor shifted = ops::add_constant(t, variance);
  Tensor scale = ops::rsqrt(t.as("reciprocal root of the variance"), std::move(shifted));
  hidden = ops::mul(t.as("normalised in 32 bit"), hidden, std::move(scale));
  Tensor narrow = ops::to(t.as("normalised"), hidden, dtype);
  return ops::mul(t.as("norm's output"), norm.weight, std::move(narrow));
}

Tensor layer_norm(Tape& t, const Norm& norm, Tensor x) {
  const Within here(t, norm.place);
  return ops::layer_norm(t, x, norm.weight, norm.bias);
}

Tensor into_heads(Tape& t, Tensor x, Count heads, Count width) {
  Tensor split = ops::split_heads(t, std::move(x), heads, width);
  return ops::transpose(t, std::move(split));
}

QueryKeyValue project_heads(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Attention& a = layer.self_attn;
  const DecoderConfig& c = layer.model->config;
  Tensor q = heads_of(t, c, a.q_proj, a.q_norm, "query states", x, c.heads);
  Tensor k = heads_of(t, c, a.k_proj, a.k_norm, "key states", x, c.key_value_heads);
  Tensor v = heads_of(t, c, a.v_proj, {}, "value states", x, c.key_value_heads);
  return {std::move(q), std::move(k), std::move(v)};
}

QueryKeyValue project_then_norm(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Attention& a = layer.self_attn;
  const DecoderConfig& c = layer.model->config;
  Tensor q = heads_of(t, c, a.q_proj, {}, "query states", x, c.heads);
  Tensor k = heads_of(t, c, a.k_proj, {}, "key states", x, c.key_value_heads);
  Tensor v = heads_of(t, c, a.v_proj, {}, "value states", x, c.key_value_heads);
  if (a.q_norm.weight) q = c.blocks.norm(t, a.q_norm, q);
  if (a.k_norm.weight) k = c.blocks.norm(t, a.k_norm, k);
  return {std::move(q), std::move(k), std::move(v)};
}

AttentionOutput attend(Tape& t, const DecoderLayer& layer, Tensor q, Tensor k, Tensor v,
                       Tensor mask) {
  const DecoderConfig& c = layer.model->config;
  if (layer.model->options.eager) return c.blocks.eager(t, c, q, k, v, mask);
  return {fused_attention(t, c, q, k, v, mask), {}};
}

AttentionOutput attention(Tape& t, const DecoderLayer& layer, const LayerInputs& in,
                          Tensor hidden) {
  const DecoderConfig& c = layer.model->config;
  const Within here(t, layer.self_attn.place);
  const Count ranks = layer.self_attn.gathers;
  if (ranks.value() > 0) hidden = ops::exchanged(t, ops::Exchange::kGatherTokens, hidden, ranks);
  QueryKeyValue states = c.blocks.project(t, layer, hidden);
  Rotated rotated;
  if (c.rotated[static_cast<std::size_t>(layer.index)]) {
    rotated = c.blocks.rotate(t, states.q, states.k, in.cos, in.sin);
    states.q = std::move(rotated.q);
    states.k = std::move(rotated.k);
  }
  if (in.cache) in.cache->update(t, layer.index, states.k, states.v);
  AttentionOutput result = c.blocks.attend(t, layer, states.q, states.k, states.v, in.mask);
  result.output = ops::merge_heads(t, std::move(result.output));
  result.output = ops::linear(t.as("attention projected"), layer.self_attn.o_proj, result.output);
  if (c.output_dropout) result.output = ops::dropout(t, result.output);
  return result;
}

Tensor gated_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x) {
  return gated_mlp(t, layer, layer.mlp, std::move(x));
}

Tensor gated_mlp(Tape& t, const DecoderLayer& layer, const Mlp& mlp, Tensor x) {
  const Within here(t, mlp.place);
  const Count ranks = mlp.gathers;
  if (ranks.value() > 0) x = ops::exchanged(t, ops::Exchange::kGatherTokens, x, ranks);
  Tensor gate = ops::linear(t.as("gate"), mlp.gate_proj, x);
  Tensor activated =
      layer.model->config.blocks.activation(t.as("gate, activated"), std::move(gate));
  Tensor up = ops::linear(t.as("up"), mlp.up_proj, x);
  Tensor product = ops::mul(t.as("activated gate times up"), std::move(activated), std::move(up));
  return ops::linear(t.as("down"), mlp.down_proj, std::move(product));
}

// Two matrices without a gate.
Tensor feed_forward(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Mlp& mlp = layer.mlp;
  const Within here(t, mlp.place);
  Tensor hidden = ops::linear(t.as("up"), mlp.up_proj, x);
  hidden = layer.model->config.blocks.activation(t.as("activated"), hidden);
  return ops::linear(t.as("down"), mlp.down_proj, hidden);
}

Tensor llama_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const Blocks& blocks = layer.model->config.blocks;
  Tensor residual = in.hidden;
  Tensor hidden = blocks.norm(t, layer.input_layernorm, residual);
  AttentionOutput attended = blocks.attention(t, layer, in, hidden);
  hidden = std::move(attended.output);
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  residual = hidden;
  hidden = blocks.norm(t, layer.post_attention_layernorm, hidden);
  hidden = blocks.feed_forward(t, layer, hidden);
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  return hidden;
}

}  // namespace ledger::models
