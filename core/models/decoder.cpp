// The forward pass of llama-like decoders, statement by statement as in transformers' modeling
// files: a named local here is a name there, a moved operand is a temporary there.
#include "core/models/decoder.hpp"

#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/embedding.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

struct AttentionOutput {
  Tensor output;
  Tensor weights;  // only where attention is written out
};

AttentionOutput eager_attention(Tape& t, const DecoderConfig& c, Tensor q, Tensor k, Tensor v,
                                Tensor mask) {
  Tensor key_states = ops::repeat_heads(t, k, c.heads);
  Tensor value_states = ops::repeat_heads(t, v, c.heads);
  Tensor product = ops::batched_product(t.as("attention scores"), q, key_states, true);
  Tensor weights = ops::mul_constant(t.as("attention scores, scaled"), std::move(product));
  if (mask) weights = ops::add(t.as("attention scores, masked"), weights, mask);
  Tensor wide = ops::softmax_float32(t, weights);
  weights = ops::to(t.as("attention weights"), std::move(wide), q.dtype());
  Tensor attended = ops::batched_product(t.as("attention output"), weights, value_states, false);
  Tensor turned = ops::transpose(t, std::move(attended));
  Tensor output = ops::contiguous(t, std::move(turned));
  return {std::move(output), std::move(weights)};
}

Tensor fused_attention(Tape& t, const DecoderConfig& c, Tensor q, Tensor k, Tensor v,
                       Tensor mask) {
  // Grouped heads reach the kernel as they are, unless a mask or wide heads forbid it.
  const bool repeats = mask || c.head_width.value() > 256;
  Tensor key_states = repeats ? ops::repeat_heads(t, k, c.heads) : k;
  Tensor value_states = repeats ? ops::repeat_heads(t, v, c.heads) : v;
  Tensor attended = ops::scaled_dot_product_attention(t, q, key_states, value_states, mask);
  Tensor turned = ops::transpose(t, std::move(attended));
  return ops::contiguous(t, std::move(turned));
}

Tensor project_heads(Tape& t, const ops::Linear& projection, const RmsNorm& norm, const char* what,
                     Tensor x, Count heads, Count width) {
  Tensor projected = ops::linear(t.as(what), projection, std::move(x));
  Tensor split = ops::split_heads(t, std::move(projected), heads, width);
  if (norm.weight) split = rms_norm(t, norm, std::move(split));
  return ops::transpose(t, std::move(split));
}

AttentionOutput attention(Tape& t, const DecoderLayer& layer, Tensor x, Tensor cos, Tensor sin,
                          Tensor mask) {
  const Attention& a = layer.self_attn;
  const DecoderConfig& c = layer.model->config;
  const Within here(t, a.place);
  Tensor q = project_heads(t, a.q_proj, a.q_norm, "query states", x, c.heads, c.head_width);
  Tensor k = project_heads(t, a.k_proj, a.k_norm, "key states", x, c.key_value_heads, c.head_width);
  Tensor v = project_heads(t, a.v_proj, {}, "value states", x, c.key_value_heads, c.head_width);
  if (c.rotated[static_cast<std::size_t>(layer.index)]) {
    Rotated rotated = apply_rotary(t, q, k, cos, sin);
    q = std::move(rotated.q);
    k = std::move(rotated.k);
  }
  AttentionOutput result;
  if (layer.model->options.eager) {
    result = eager_attention(t, c, q, k, v, mask);
  } else {
    result.output = fused_attention(t, c, q, k, v, mask);
  }
  result.output = ops::merge_heads(t, std::move(result.output));
  result.output = ops::linear(t.as("attention projected"), a.o_proj, result.output);
  return result;
}

Tensor feed_forward(Tape& t, const Mlp& mlp, Tensor x) {
  const Within here(t, mlp.place);
  Tensor gate = ops::linear(t.as("gate"), mlp.gate_proj, x);
  Tensor activated = ops::silu(t.as("gate, activated"), std::move(gate));
  Tensor up = ops::linear(t.as("up"), mlp.up_proj, x);
  Tensor product = ops::mul(t.as("activated gate times up"), std::move(activated), std::move(up));
  return ops::linear(t.as("down"), mlp.down_proj, std::move(product));
}

// Arguments of a layer: hidden states, cos, sin, mask, position ids.
Tensor run_layer(Tape& t, const void* context, const std::vector<Tensor>& arguments) {
  const DecoderLayer& layer = *static_cast<const DecoderLayer*>(context);
  const Within here(t, layer.place, layer.index);
  Tensor residual = arguments[0];
  Tensor hidden = rms_norm(t, layer.input_layernorm, residual);
  AttentionOutput attended =
      attention(t, layer, hidden, arguments[1], arguments[2], arguments[3]);
  hidden = std::move(attended.output);
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  residual = hidden;
  hidden = rms_norm(t, layer.post_attention_layernorm, hidden);
  hidden = feed_forward(t, layer.mlp, hidden);
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  return hidden;
}

Tensor embed(Tape& t, const Decoder& model, const Tensor& ids) {
  const Within here(t, t.place("embed_tokens"));
  return ops::embedding(t, ids, model.embed_tokens);
}

Tensor body(Tape& t, const Decoder& model, const Tensor& ids) {
  const DecoderConfig& c = model.config;
  const Count length = ids.dim(1);
  Tensor embedded = embed(t, model, ids);
  Tensor range = t.make(t.shape({1, length}), Dtype::kInt64, "position ids", Role::kInput);
  Tensor positions = t.make(t.shape({1, length}), Dtype::kInt64, "position ids", Role::kInput);
  range.reset();

  bool some_full = false, some_windowed = false;
  for (const bool windowed : c.windowed) (windowed ? some_windowed : some_full) = true;
  Tensor full_mask, windowed_mask;
  if (some_full || c.always_full_mask) full_mask = causal_mask(t, embedded, 0, model.options.eager);
  if (some_windowed) windowed_mask = causal_mask(t, embedded, c.window, model.options.eager);
  RotaryTables tables = rotary_tables(t, length, c.head_width, embedded.dtype());

  Tensor hidden = embedded;
  for (const DecoderLayer& layer : model.layers) {
    const bool windowed = c.windowed[static_cast<std::size_t>(layer.index)];
    std::vector<Tensor> arguments = {hidden, tables.cos, tables.sin,
                                     windowed ? windowed_mask : full_mask, positions};
    switch (model.options.checkpointing) {
      case RunOptions::Checkpointing::kOff:
        hidden = run_layer(t, &layer, arguments);
        break;
      case RunOptions::Checkpointing::kNonReentrant:
        hidden = t.checkpoint(run_layer, &layer, std::move(arguments));
        break;
      case RunOptions::Checkpointing::kReentrant:
        hidden = t.checkpoint_reentrant(run_layer, &layer, std::move(arguments));
        break;
    }
  }
  return rms_norm(t, model.norm, std::move(hidden));
}

}  // namespace

Output forward(Tape& t, const Decoder& model, Tensor input_ids) {
  const Within here(t, t.place("model"), -1);
  Tensor hidden = body(t, model, input_ids);
  Tensor logits = ops::linear(t.as("logits"), model.lm_head, hidden);
  const Within in_loss(t, t.place("loss"), -1);
  Tensor loss = ops::causal_lm_loss(t, logits);
  return {std::move(loss), std::move(logits)};
}

Tensor rms_norm(Tape& t, const RmsNorm& norm, Tensor x) {
  const Within here(t, norm.place);
  const Dtype dtype = x.dtype();
  Tensor hidden = ops::to(t.as("norm's input in 32 bit"), x, Dtype::kFloat32);
  Tensor squares = ops::square(t, hidden);
  Tensor variance = ops::mean_last(t.as("variance"), std::move(squares));
  Tensor shifted = ops::add_constant(t, variance);
  Tensor scale = ops::rsqrt(t.as("reciprocal root of the variance"), std::move(shifted));
  hidden = ops::mul(t.as("normalised in 32 bit"), hidden, std::move(scale));
  Tensor narrow = ops::to(t.as("normalised"), hidden, dtype);
  return ops::mul(t.as("norm's output"), norm.weight, std::move(narrow));
}

}  // namespace ledger::models
