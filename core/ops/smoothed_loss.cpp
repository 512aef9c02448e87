// Label smoothing: the likelihood of the target, mixed with that of all others.
// Source: transformers 5.18.0 trainer_pt_utils.py: LabelSmoother.
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/loss.hpp"
#include "core/ops/selection.hpp"
#include "core/reduction.hpp"

namespace ledger::ops {
namespace {

void of_log_softmax(BackwardCall& call) {
  const Edge& edge = call.node.edges[0];
  call.results[0] = call.tape.output(edge.shape, edge.dtype, "gradient of the logits");
}

void of_gather(BackwardCall& call) {
  const Edge& edge = call.node.edges[0];
  call.results[0] = call.tape.output(edge.shape, edge.dtype, "gradient with zeros elsewhere");
}

void of_row_sum(BackwardCall& call) {
  call.results[0] = call.tape.view(call.grads[0], call.node.edges[0].shape, false);
}

void of_fill(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  call.results[0] = call.tape.output(grad.shape(), grad.dtype(), "gradient, masked");
}

constexpr Rule kLogSoftmax{"log-softmax", "derivatives.yaml: _log_softmax", of_log_softmax};
constexpr Rule kGather{"entry of each row", "derivatives.yaml: gather", of_gather};
constexpr Rule kRowSum{"sum of each row", "derivatives.yaml: sum.dim_IntList", of_row_sum};
constexpr Rule kFill{"masking in place", "derivatives.yaml: masked_fill.Scalar", of_fill};

Tensor log_softmax(Tape& t, Tensor logits) {
  Recording recording(t, kLogSoftmax, {&logits});
  Tensor out = t.output(logits.shape(), logits.dtype(), "log-probabilities");
  recording.save(out);
  recording.outputs({&out});
  return out;
}

Tensor picked(Tape& t, const Tensor& x, const Tensor& index) {
  Recording recording(t, kGather, {&x});
  Tensor out = t.output(x.shape().with_last(1), x.dtype(), "loss of each target");
  recording.save(x);
  recording.save(index);
  recording.outputs({&out});
  return out;
}

Tensor row_sum(Tape& t, const Tensor& x) {
  Recording recording(t, kRowSum, {&x});
  Tensor out = t.output(x.shape().with_last(1), Dtype::kFloat32, "loss of all tokens");
  allocate_working_space(t, {x.shape().last(), out.shape().elements(), true, x.dtype()});
  recording.outputs({&out});
  return out;
}

Tensor fill(Tape& t, Tensor x, const Tensor& mask) {
  Recording recording(t, kFill, {&x});
  recording.save(mask);
  Tensor out = t.view(x, x.shape(), false, false);
  recording.outputs({&out});
  return out;
}

}  // namespace

Tensor smoothed_loss(Tape& t, Tensor logits, const Tensor& num_items_in_batch) {
  const Count batch = logits.dim(0), length = logits.dim(1) - Count(1);
  const bool copies = batch.value() > 1;
  Tensor scored = without_last_token(t, logits);
  if (copies) scored = clone(t.as("logits without the last token"), std::move(scored));
  Tensor labels;
  if (copies) {
    labels = t.make(t.shape({batch, length}), Dtype::kInt64, "labels, shifted", Role::kInput);
  }
  Tensor log_probs;
  {
    Tensor positive = log_softmax(t, scored);
    log_probs = negate(t.as("negative log-probabilities"), std::move(positive));
  }
  const Shape column = t.shape({batch, length, 1});
  Tensor mask = t.make(column, Dtype::kBool, "labels that do not count", Role::kInput);
  labels = t.make(column, Dtype::kInt64, "labels, at least zero", Role::kInput);
  Tensor nll = picked(t, log_probs, labels);
  Tensor smoothed = row_sum(t, log_probs);
  nll = fill(t, std::move(nll), mask);
  smoothed = fill(t, std::move(smoothed), mask);
  {
    Tensor sum = sum_all(t.as("loss of all targets"), nll);
    nll = divide(t, std::move(sum), num_items_in_batch);
  }
  {
    Tensor sum = sum_all(t.as("loss of all tokens, summed"), smoothed);
    Tensor items = t.make(num_items_in_batch.shape(), Dtype::kInt64,
                          "number of labels times the vocabulary", Role::kInput);
    smoothed = divide(t, std::move(sum), items);
  }
  Tensor one = mul_constant(t.as("part of the targets"), nll);
  Tensor other = mul_constant(t.as("part of all tokens"), smoothed);
  return add(t.as("loss"), std::move(one), std::move(other));
}

}  // namespace ledger::ops
