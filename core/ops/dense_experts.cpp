// Tokens are repeated once for each expert and weighted by their scores, most of which are 0.
#include "core/ops/dense_experts.hpp"

#include "core/ops/cast.hpp"

namespace ledger::ops {
namespace {

void gathered(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient of the scattered values");
}

void summed_over_repeats(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient summed over repeated rows");
}

void seen_back(BackwardCall& call) {
  call.results[0] = call.tape.view(call.grads[0], call.node.edges[0].shape, false);
}

void of_batched(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  if (call.needs(1)) {
    call.results[1] = t.output(call.node.edges[1].shape, dtype, "gradient of the weight");
  }
  if (call.needs(0)) {
    call.results[0] = t.output(call.node.edges[0].shape, dtype, "gradient of the input");
  }
}

constexpr Rule kScatter{"scattering", "derivatives.yaml: scatter.src", gathered};
constexpr Rule kRepeatRows{"repeat", "derivatives.yaml: repeat", summed_over_repeats};
constexpr Rule kSeen{"view", "derivatives.yaml: view, transpose.int", seen_back};
constexpr Rule kBatched{"batched matrix product", "derivatives.yaml: bmm", of_batched};

Tensor seen(Tape& t, Tensor x, Shape shape) {
  Recording recording(t, kSeen, {&x});
  Tensor out = t.view(x, shape, false);
  recording.outputs({&out});
  return out;
}

}  // namespace

Tensor scattered(Tape& t, const Tensor& like, Tensor values, Tensor indices) {
  Tensor out = t.output(like.shape(), like.dtype(), "scores of the chosen experts");
  Recording recording(t, kScatter, {&values});
  recording.save(indices);
  recording.outputs({&out});
  return out;
}

Tensor repeat_rows(Tape& t, Tensor x, Count times) {
  Recording recording(t, kRepeatRows, {&x});
  Tensor out = t.output(t.shape({times * x.dim(0), x.dim(1)}), x.dtype(), "rows repeated");
  recording.outputs({&out});
  return out;
}

Tensor as_rows_by_expert(Tape& t, Tensor x) {
  Recording recording(t, kSeen, {&x});
  const Shape shape = t.shape({x.dim(1) * x.dim(0), 1});
  Tensor out = t.output(shape, x.dtype(), "scores, expert by expert");
  recording.outputs({&out});
  return out;
}

Tensor by_expert(Tape& t, Tensor x, Count experts) {
  const Shape shape = t.shape({experts, x.dim(0) / experts, x.dim(1)});
  return seen(t, std::move(x), shape);
}

Tensor one_after_another(Tape& t, Tensor x) {
  const Shape shape = t.shape({x.dim(0) * x.dim(1), x.dim(2)});
  return seen(t, std::move(x), shape);
}

Tensor batched_experts(Tape& t, const Tensor& x, const Tensor& weight) {
  Tensor right = autocast_operand(t, weight);
  Tensor left = autocast_operand(t, x);
  Recording recording(t, kBatched, {&left, &right});
  if (right.needs_grad()) recording.save(left);
  if (left.needs_grad()) recording.save(right);
  Tensor out = t.output(t.shape({left.dim(0), left.dim(1), right.dim(2)}), left.dtype(),
                        "products of each expert");
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
