// Experts while tokens are made one by one: generate() changes from grouped products to batched
// ones, for which each token's experts are copied out. Source: transformers 5.18.0
// generation/utils.py _optimize_model_for_decode, integrations/moe.py batched_mm_experts_forward.
#include "core/models/mixture.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/routing.hpp"

namespace ledger::models {
namespace {

// weight[expert_ids]: [E,a,b] -> [N·k,a,b]
Tensor picked_weights(Tape& t, const Tensor& stacked, Count picked, const char* what) {
  const Shape shape = t.shape({picked, stacked.dim(1), stacked.dim(2)});
  return t.output(shape, stacked.dtype(), what);
}

Tensor picked_biases(Tape& t, const Tensor& biases, Count picked) {
  if (!biases) return {};
  return t.output(t.shape({picked, biases.dim(1)}), biases.dtype(), "bias of each row");
}

Tensor batched_product(Tape& t, Count rows, Count width, Dtype dtype, const Tensor& biases,
                       const char* what) {
  Tensor out = t.output(t.shape({rows, width}), dtype, what);
  t.matrix_product_done();
  return biases ? t.output(out.shape(), dtype, what) : out;
}

}  // namespace

Tensor batched_experts(Tape& t, const DecoderLayer& layer, const Tensor& rows,
                       const Routing& routing) {
  const DecoderConfig& c = layer.model->config;
  const Mixture& mixture = layer.mixture;
  const MixtureConfig& m = c.mixture;
  const Within here(t, t.place("layers.*.mlp.experts"));
  const Count picked = rows.dim(0) * m.chosen, width = rows.dim(1);
  const Dtype dtype = rows.dtype();
  Tensor selected = t.output(t.shape({picked, width}), dtype, "tokens, once for each expert");
  Tensor weights =
      picked_weights(t, mixture.gate_up_proj.weight, picked, "gate and up of each token's experts");
  Tensor biases = picked_biases(t, mixture.gate_up_bias, picked);
  Tensor projected =
      batched_product(t, picked, Count(2) * m.feed_forward, dtype, biases, "experts' gate and up");
  projected = m.gate(t, layer, projected);
  weights = picked_weights(t, mixture.down_proj.weight, picked, "down of each token's experts");
  biases = picked_biases(t, mixture.down_bias, picked);
  projected = batched_product(t, picked, width, dtype, biases, "experts' down");
  Tensor column = ops::reshape(t, routing.weights, t.shape({picked, 1}));
  Tensor weighted = ops::mul(t.as("experts' output, weighted"), projected, std::move(column));
  Tensor sum = ops::sum_over_experts(t, weighted, m.chosen);
  return ops::to(t, sum, dtype);
}

}  // namespace ledger::models
