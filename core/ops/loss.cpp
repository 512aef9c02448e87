// The usual loss: logits raised to 32 bit, their log-softmax kept for the backward pass.
#include "core/ops/cast.hpp"
#include "core/ops/embedding.hpp"

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

constexpr Rule kLogSoftmax{"log-softmax", "derivatives.yaml: _log_softmax", of_log_softmax};
constexpr Rule kNegativeLogLikelihood{
    "negative log-likelihood", "derivatives.yaml: nll_loss_forward", of_negative_log_likelihood};

}  // namespace

Tensor causal_lm_loss(Tape& t, Tensor logits) {
  const Count batch = logits.dim(0), length = logits.dim(1), vocabulary = logits.dim(2);
  Tensor wide = to(t.as("logits in 32 bit"), logits, Dtype::kFloat32);
  Tensor padded =
      t.make(t.shape({batch, length + 1}), Dtype::kInt64, "labels, padded by one", Role::kInput);
  Tensor targets = padded;
  if (batch.value() > 1) {
    targets = t.make(t.shape({batch, length}), Dtype::kInt64, "labels, shifted", Role::kInput);
  }
  Tensor log_probabilities;
  {
    Recording recording(t, kLogSoftmax, {&wide});
    log_probabilities =
        t.output(t.shape({batch * length, vocabulary}), Dtype::kFloat32, "log-probabilities");
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

}  // namespace ledger::ops
