// llama4_text: rotation by complex products in most layers, which look back on their chunk only;
// experts in some layers or all, each of which computes every token.
// Source: transformers models/llama4/modeling_llama4.py, configuration_llama4.py.
#include <algorithm>
#include <string>

#include "core/models/mixture.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/complex.hpp"
#include "core/ops/dense_experts.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/routing.hpp"

namespace ledger::models {
namespace {

bool is_sparse(const DecoderConfig& c, const DecoderLayer& layer) {
  return c.mixture.sparse[static_cast<std::size_t>(layer.index)];
}

void make_gated(Builder& b, Mlp& mlp, const char* gate, const char* up, const char* down,
                Count width) {
  const Count hidden = b.config().hidden;
  b.linear(mlp.gate_proj, gate, hidden, width, false);
  b.linear(mlp.up_proj, up, hidden, width, false);
  b.linear(mlp.down_proj, down, width, hidden, false);
}

void make_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const MixtureConfig& m = c.mixture;
  Tape& t = b.tape();
  make_attention(b, layer);
  if (is_sparse(c, layer)) {
    Mixture& mixture = layer.mixture;
    b.stacked(mixture.gate_up_proj, "layers.*.feed_forward.experts.gate_up_proj",
              t.shape({m.experts, c.hidden, Count(2) * m.feed_forward}));
    b.stacked(mixture.down_proj, "layers.*.feed_forward.experts.down_proj",
              t.shape({m.experts, m.feed_forward, c.hidden}));
    make_router(b, layer, "layers.*.feed_forward.router");
    mixture.shared_expert.place = t.place("layers.*.feed_forward.shared_expert");
    make_gated(b, mixture.shared_expert, "layers.*.feed_forward.shared_expert.gate_proj",
               "layers.*.feed_forward.shared_expert.up_proj",
               "layers.*.feed_forward.shared_expert.down_proj", m.feed_forward);
  } else {
    layer.mlp.place = t.place("layers.*.feed_forward");
    make_gated(b, layer.mlp, "layers.*.feed_forward.gate_proj", "layers.*.feed_forward.up_proj",
               "layers.*.feed_forward.down_proj", c.feed_forward);
  }
  make_layer_norms(b, layer);
}

// x * rsqrt(mean(x²) + eps), without a weight.
Tensor l2_norm(Tape& t, Tensor x) {
  Tensor normalised;
  {
    Tensor wide = ops::to(t.as("norm's input in 32 bit"), x, Dtype::kFloat32);
    Tensor squares = ops::square(t, wide);
    Tensor variance = ops::mean_last(t.as("variance"), std::move(squares));
    Tensor shifted = ops::add_constant(t, std::move(variance));
    Tensor scale = ops::rsqrt(t.as("reciprocal root of the variance"), std::move(shifted));
    normalised = ops::mul(t.as("normalised in 32 bit"), wide, std::move(scale));
  }
  return ops::to(t.as("normalised"), std::move(normalised), x.dtype());
}

Tensor norm(Tape& t, const Norm& norm, Tensor x) {
  const Within here(t, norm.place);
  Tensor output = l2_norm(t, x);
  return ops::mul(t.as("norm's output"), output, norm.weight);
}

// One complex table stands in the place of cos.
RotaryTables tables(Tape& t, Count length, Count width, Dtype) {
  return {ops::complex_rotary_table(t, length, width), {}};
}

Rotated rotate(Tape& t, Tensor q, Tensor k, Tensor table, Tensor) {
  Tensor wide_q = ops::to_complex(t.as("queries as complex numbers"), q);
  Tensor wide_k = ops::to_complex(t.as("keys as complex numbers"), k);
  Tensor product_q = ops::complex_rotation(t, wide_q, table, Dtype::kFloat32);
  Tensor product_k = ops::complex_rotation(t, wide_k, table, Dtype::kFloat32);
  Tensor rotated_q = ops::to(t.as("query states, rotated"), product_q, q.dtype());
  Tensor rotated_k = ops::to(t.as("key states, rotated"), product_k, k.dtype());
  return {std::move(rotated_q), std::move(rotated_k)};
}

// Queries far back are weighted by a logarithm of their position: [T], in 32 bit.
struct Temperatures {
  Tensor positions, scales;
};
Temperatures temperatures(Tape& t, Count length) {
  const Shape shape = t.shape({1, length, 1, 1});
  Temperatures out;
  out.positions = position_ids(t, length);
  for (const char* step : {"positions in 32 bit", "positions, counted from 1", "in steps",
                           "in whole steps", "logarithm", "logarithm, scaled", "temperatures"}) {
    out.scales = t.output(shape, Dtype::kFloat32, step);
  }
  return out;
}

AttentionOutput self_attention(Tape& t, const DecoderLayer& layer, const LayerInputs& in,
                               Tensor hidden) {
  const DecoderConfig& c = layer.model->config;
  const Attention& a = layer.self_attn;
  const Within here(t, a.place);
  Tensor query = ops::linear(t.as("query states"), a.q_proj, hidden);
  Tensor q = ops::split_heads(t, std::move(query), c.heads, c.head_width);
  Tensor key = ops::linear(t.as("key states"), a.k_proj, hidden);
  Tensor k = ops::split_heads(t, std::move(key), c.key_value_heads, c.head_width);
  Tensor value = ops::linear(t.as("value states"), a.v_proj, hidden);
  Tensor v = ops::split_heads(t, std::move(value), c.key_value_heads, c.head_width);
  v = ops::transpose(t, std::move(v));
  Temperatures tuned;
  if (c.rotated[static_cast<std::size_t>(layer.index)]) {
    Rotated rotated = rotate(t, q, k, in.cos, {});
    q = std::move(rotated.q);
    k = std::move(rotated.k);
    if (c.query_key_l2_norm) {
      q = l2_norm(t, q);
      k = l2_norm(t, k);
    }
  } else if (c.temperature_tuning) {
    tuned = temperatures(t, hidden.dim(1));
    const Dtype dtype = q.dtype();
    Tensor wide = ops::mul(t.as("query states, tuned, in 32 bit"), q, tuned.scales);
    q = ops::to(t.as("query states, tuned"), std::move(wide), dtype);
  }
  q = ops::transpose(t, q);
  k = ops::transpose(t, k);
  AttentionOutput result = c.blocks.attend(t, layer, q, k, v, in.mask);
  result.output = ops::merge_heads(t, std::move(result.output));
  result.output = ops::linear(t.as("attention projected"), a.o_proj, result.output);
  return result;
}

// Attention weights stay in the type that the softmax puts out.
AttentionOutput eager(Tape& t, const DecoderConfig& c, Tensor q, Tensor k, Tensor v, Tensor mask) {
  Tensor key_states = ops::repeat_heads(t, k, c.heads);
  Tensor value_states = ops::repeat_heads(t, v, c.heads);
  Tensor product = ops::batched_product(t.as("attention scores"), q, key_states, true);
  Tensor weights = ops::mul_constant(t.as("attention scores, scaled"), std::move(product));
  if (mask) weights = ops::add(t.as("attention scores, masked"), weights, mask);
  weights = ops::softmax_of_no_type(t, weights);
  if (c.attention_dropout) weights = ops::dropout(t.as("attention weights, dropped out"), weights);
  Tensor attended = ops::batched_product(t.as("attention output"), weights, value_states, false);
  Tensor turned = ops::transpose(t, std::move(attended));
  Tensor output = ops::contiguous(t, std::move(turned));
  return {std::move(output), std::move(weights)};
}

// The chosen logits' sigmoids; all others' are 0.
Tensor route(Tape& t, const DecoderLayer& layer, const Tensor& rows, Tensor& logits) {
  const ops::Linear& router = layer.mixture.router;
  const Within here(t, router.place);
  logits = ops::matrix_product(t.as("router logits"), rows, router.weight, {});
  ops::TopK chosen = ops::top_k(t, logits, layer.model->config.mixture.chosen);
  Tensor scores = ops::scattered(t, logits, chosen.values, chosen.indices);
  Tensor wide = ops::to(t.as("scores in 32 bit"), scores, Dtype::kFloat32);
  Tensor opened = ops::sigmoid(t.as("scores, sigmoid"), std::move(wide));
  scores = ops::to(t.as("scores"), std::move(opened), logits.dtype());
  return scores;
}

Tensor experts(Tape& t, const DecoderLayer& layer, Tensor rows) {
  const Mixture& mixture = layer.mixture;
  const DecoderConfig& c = layer.model->config;
  const Within here(t, t.place("layers.*.feed_forward.experts"));
  rows = ops::by_expert(t, rows, c.mixture.experts);
  Tensor gate_up =
      ops::batched_experts(t.as("experts' gate and up"), rows, mixture.gate_up_proj.weight);
  ops::Halves halves = ops::chunk(t, gate_up);
  Tensor activated = c.blocks.activation(t.as("experts' gate, activated"), halves.first);
  Tensor product =
      ops::mul(t.as("experts' up times activated gate"), halves.second, std::move(activated));
  Tensor states = ops::batched_experts(t.as("experts' down"), product, mixture.down_proj.weight);
  product.reset();
  return ops::one_after_another(t, states);
}

Tensor mixture_forward(Tape& t, const DecoderLayer& layer, Tensor x, Tensor& logits) {
  const MixtureConfig& m = layer.model->config.mixture;
  const Within here(t, layer.mixture.place);
  Tensor rows = ops::reshape(t, x, t.shape({x.dim(0) * x.dim(1), x.dim(2)}));
  Tensor scores = route(t, layer, rows, logits);
  Tensor routed = ops::repeat_rows(t.as("tokens, once for each expert"), rows, m.experts);
  Tensor column = ops::as_rows_by_expert(t, scores);
  routed = ops::mul(t.as("tokens, weighted"), routed, std::move(column));
  Tensor routed_out = experts(t, layer, routed);
  Tensor out = gated_mlp(t, layer, layer.mixture.shared_expert, rows);
  Tensor sum = ops::sum_over_experts(t, routed_out, m.experts);
  out = ops::add_in_place(t, std::move(out), std::move(sum));
  return ops::reshape(t, out, x.shape());
}

Tensor decoder_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const DecoderConfig& c = layer.model->config;
  Tensor residual = in.hidden;
  Tensor hidden = norm(t, layer.input_layernorm, residual);
  AttentionOutput attended = self_attention(t, layer, in, hidden);
  hidden = ops::add(t.as("residual stream"), residual, attended.output);
  residual = hidden;
  hidden = norm(t, layer.post_attention_layernorm, hidden);
  Tensor logits;
  if (is_sparse(c, layer)) {
    hidden = mixture_forward(t, layer, hidden, logits);
    attended.weights.reset();  // their name is bound to the logits now
  } else {
    hidden = gated_mlp(t, layer, layer.mlp, hidden);
  }
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  return hidden;
}

// The layers of a list that counts from 0.
Flags listed(const ModelConfig& config, const char* key, std::size_t layers) {
  Flags out(layers, false);
  for (const std::string& layer : config.lists.at(key)) {
    const auto i = static_cast<std::size_t>(std::stoul(layer));
    if (i < layers) out[i] = true;
  }
  return out;
}

bool has_list(const ModelConfig& config, const char* key) {
  const auto found = config.lists.find(key);
  return found != config.lists.end() && !found->second.empty();
}

}  // namespace

DecoderConfig configure_llama4_text(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  const std::size_t layers = c.windowed.size();
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  c.query_key_l2_norm = config.flag("use_qk_norm");
  c.temperature_tuning = config.flag("attn_temperature_tuning");
  c.feed_forward = workings.letter(Letter::f, config.number("intermediate_size_mlp"));
  const auto interval = static_cast<std::size_t>(config.number("no_rope_layer_interval"));
  const bool chosen = has_list(config, "no_rope_layers");
  for (std::size_t i = 0; i < layers; ++i) {
    c.rotated[i] = chosen ? config.lists.at("no_rope_layers")[i] != "0" : (i + 1) % interval != 0;
  }
  // Both masks are made whatever the layers use.
  c.always_full_mask = c.always_windowed_mask = c.chunked = true;
  c.window = workings.letter(Letter::w, config.number("attention_chunk_size"));
  const bool typed = has_list(config, "layer_types");
  for (std::size_t i = 0; i < layers; ++i) {
    c.windowed[i] = typed ? config.lists.at("layer_types")[i] == "chunked_attention" : c.rotated[i];
  }
  MixtureConfig& m = c.mixture =
      mixture_config(c, config, workings, "num_local_experts", "intermediate_size");
  m.every_token = true;
  const auto step = static_cast<std::size_t>(config.number("interleave_moe_layer_step"));
  for (std::size_t i = 0; i < layers; ++i) m.sparse[i] = (i + 1) % step == 0;
  if (has_list(config, "moe_layers")) m.sparse = listed(config, "moe_layers", layers);
  c.blocks.make_layer = make_layer;
  c.blocks.norm = norm;
  c.blocks.layer = decoder_layer;
  c.blocks.tables = tables;
  c.blocks.eager = eager;
  return c;
}

}  // namespace ledger::models
