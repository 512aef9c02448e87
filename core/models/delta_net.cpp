// Linear attention's layer around the delta rule, and the gated attention of the other layers.
// Source: transformers models/qwen3_5/modeling_qwen3_5.py,
// models/qwen3_next/modeling_qwen3_next.py.
#include "core/models/delta_net.hpp"

#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/linear_attention.hpp"

namespace ledger::models {
namespace {

bool is_linear(const DecoderLayer& layer) {
  return layer.model->config.delta.linear[static_cast<std::size_t>(layer.index)];
}

struct Projected {
  Tensor query, key, value;  // [B,T,heads,d]
  Tensor z;                  // [B,T,H,d_v]
  Tensor b, a;               // [B,T,H]
  Tensor mixed;              // what the convolution put out, held to the end
  Tensor all, gates;         // what joint projections put out, held likewise
};

Tensor convolve(Tape& t, const DecoderLayer& layer, Tensor mixed) {
  const DeltaNet& net = layer.linear_attn;
  const Within here(t, t.place("layers.*.linear_attn.conv1d"));
  const Dtype dtype = mixed.dtype();
  Tensor weight = ops::reshape(t, net.conv1d, net.conv1d.shape());
  Tensor input = ops::to(t, mixed, net.conv1d.dtype());
  Tensor out = ops::causal_convolution(t.as("convolution"), std::move(input), weight,
                                       layer.model->config.delta.kernel);
  out = layer.model->config.blocks.activation(t.as("convolution, activated"), out);
  return ops::to(t, out, dtype);
}

// One projection for all of a key head's group: its query, key, values and gates of its value
// heads.
Tensor project_jointly(Tape& t, const DecoderLayer& layer, const Tensor& hidden, Projected& p) {
  const DeltaConfig& d = layer.model->config.delta;
  const DeltaNet& net = layer.linear_attn;
  const Count batch = hidden.dim(0), length = hidden.dim(1);
  p.all = ops::linear(t.as("queries, keys, values and z"), net.in_proj_qkv, hidden);
  p.gates = ops::linear(t.as("b and a"), net.in_proj_b, hidden);
  const bool alone = d.key_heads == d.value_heads;
  const Count of_group =
      alone ? d.value_width : d.value_heads * d.value_width / d.key_heads.value();
  const Count gates_of_group = alone ? Count(1) : d.value_heads / d.key_heads.value();
  const Count width = Count(2) * d.key_width + Count(2) * of_group;
  Tensor all = ops::split_heads(t, p.all, d.key_heads, width);
  Tensor gates = ops::split_heads(t, p.gates, d.key_heads, Count(2) * gates_of_group);
  auto parts = ops::split_four(t, all, d.key_width, of_group);
  auto gate_parts = ops::split_parts(t, gates, {gates_of_group, gates_of_group});
  const Shape heads = t.shape({batch, length, d.value_heads, d.value_width});
  const Shape numbers = t.shape({batch, length, d.value_heads});
  const auto reshape = alone ? ops::regrouped : ops::reshape;
  Tensor value = reshape(t.as("values in heads"), parts[2], heads);
  p.z = reshape(t.as("z in heads"), parts[3], heads);
  p.b = reshape(t.as("b in heads"), gate_parts[0], numbers);
  p.a = reshape(t.as("a in heads"), gate_parts[1], numbers);
  p.query = ops::merge_heads(t.as("queries side by side"), std::move(parts[0]));
  p.key = ops::merge_heads(t.as("keys side by side"), std::move(parts[1]));
  p.value = ops::merge_heads(t.as("values side by side"), value);
  return ops::concatenate_three(t, p.query, p.key, p.value);
}

Tensor project_apart(Tape& t, const DecoderLayer& layer, const Tensor& hidden, Projected& p) {
  const DeltaConfig& d = layer.model->config.delta;
  const DeltaNet& net = layer.linear_attn;
  Tensor mixed = ops::linear(t.as("queries, keys and values"), net.in_proj_qkv, hidden);
  Tensor z = ops::linear(t.as("z"), net.in_proj_z, hidden);
  p.z = ops::split_heads(t, z, d.value_heads, d.value_width);
  p.b = ops::linear(t.as("b"), net.in_proj_b, hidden);
  p.a = ops::linear(t.as("a"), net.in_proj_a, hidden);
  return mixed;
}

Projected project(Tape& t, const DecoderLayer& layer, const Tensor& hidden) {
  const DeltaConfig& d = layer.model->config.delta;
  const Count keys = d.key_heads * d.key_width, values = d.value_heads * d.value_width;
  Projected p;
  Tensor mixed =
      d.joint ? project_jointly(t, layer, hidden, p) : project_apart(t, layer, hidden, p);
  p.mixed = convolve(t, layer, mixed);
  mixed.reset();
  auto parts = ops::split_parts(t, p.mixed, {keys, keys, values});
  p.query = ops::split_heads(t, parts[0], d.key_heads, d.key_width);
  p.key = ops::split_heads(t, parts[1], d.key_heads, d.key_width);
  p.value = ops::split_heads(t, parts[2], d.value_heads, d.value_width);
  return p;
}

// -exp(A_log) * softplus(a + dt_bias), in 32 bit.
Tensor log_decay(Tape& t, const DeltaNet& net, const Tensor& a) {
  Tensor rate = ops::to(t, net.A_log, Dtype::kFloat32);
  rate = ops::exponential(t.as("rate of the decay"), std::move(rate));
  rate = ops::negate(t, std::move(rate));
  Tensor wide = ops::to(t, a, Dtype::kFloat32);
  Tensor shifted = ops::add(t.as("time step"), std::move(wide), net.dt_bias);
  Tensor step = ops::softplus(t.as("time step, softplus"), std::move(shifted));
  return ops::mul(t.as("logarithm of the decay"), std::move(rate), std::move(step));
}

// The norm first, then the gate.
Tensor gated_norm(Tape& t, const DecoderLayer&, const Norm& norm, Tensor x, const Tensor& gate) {
  const Within here(t, norm.place);
  const Dtype dtype = x.dtype();
  Tensor hidden = ops::to(t.as("norm's input in 32 bit"), x, Dtype::kFloat32);
  Tensor squares = ops::square(t, hidden);
  Tensor variance = ops::mean_last(t.as("variance"), std::move(squares));
  Tensor shifted = ops::add_constant(t, variance);
  Tensor scale = ops::rsqrt(t.as("reciprocal root of the variance"), std::move(shifted));
  hidden = ops::mul(t.as("normalised in 32 bit"), hidden, std::move(scale));
  Tensor narrow = ops::to(t.as("normalised"), hidden, dtype);
  hidden = ops::mul(t.as("norm's output"), norm.weight, std::move(narrow));
  Tensor wide_gate = ops::to(t.as("gate in 32 bit"), gate, Dtype::kFloat32);
  Tensor opened = ops::silu(t.as("gate, activated"), std::move(wide_gate));
  hidden = ops::mul(t.as("norm's output, gated"), hidden, std::move(opened));
  return ops::to(t.as("norm's output"), hidden, dtype);
}

QueryKeyValue project_gated(Tape& t, const DecoderLayer& layer, Tensor x, Tensor& gate) {
  const Attention& a = layer.self_attn;
  const DecoderConfig& c = layer.model->config;
  Tensor both = ops::linear(t.as("query states and gate"), a.q_proj, x);
  both = ops::split_heads(t, both, c.heads, c.head_width * Count(2));
  ops::Halves halves = ops::chunk(t, both);
  both.reset();
  gate = ops::merge_heads(t, std::move(halves.second));
  Tensor q = c.blocks.norm(t, a.q_norm, std::move(halves.first));
  q = ops::transpose(t, q);
  Tensor key = ops::linear(t.as("key states"), a.k_proj, x);
  Tensor k = ops::split_heads(t, std::move(key), c.key_value_heads, c.head_width);
  k = c.blocks.norm(t, a.k_norm, std::move(k));
  k = ops::transpose(t, k);
  Tensor value = ops::linear(t.as("value states"), a.v_proj, x);
  Tensor v = ops::split_heads(t, std::move(value), c.key_value_heads, c.head_width);
  v = ops::transpose(t, v);
  return {std::move(q), std::move(k), std::move(v)};
}

}  // namespace

AttentionOutput gated_attention(Tape& t, const DecoderLayer& layer, const LayerInputs& in,
                                Tensor hidden) {
  const DecoderConfig& c = layer.model->config;
  if (is_linear(layer)) return {delta_net(t, layer, in, std::move(hidden)), {}};
  const Within here(t, layer.self_attn.place);
  Tensor gate;
  QueryKeyValue states = project_gated(t, layer, hidden, gate);
  Rotated rotated = c.blocks.rotate(t, states.q, states.k, in.cos, in.sin);
  states.q = std::move(rotated.q);
  states.k = std::move(rotated.k);
  AttentionOutput result = c.blocks.attend(t, layer, states.q, states.k, states.v, in.mask);
  result.output = ops::merge_heads(t, std::move(result.output));
  Tensor opened = ops::sigmoid(t.as("gate, sigmoid"), gate);
  result.output = ops::mul(t.as("attention, gated"), result.output, std::move(opened));
  result.output = ops::linear(t.as("attention projected"), layer.self_attn.o_proj, result.output);
  return result;
}

Tensor delta_net(Tape& t, const DecoderLayer& layer, const LayerInputs& in, Tensor hidden) {
  const DeltaConfig& d = layer.model->config.delta;
  const DeltaNet& net = layer.linear_attn;
  const Within here(t, net.place);
  if (in.mask) {
    hidden = ops::mask_tokens(t, hidden, in.mask);
  }
  const Count batch = hidden.dim(0), length = hidden.dim(1);
  Projected p = project(t, layer, hidden);
  Tensor beta = ops::sigmoid(t.as("beta"), p.b);
  Tensor decay = log_decay(t, net, p.a);
  if (d.value_heads.value() > d.key_heads.value()) {
    p.query = ops::spread_heads(t.as("queries, heads repeated"), p.query, d.value_heads);
    p.key = ops::spread_heads(t.as("keys, heads repeated"), p.key, d.value_heads);
  }
  Tensor output = chunked_delta_rule(t, p.query, p.key, p.value, decay, beta);
  const Shape rows = t.shape({batch * length * d.value_heads, d.value_width});
  output = ops::reshape(t, output, rows);
  p.z = ops::reshape(t, p.z, rows);
  output = gated_norm(t, layer, net.norm, output, p.z);
  output = ops::reshape(t, output, t.shape({batch, length, d.value_heads * d.value_width}));
  return ops::linear(t.as("linear attention projected"), net.out_proj, output);
}

}  // namespace ledger::models
