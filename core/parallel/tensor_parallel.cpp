// What parallelize_module does to weights, in the order o_proj, down_proj, q_proj, k_proj, v_proj,
// gate_proj, up_proj of each layer, then embedding and head.
// Source: torch/distributed/tensor/parallel/style.py, torch/distributed/tensor/_api.py.
#include "core/parallel/tensor_parallel.hpp"

#include <algorithm>

#include "core/ops/collective.hpp"

namespace ledger::parallel {
namespace {

using ops::Exchange;

constexpr Rule kDivide{"division of a weight",
                       "torch/distributed/tensor/placement_types.py: Shard"};
constexpr Rule kRedistribute{"gradient as its parameter lies",
                             "torch/distributed/tensor/_redistribute.py"};

bool holds(const std::vector<const TensorData*>& some, const TensorData* one) {
  return std::find(some.begin(), some.end(), one) != some.end();
}

Tensor embed_by_part(Tape& t, const models::Decoder& model, const Tensor& ids) {
  const Within here(t, t.place("embed_tokens"));
  const Count ranks = model.lm_head.ranks;
  return ops::embedding_of_part(t, ids, model.embed_tokens, model.whole_table,
                                model.scatters_tokens, ranks);
}

}  // namespace

TensorParallel::TensorParallel(Tape& t, const Parallel& options, models::Decoder& model)
    : t_(t), options_(options), ranks_(t.workings().named("W_t", options.tensor_parallel_size)) {
  models::DecoderConfig& c = model.config;
  c.heads = c.heads / ranks_;
  c.key_value_heads = c.key_value_heads / ranks_;
  for (models::DecoderLayer& layer : model.layers) divide_layer(layer);
  if (options.parallelize_embedding_and_head) divide_vocabulary(model);
  if (options.sequence_parallel) distribute(model.norm);
}

// The new part exists before the old whole goes.
void TensorParallel::take(const Tensor& parameter, Shape part) {
  const StorageRecord owner = t_.record().storages[parameter->storage];
  const Within here(t_, owner.place, owner.layer);
  const Tensor made = t_.parameter(part, parameter.dtype(), owner.what, false);
  parameter->shape = part;
  t_.share_data(parameter, made);
  distributed_.push_back(parameter.get());
}

void TensorParallel::divide_rows(ops::Linear& linear) {
  linear.ranks = ranks_;
  const Shape whole = linear.shape;
  linear.shape = t_.shape({whole[0] / ranks_, whole[1]});
  take(linear.weight, linear.shape);
  if (linear.bias) take(linear.bias, t_.shape({whole[0] / ranks_}));
  linear.before = options_.sequence_parallel ? Exchange::kNone : Exchange::kSumGradients;
}

// A part of the columns does not lie in one piece: all ranks' parts are copied first.
void TensorParallel::divide_columns(ops::Linear& linear) {
  linear.ranks = ranks_;
  linear.shape = t_.shape({linear.shape[0], linear.shape[1] / ranks_});
  {
    const Within here(t_, linear.place, linear.layer);
    const Recording recording(t_, kDivide, {});
    std::vector<Tensor> parts;
    for (double i = 0; i < ranks_.value(); ++i) {
      parts.push_back(t_.scratch(linear.shape, linear.weight.dtype(), "part of the columns"));
    }
    take(linear.weight, linear.shape);
  }
  linear.after = options_.sequence_parallel ? Exchange::kSumScatter : Exchange::kSum;
}

void TensorParallel::divide_layer(models::DecoderLayer& layer) {
  models::Attention& a = layer.self_attn;
  divide_columns(a.o_proj);
  divide_columns(layer.mlp.down_proj);
  for (ops::Linear* linear :
       {&a.q_proj, &a.k_proj, &a.v_proj, &layer.mlp.gate_proj, &layer.mlp.up_proj}) {
    divide_rows(*linear);
  }
  if (!options_.sequence_parallel) return;
  a.gathers = layer.mlp.gathers = ranks_;
  distribute(layer.input_layernorm);
  distribute(layer.post_attention_layernorm);
}

void TensorParallel::distribute(models::Norm& norm) {
  norm.distributed = true;
  distributed_.push_back(norm.weight.get());
  replicated_.push_back(norm.weight.get());
}

void TensorParallel::divide_vocabulary(models::Decoder& model) {
  model.whole_table = model.embed_tokens.shape();
  model.scatters_tokens = options_.sequence_parallel;
  model.config.blocks.embed = embed_by_part;
  table_ = model.embed_tokens.get();
  take(model.embed_tokens, t_.shape({model.whole_table[0] / ranks_, model.whole_table[1]}));
  divide_rows(model.lm_head);
  if (options_.sequence_parallel) model.lm_head.before = Exchange::kGatherTokens;
  if (options_.loss_parallel) {
    model.loss = ops::causal_lm_loss_of_parts;
  } else {
    model.lm_head.after = Exchange::kGatherColumns;
  }
}

std::size_t TensorParallel::in_order(std::vector<Tensor>& trainable) const {
  const auto plain =
      std::stable_partition(trainable.begin(), trainable.end(),
                            [this](const Tensor& p) { return holds(distributed_, p.get()); });
  return static_cast<std::size_t>(plain - trainable.begin());
}

bool TensorParallel::differs(const TensorData* parameter) const {
  return parameter == table_ || holds(replicated_, parameter);
}

Tensor TensorParallel::as_parameter(Tape& t, TensorData* parameter, Tensor gradient) const {
  if (!differs(parameter)) return gradient;
  const Recording recording(t, kRedistribute, {});
  return t.scratch(parameter->shape, gradient.dtype(),
                   parameter == table_ ? "gradient of this rank's part of the table"
                                       : "gradient, summed over ranks");
}

}  // namespace ledger::parallel
