// Routers, experts and their weights, statement by statement as in transformers.
#include "core/models/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/routing.hpp"

namespace ledger::models {
namespace {

const MixtureConfig& mixture_of(const DecoderLayer& layer) { return layer.model->config.mixture; }

bool is_sparse(const DecoderLayer& layer) {
  return mixture_of(layer).sparse[static_cast<std::size_t>(layer.index)];
}

Tensor as_rows(Tape& t, const Tensor& x) {
  return ops::reshape(t, x, t.shape({x.dim(0) * x.dim(1), x.dim(2)}));
}

// The default gate: the two halves of one product.
Tensor gated(Tape& t, const DecoderLayer& layer, const Tensor& gate_up) {
  ops::Halves halves = ops::chunk(t, gate_up);
  Tensor activated =
      layer.model->config.blocks.activation(t.as("experts' gate, activated"), halves.first);
  return ops::mul(t.as("experts' activated gate times up"), std::move(activated), halves.second);
}

// The bias of each row's expert; absent without biases.
Tensor biases_of(Tape& t, const Tensor& biases, const Tensor& expert_ids) {
  return biases ? ops::gather_rows(t.as("bias of each row"), biases, expert_ids) : Tensor();
}

}  // namespace

MixtureConfig mixture_config(const DecoderConfig& c, const ModelConfig& config, Workings& w,
                             const char* experts, const char* width) {
  MixtureConfig m;
  m.experts = w.letter(Letter::E, config.number(experts));
  m.chosen = w.letter(Letter::k, config.number("num_experts_per_tok"));
  m.feed_forward = w.letter(Letter::f_e, config.number(width));
  m.sparse.assign(c.windowed.size(), true);
  m.route = softmax_router;
  m.gate = gated;
  return m;
}

void sparse_by_step(MixtureConfig& m, const ModelConfig& config) {
  const auto step = static_cast<std::size_t>(std::max(1.0, config.number("decoder_sparse_step")));
  const auto dense = config.lists.find("mlp_only_layers");
  for (std::size_t i = 0; i < m.sparse.size(); ++i) {
    m.sparse[i] = (i + 1) % step == 0;
    if (dense == config.lists.end()) continue;
    for (const std::string& layer : dense->second) {
      if (layer == std::to_string(i)) m.sparse[i] = false;
    }
  }
}

void dense_first(MixtureConfig& m, const ModelConfig& config) {
  const double dense = config.number("first_k_dense_replace");
  for (std::size_t i = 0; i < m.sparse.size(); ++i) m.sparse[i] = static_cast<double>(i) >= dense;
}

void make_router(Builder& b, DecoderLayer& layer, const char* path) {
  const DecoderConfig& c = b.config();
  b.router(layer.mixture.router, path, b.tape().shape({c.mixture.experts, c.hidden}));
  if (c.mixture.corrected) {
    const Within here(b.tape(), b.tape().place(path));
    const Dtype dtype = c.mixture.correction_in_32_bit ? Dtype::kFloat32 : b.dtype();
    layer.mixture.correction = b.tape().make(b.tape().shape({c.mixture.experts}), dtype,
                                             "correction of the scores", Role::kBuffer);
  }
}

void make_experts(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const MixtureConfig& m = c.mixture;
  Tape& t = b.tape();
  b.stacked(layer.mixture.gate_up_proj, "layers.*.mlp.experts.gate_up_proj",
            t.shape({m.experts, Count(2) * m.feed_forward, c.hidden}));
  b.stacked(layer.mixture.down_proj, "layers.*.mlp.experts.down_proj",
            t.shape({m.experts, c.hidden, m.feed_forward}));
}

void make_shared_experts(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const Count width = c.mixture.shared_feed_forward;
  Mlp& mlp = layer.mixture.shared_expert;
  mlp.place = b.tape().place("layers.*.mlp.shared_experts");
  b.linear(mlp.gate_proj, "layers.*.mlp.shared_experts.gate_proj", c.hidden, width, c.mlp_bias);
  b.linear(mlp.up_proj, "layers.*.mlp.shared_experts.up_proj", c.hidden, width, c.mlp_bias);
  b.linear(mlp.down_proj, "layers.*.mlp.shared_experts.down_proj", width, c.hidden, c.mlp_bias);
}

void make_shared_expert(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const Count width = c.mixture.shared_feed_forward;
  Mlp& mlp = layer.mixture.shared_expert;
  mlp.place = b.tape().place("layers.*.mlp.shared_expert");
  b.linear(mlp.gate_proj, "layers.*.mlp.shared_expert.gate_proj", c.hidden, width, false);
  b.linear(mlp.up_proj, "layers.*.mlp.shared_expert.up_proj", c.hidden, width, false);
  b.linear(mlp.down_proj, "layers.*.mlp.shared_expert.down_proj", width, c.hidden, false);
  b.linear(layer.mixture.shared_expert_gate, "layers.*.mlp.shared_expert_gate", c.hidden, 1, false);
}

void make_mixture_layer(Builder& b, DecoderLayer& layer) {
  make_attention(b, layer);
  make_feed_forward(b, layer);
  make_layer_norms(b, layer);
}

void make_feed_forward(Builder& b, DecoderLayer& layer) {
  const MixtureConfig& m = b.config().mixture;
  if (!m.sparse[static_cast<std::size_t>(layer.index)]) return make_mlp(b, layer);
  if (m.router_first) make_router(b, layer, "layers.*.mlp.gate");
  make_experts(b, layer);
  if (!m.router_first) make_router(b, layer, "layers.*.mlp.gate");
  if (m.shared_feed_forward.value() == 0) return;
  m.shared_gate ? make_shared_expert(b, layer) : make_shared_experts(b, layer);
}

Routing softmax_router(Tape& t, const DecoderLayer& layer, const Tensor& rows) {
  const ops::Linear& router = layer.mixture.router;
  const MixtureConfig& m = mixture_of(layer);
  const Within here(t, router.place);
  const Tensor update = ops::weight_update(t, router);
  Tensor hidden = ops::reshape(t, rows, rows.shape());
  const Tensor weight = ops::updated_weight(t, router, update);
  Tensor logits = ops::matrix_product(t.as("router logits"), hidden, weight, router.bias);
  Tensor probabilities = ops::softmax_float32(t, logits, "router probabilities");
  ops::TopK chosen = ops::top_k(t, probabilities, m.chosen);
  Tensor weights = std::move(chosen.values);
  if (m.normalised) {
    Tensor sums = ops::sum_rows(t, weights);
    weights = ops::divide_rows(t, weights, std::move(sums));
  }
  weights = ops::to(t.as("weights of the chosen experts"), weights, logits.dtype());
  return {std::move(logits), std::move(weights), std::move(chosen.indices)};
}

Tensor experts_forward(Tape& t, const DecoderLayer& layer, const Tensor& rows,
                       const Routing& routing) {
  if (layer.model->decodes) return batched_experts(t, layer, rows, routing);
  const Mixture& mixture = layer.mixture;
  const MixtureConfig& m = mixture_of(layer);
  const Within here(t, t.place("layers.*.mlp.experts"));
  const ops::Factors down_factors = ops::update_factors(t, mixture.down_proj);
  const ops::Factors gate_up_factors = ops::update_factors(t, mixture.gate_up_proj);
  const Count picked = rows.dim(0) * m.chosen;
  const Shape line = t.shape({picked});
  Tensor sample_weights = ops::reshape(t, routing.weights, line);
  Tensor expert_ids = ops::reshape(t, routing.experts, line);
  ops::Sorted sorted = ops::sort(t, expert_ids);
  Tensor tokens = t.output(line, Dtype::kInt64, "token of each row");
  Tensor selected = ops::gather_rows(t.as("tokens, once for each expert"), rows, std::move(tokens));
  Tensor selected_weights =
      ops::gather_rows(t.as("weight of each row"), sample_weights, sorted.order);
  Tensor narrow_ids = ops::to_int32(t, sorted.values);
  Tensor counts = ops::histogram(t, narrow_ids, m.experts);
  Tensor offsets = ops::running_sum(t, counts);

  Tensor gate_up = ops::updated_weight(t, mixture.gate_up_proj, gate_up_factors);
  Tensor biases = biases_of(t, mixture.gate_up_bias, sorted.values);
  Tensor projected =
      ops::grouped_product(t.as("experts' gate and up"), selected, gate_up, m.input_first, offsets);
  if (biases) projected = ops::add_in_place(t, projected, biases);
  projected = m.gate(t, layer, projected);
  Tensor down = ops::updated_weight(t, mixture.down_proj, down_factors);
  biases = biases_of(t, mixture.down_bias, sorted.values);
  projected = ops::grouped_product(t.as("experts' down"), projected, down, m.input_first, offsets);
  if (biases) projected = ops::add_in_place(t, projected, biases);
  Tensor column = ops::reshape(t, selected_weights, t.shape({picked, 1}));
  Tensor weighted = ops::mul(t.as("experts' output, weighted"), projected, std::move(column));
  Tensor inverse = ops::inverse_permutation(t, sorted.order);
  weighted = ops::gather_rows(t.as("experts' output in the tokens' order"), weighted, inverse);
  Tensor sum = ops::sum_over_experts(t, weighted, m.chosen);
  return ops::to(t, sum, rows.dtype());
}

Tensor routed_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x) {
  if (!is_sparse(layer)) return gated_feed_forward(t, layer, std::move(x));
  const Within here(t, layer.mixture.place);
  Tensor rows = as_rows(t, x);
  Routing routing = mixture_of(layer).route(t, layer, rows);
  Tensor sum = experts_forward(t, layer, rows, routing);
  return ops::reshape(t, std::move(sum), x.shape());
}

Tensor shared_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x) {
  if (!is_sparse(layer)) return gated_feed_forward(t, layer, std::move(x));
  const Within here(t, layer.mixture.place);
  Routing routing = mixture_of(layer).route(t, layer, x);
  Tensor rows = as_rows(t, x);
  Tensor sum = experts_forward(t, layer, rows, routing);
  rows = ops::reshape(t, std::move(sum), x.shape());
  Tensor shared = gated_mlp(t, layer, layer.mixture.shared_expert, x);
  return ops::add(t.as("experts and shared experts"), rows, std::move(shared));
}

Tensor gated_shared_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x) {
  if (!is_sparse(layer)) return gated_feed_forward(t, layer, std::move(x));
  const Within here(t, layer.mixture.place);
  const Mixture& mixture = layer.mixture;
  Tensor rows = as_rows(t, x);
  Tensor shared = gated_mlp(t, layer, mixture.shared_expert, rows);
  Routing routing = mixture_of(layer).route(t, layer, rows);
  Tensor sum = experts_forward(t, layer, rows, routing);
  Tensor gate = ops::linear(t.as("shared expert's gate"), mixture.shared_expert_gate, rows);
  Tensor opened = ops::sigmoid(t.as("shared expert's gate, sigmoid"), std::move(gate));
  shared = ops::mul(t.as("shared expert, gated"), std::move(opened), shared);
  sum = ops::add(t.as("experts and shared expert"), sum, shared);
  return ops::reshape(t, std::move(sum), x.shape());
}

}  // namespace ledger::models
