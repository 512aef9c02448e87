// mixtral: mistral's attention; experts in every layer, whose weights stay in 32 bit.
// Source: transformers models/mixtral/modeling_mixtral.py.
#include "core/models/mixture.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/routing.hpp"

namespace ledger::models {
namespace {

Routing route(Tape& t, const DecoderLayer& layer, const Tensor& rows) {
  const ops::Linear& router = layer.mixture.router;
  const Within here(t, router.place);
  const Tensor update = ops::weight_update(t, router);
  Tensor hidden = ops::reshape(t, rows, rows.shape());
  const Tensor weight = ops::updated_weight(t, router, update);
  Tensor logits = ops::matrix_product(t.as("router logits"), hidden, weight, {});
  Tensor wide = ops::to(t.as("router logits in 32 bit"), logits, Dtype::kFloat32);
  Tensor probabilities = ops::softmax_float32(t, std::move(wide), "router probabilities");
  ops::TopK chosen = ops::top_k(t, probabilities, layer.model->config.mixture.chosen);
  Tensor sums = ops::sum_rows(t, chosen.values);
  Tensor weights = ops::divide_rows(t, std::move(chosen.values), std::move(sums));
  return {std::move(logits), std::move(weights), std::move(chosen.indices)};
}

}  // namespace

DecoderConfig configure_mixtral(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  const double window = config.number_or("sliding_window", 0);
  if (window > 0) {
    c.window = workings.letter(Letter::w, window);
    c.windowed.assign(c.windowed.size(), true);
  }
  c.mixture = mixture_config(c, config, workings, "num_local_experts", "intermediate_size");
  c.mixture.targets = ExpertTargets::kMixtral;
  c.mixture.route = route;
  c.blocks.make_layer = make_mixture_layer;
  c.blocks.feed_forward = routed_feed_forward;
  return c;
}

}  // namespace ledger::models
