// The usual loss: logits raised to 32 bit, their log-softmax kept for the backward pass.
#include "core/ops/loss.hpp"

#include "core/ops/cast.hpp"
#include "core/reduction.hpp"

namespace ledger::ops {
namespace {

void of_log_softmax(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, Dtype::kFloat32,
                                     "gradient of the logits in 32 bit");
}

void of_negative_log_likelihood(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, Dtype::kFloat32,
                                     "gradient of the log-probabilities");
}

void of_division(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  call.results[0] = call.tape.output(grad.shape(), grad.dtype(), "gradient");
}

constexpr Rule kLogSoftmax{"log-softmax", "derivatives.yaml: _log_softmax", of_log_softmax};
constexpr Rule kNegativeLogLikelihood{
    "negative log-likelihood", "derivatives.yaml: nll_loss_forward", of_negative_log_likelihood};
void of_sum(BackwardCall& call) {
  call.results[0] = call.tape.view(call.grads[0], call.node.edges[0].shape, false);
  call.results[0]->broadcast = true;
}

constexpr Rule kSum{"sum over all", "derivatives.yaml: sum", of_sum};
constexpr Rule kDivide{"division", "derivatives.yaml: div.Tensor", of_division};

}  // namespace

Tensor cross_entropy(Tape& t, Tensor wide, Count rows, const Tensor& targets) {
  Tensor log_probabilities;
  {
    Recording recording(t, kLogSoftmax, {&wide});
    log_probabilities =
        t.output(t.shape({rows, wide.dim(2)}), Dtype::kFloat32, "log-probabilities");
    recording.save(log_probabilities);
    recording.outputs({&log_probabilities});
  }
  Recording recording(t, kNegativeLogLikelihood, {&log_probabilities});
  recording.save(log_probabilities);
  recording.save(targets);
  Tensor loss = t.output(t.shape({1}), Dtype::kFloat32, "loss");
  Tensor total_weight = t.output(t.shape({1}), Dtype::kFloat32, "number of labels that count");
  recording.save(total_weight);
  recording.outputs({&loss});
  return loss;
}

Tensor divide(Tape& t, Tensor x, const Tensor& n) {
  Recording recording(t, kDivide, {&x});
  recording.save(n);
  Tensor out = t.output(x.shape(), x.dtype(), "loss");
  recording.outputs({&out});
  return out;
}

Tensor sum_all(Tape& t, const Tensor& x) {
  Recording recording(t, kSum, {&x});
  Tensor sum = total(t, x, "sum");
  recording.outputs({&sum});
  return sum;
}

Tensor causal_lm_loss(Tape& t, Tensor logits, const Tensor& num_items_in_batch, bool liger) {
  const Count batch = logits.dim(0), length = logits.dim(1);
  Tensor wide = to(t.as("logits in 32 bit"), logits, Dtype::kFloat32);
  ShiftedLabels labels = shifted_labels(t, batch, length);
  Tensor loss = liger ? liger_cross_entropy(t, wide, batch * length)
                      : cross_entropy(t, wide, batch * length, labels.shifted);
  return num_items_in_batch ? divide(t, std::move(loss), num_items_in_batch) : loss;
}

}  // namespace ledger::ops
