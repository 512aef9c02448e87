// gpt_oss: attention written out, with a learned sink in each head's softmax; windows on every
// other layer; experts with biases and a clamped gate. Source: transformers
// models/gpt_oss/modeling_gpt_oss.py, configuration_gpt_oss.py.
#include "core/models/mixture.hpp"
#include "core/models/windows.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/routing.hpp"

namespace ledger::models {
namespace {

void make_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const MixtureConfig& m = c.mixture;
  Tape& t = b.tape();
  const std::size_t before = b.parameter_count();
  make_attention(b, layer);
  layer.self_attn.sinks = b.parameter("layers.*.self_attn.sinks", t.shape({c.heads}));
  b.move_last_to(before);
  Mixture& x = layer.mixture;
  b.router(x.router, "layers.*.mlp.router", t.shape({m.experts, c.hidden}), true);
  const Count twice = Count(2) * m.feed_forward;
  b.stacked(x.gate_up_proj, "layers.*.mlp.experts.gate_up_proj",
            t.shape({m.experts, c.hidden, twice}));
  x.gate_up_bias =
      b.parameter("layers.*.mlp.experts.gate_up_proj_bias", t.shape({m.experts, twice}));
  b.stacked(x.down_proj, "layers.*.mlp.experts.down_proj",
            t.shape({m.experts, m.feed_forward, c.hidden}));
  x.down_bias = b.parameter("layers.*.mlp.experts.down_proj_bias", t.shape({m.experts, c.hidden}));
  make_layer_norms(b, layer);
}

// The weight is applied before the cast back.
Tensor norm(Tape& t, const Norm& norm, Tensor x) {
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

// One angle for each pair, not repeated.
RotaryTables tables(Tape& t, Count length, Count width, Dtype dtype) {
  const Within here(t, t.place("rotary_emb"), -1);
  const NoGrad no_grad(t);
  const Shape shape = t.shape({1, length, width / 2});
  Tensor positions = t.scratch(t.shape({1, 1, length}), Dtype::kFloat32, "positions in 32 bit");
  Tensor angles = t.output(shape, Dtype::kFloat32, "angles");
  Tensor cos = t.output(shape, Dtype::kFloat32, "cos");
  cos = t.output(shape, Dtype::kFloat32, "cos, scaled");
  Tensor sin = t.output(shape, Dtype::kFloat32, "sin");
  sin = t.output(shape, Dtype::kFloat32, "sin, scaled");
  Tensor cos_table = ops::to(t.as("cos table"), cos, dtype);
  Tensor sin_table = ops::to(t.as("sin table"), sin, dtype);
  return {std::move(cos_table), std::move(sin_table)};
}

Tensor rotate_one(Tape& t, const Tensor& x, const Tensor& cos, const Tensor& sin,
                  const char* what) {
  ops::Halves halves = ops::chunk(t, x);
  return rotate_pairs(t, halves.first, halves.second, cos, sin, what);
}

Rotated rotate(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin) {
  Tensor rotated_q = rotate_one(t, q, cos, sin, "query states, rotated");
  Tensor rotated_k = rotate_one(t, k, cos, sin, "key states, rotated");
  return {std::move(rotated_q), std::move(rotated_k)};
}

AttentionOutput attend_with_sinks(Tape& t, const DecoderLayer& layer, Tensor q, Tensor k, Tensor v,
                                  Tensor mask) {
  const DecoderConfig& c = layer.model->config;
  Tensor key_states = ops::repeat_heads(t, k, c.heads);
  Tensor value_states = ops::repeat_heads(t, v, c.heads);
  Tensor product = ops::batched_product(t.as("attention scores"), q, key_states, true);
  Tensor weights = ops::mul_constant(t.as("attention scores, scaled"), std::move(product));
  if (mask) weights = ops::add(t.as("attention scores, masked"), weights, mask);
  Tensor sinks = ops::expand_over_rows(t, layer.self_attn.sinks, q.dim(0), q.dim(2));
  Tensor combined = ops::concatenate(t.as("scores with the sink"), weights, sinks);
  Tensor largest = ops::max_rows(t, combined);
  combined = ops::subtract(t.as("scores less their maximum"), combined, std::move(largest));
  Tensor probabilities = ops::softmax(t, combined, "attention weights with the sink");
  Tensor scores = ops::narrow_last(t, probabilities, weights.shape().last());
  weights = ops::to(t.as("attention weights"), scores, value_states.dtype());
  Tensor attended = ops::batched_product(t.as("attention output"), weights, value_states, false);
  Tensor turned = ops::transpose(t, std::move(attended));
  Tensor output = ops::contiguous(t, std::move(turned));
  return {std::move(output), std::move(weights)};
}

Tensor clamped_gate(Tape& t, const DecoderLayer&, const Tensor& gate_up) {
  Tensor gate = ops::every_second(t, gate_up);
  Tensor up = ops::every_second(t, gate_up);
  gate = ops::clamp_above(t.as("experts' gate, clamped"), gate);
  up = ops::clamp(t.as("experts' up, clamped"), up);
  Tensor scaled = ops::mul_constant(t.as("experts' gate, scaled"), gate);
  Tensor opened = ops::sigmoid(t.as("experts' gate, sigmoid"), std::move(scaled));
  Tensor glu = ops::mul(t.as("experts' gate times sigmoid"), gate, std::move(opened));
  Tensor raised = ops::add_constant(t.as("experts' up plus one"), up);
  return ops::mul(t.as("experts' gated output"), std::move(raised), glu);
}

Routing route(Tape& t, const DecoderLayer& layer, const Tensor& rows) {
  const ops::Linear& router = layer.mixture.router;
  const Within here(t, router.place);
  Tensor logits = ops::matrix_product(t.as("router logits"), rows, router.weight, router.bias);
  ops::TopK chosen = ops::top_k(t, logits, layer.model->config.mixture.chosen);
  Tensor weights = ops::softmax(t, chosen.values, "weights of the chosen experts");
  return {std::move(logits), std::move(weights), std::move(chosen.indices)};
}

// As llama's, but the router's weights take the place of the attention weights until the end.
Tensor run_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const Blocks& blocks = layer.model->config.blocks;
  Tensor residual = in.hidden;
  Tensor hidden = blocks.norm(t, layer.input_layernorm, residual);
  AttentionOutput attended = blocks.attention(t, layer, in, hidden);
  hidden = std::move(attended.output);
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  residual = hidden;
  hidden = blocks.norm(t, layer.post_attention_layernorm, hidden);
  {
    const Within here(t, layer.mixture.place);
    Tensor rows = ops::reshape(t, hidden, t.shape({hidden.dim(0) * hidden.dim(1), hidden.dim(2)}));
    Routing routing = route(t, layer, rows);
    Tensor sum = experts_forward(t, layer, rows, routing);
    hidden = ops::reshape(t, std::move(sum), hidden.shape());
    attended.weights = std::move(routing.weights);
  }
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  return hidden;
}

}  // namespace

DecoderConfig configure_gpt_oss(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  c.window = workings.letter(Letter::w, config.number("sliding_window"));
  c.always_full_mask = c.always_windowed_mask = true;
  c.masks_test_packing = false;
  if (!window_from_types(c, config)) {
    for (std::size_t i = 0; i < c.windowed.size(); i += 2) c.windowed[i] = true;
  }
  if (c.rope_type.empty()) c.rope_type = "yarn";
  MixtureConfig& m = c.mixture =
      mixture_config(c, config, workings, "num_local_experts", "intermediate_size");
  m.input_first = true;
  m.gate = clamped_gate;
  c.blocks.make_layer = make_layer;
  c.blocks.norm = norm;
  c.blocks.layer = run_layer;
  c.blocks.tables = tables;
  c.blocks.rotate = rotate;
  c.blocks.attend = attend_with_sinks;
  return c;
}

}  // namespace ledger::models
