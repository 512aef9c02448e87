// Routers that compute in 32 bit and choose from the best groups of experts.
// Source: transformers models/deepseek_v2, deepseek_v3 and glm4_moe, TopkRouter.
#include "core/models/mixture.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/routing.hpp"

namespace ledger::models {
namespace {

// What a router holds while it runs: a weight with an adapter's update is one more tensor.
struct RouterWeight {
  Tensor update, weight;
};

Tensor wide_logits(Tape& t, const DecoderLayer& layer, const Tensor& hidden, RouterWeight& held) {
  const ops::Linear& router = layer.mixture.router;
  held.update = ops::weight_update(t, router);
  Tensor rows = ops::reshape(t, hidden, t.shape({hidden.dim(0) * hidden.dim(1), hidden.dim(2)}));
  Tensor wide = ops::to(t.as("tokens in 32 bit"), rows, Dtype::kFloat32);
  held.weight = ops::updated_weight(t, router, held.update);
  Tensor weight = ops::to(t.as("router weight in 32 bit"), held.weight, Dtype::kFloat32);
  return ops::matrix_product(t.as("router logits"), std::move(wide), std::move(weight), {});
}

Tensor by_groups(Tape& t, const MixtureConfig& m, const Tensor& scores) {
  return ops::reshape(t, scores, t.shape({scores.dim(0), m.groups, m.experts / m.groups}));
}

// The locals of a choice among groups, which live as long as the router's other locals.
struct BestGroups {
  Tensor indices, group_mask, expert_mask;
  Tensor scores;  // filled with a constant outside the best groups
};

BestGroups best_groups(Tape& t, const MixtureConfig& m, const Tensor& scores,
                       const Tensor& group_scores) {
  BestGroups best;
  ops::TopK groups = ops::top_k(t, group_scores, m.chosen_groups);
  groups.values.reset();
  best.indices = std::move(groups.indices);
  best.group_mask = t.output(group_scores.shape(), group_scores.dtype(), "mask of the groups");
  // The mask is repeated over the experts of each group; one group's is only seen so often.
  const bool repeats = m.groups.value() > 1 && m.groups.value() < m.experts.value();
  if (repeats) {
    best.expert_mask = t.output(scores.shape(), group_scores.dtype(), "mask of the experts");
  }
  Tensor chosen = t.output(scores.shape(), Dtype::kBool, "experts of the best groups");
  Tensor others = t.output(scores.shape(), Dtype::kBool, "experts of the other groups");
  chosen.reset();
  best.scores = ops::mask_rows(t.as("scores of the best groups"), scores, std::move(others));
  return best;
}

}  // namespace

Routing grouped_softmax_router(Tape& t, const DecoderLayer& layer, const Tensor& hidden) {
  const MixtureConfig& m = layer.model->config.mixture;
  const Within here(t, layer.mixture.router.place);
  RouterWeight held;
  Tensor logits = wide_logits(t, layer, hidden, held);
  Tensor scores = ops::softmax_float32(t, logits, "router probabilities");
  Tensor group_scores;
  BestGroups best;
  if (m.group_limited) {
    group_scores = ops::max_rows(t, by_groups(t, m, scores));
    group_scores = ops::reshape(t, group_scores, t.shape({scores.dim(0), m.groups}));
    best = best_groups(t, m, scores, group_scores);
    scores = best.scores;
    best.scores.reset();
  }
  ops::TopK chosen = ops::top_k(t, scores, m.chosen);
  Tensor weights = ops::mul_constant(t.as("weights of the chosen experts, scaled"), chosen.values);
  return {std::move(logits), std::move(weights), std::move(chosen.indices)};
}

Routing sigmoid_router(Tape& t, const DecoderLayer& layer, const Tensor& hidden) {
  const MixtureConfig& m = layer.model->config.mixture;
  const Within here(t, layer.mixture.router.place);
  RouterWeight held;
  Tensor logits = wide_logits(t, layer, hidden, held);
  Tensor scores = ops::sigmoid(t.as("scores of the experts"), logits);
  Tensor corrected = ops::add(t.as("scores, corrected"), scores, layer.mixture.correction);
  Tensor group_scores;
  {
    ops::TopK pairs = ops::top_k(t, by_groups(t, m, corrected), 2);
    pairs.indices.reset();
    group_scores = ops::sum_rows(t, std::move(pairs.values));
    group_scores = ops::reshape(t, group_scores, t.shape({scores.dim(0), m.groups}));
  }
  BestGroups best = best_groups(t, m, corrected, group_scores);
  corrected = std::move(best.scores);
  ops::TopK chosen = ops::top_k(t, corrected, m.chosen);
  chosen.values.reset();
  Tensor weights = ops::gather(t, scores, chosen.indices);
  Tensor denominator;
  if (m.normalised) {
    denominator = ops::sum_rows(t, weights);
    denominator = ops::add_constant(t.as("sum of each row, and a little"), denominator);
    weights = ops::divide_rows(t, weights, denominator);
  }
  weights = ops::mul_constant(t.as("weights of the chosen experts, scaled"), weights);
  return {std::move(logits), std::move(weights), std::move(chosen.indices)};
}

}  // namespace ledger::models
