// Cross entropy of logits whose vocabulary is divided: maxima, sums and the targets' own entries
// are reduced over ranks, logits never are.
// Source: torch/distributed/tensor/parallel/loss.py.
#include "core/ops/cast.hpp"
#include "core/ops/collective.hpp"
#include "core/ops/loss.hpp"
#include "core/reduction.hpp"

namespace ledger::ops {
namespace {

constexpr const char* kSource = "torch/distributed/tensor/parallel/loss.py";

// torch.where(target != ignore_index, x, 0), of 4 or 8 bytes a row.
Tensor where_counted(Tape& t, Count rows, double bytes, const char* what) {
  Tensor counted = t.bytes(rows, "labels that count");
  Tensor zero = t.bytes(Count(bytes), "zero");
  return t.bytes(Count(bytes) * rows, what);
}

// Nothing here: the loss's own backward rule does both.
void of_log_softmax(BackwardCall& call) { call.results[0] = std::move(call.grads[0]); }

void of_loss(BackwardCall& call) {
  Tape& t = call.tape;
  const Shape logits = call.node.edges[0].shape;
  const Count rows = logits.rows();
  Tensor gradient = t.scratch(t.shape({1}), Dtype::kFloat32, "gradient by label");
  Tensor targets = where_counted(t, rows, 8, "targets that count");
  Tensor at_target = t.scratch(logits, Dtype::kFloat32, "-1 at each target");
  OwnIds own = own_ids(t, rows);
  Tensor updates;
  {
    Tensor numbers = t.bytes(Count(4) * rows, "mask as numbers");
    updates = t.bytes(Count(4) * rows, "-1 where the target is this rank's");
  }
  Tensor range = t.bytes(Count(8) * rows, "positions");
  Tensor by_row = where_counted(t, rows, 4, "gradient of each row");
  gradient.reset();
  Tensor probabilities = t.scratch(logits, Dtype::kFloat32, "probabilities");
  Tensor sum = t.scratch(logits, Dtype::kFloat32, "probabilities less one at each target");
  probabilities.reset();
  call.results[0] = t.output(logits, Dtype::kFloat32, "gradient of the logits in 32 bit");
}

constexpr Rule kLogSoftmax{"log-softmax over ranks", kSource, of_log_softmax};
constexpr Rule kLoss{"negative log-likelihood over ranks", kSource, of_loss};

// A value for each row, reduced over the columns here, then over ranks.
Tensor reduced_rows(Tape& t, const Tensor& x, Shape per_row, const char* what) {
  Tensor own = t.output(per_row, Dtype::kFloat32, what);
  allocate_working_space(t, {x.shape().last(), per_row.elements(), true, x.dtype()});
  return own;
}

Tensor log_softmax(Tape& t, const Tensor& wide) {
  Recording recording(t, kLogSoftmax, {&wide});
  const Shape per_row = t.shape({wide.shape().rows()});
  const auto all_ranks = [&](Tensor) {  // its argument dies with it
    return t.output(per_row, Dtype::kFloat32, "reduced over ranks");
  };
  Tensor largest = reduced_rows(t, wide, per_row, "largest logit of each row");
  Tensor largest_of_all = all_ranks(std::move(largest));
  Tensor shifted = t.output(wide.shape(), Dtype::kFloat32, "logits less the largest");
  Tensor powers = t.output(wide.shape(), Dtype::kFloat32, "powers");
  Tensor sum = reduced_rows(t, powers, per_row, "sum of the powers");
  powers.reset();
  Tensor sum_of_all = all_ranks(std::move(sum));
  Tensor logarithm = t.output(per_row, Dtype::kFloat32, "logarithm of the sum");
  Tensor out = t.output(wide.shape(), Dtype::kFloat32, "log-probabilities");
  recording.save(out);
  recording.outputs({&out});
  return out;
}

Tensor likelihood(Tape& t, const Tensor& log_probabilities, const Tensor& targets) {
  Recording recording(t, kLoss, {&log_probabilities});
  recording.save(log_probabilities);
  recording.save(targets);
  const Count rows = log_probabilities.shape().rows();
  const Shape per_row = t.shape({rows});
  Tensor safe = where_counted(t, rows, 8, "targets that count");
  OwnIds own = own_ids(t, rows);
  Tensor picked = t.output(per_row, Dtype::kFloat32, "log-probability of each target");
  own.others.reset();
  Tensor of_all = t.output(per_row, Dtype::kFloat32, "reduced over ranks");
  Tensor losses;
  {
    Tensor negative = t.output(per_row, Dtype::kFloat32, "loss of each target");
    losses = where_counted(t, rows, 4, "loss of each target that counts");
  }
  Tensor total_weight;
  {
    Tensor counted = t.bytes(rows, "labels that count");
    Tensor count = count_true(t, rows, "number of labels that count");
    counted.reset();
    total_weight = t.output(t.shape({1}), Dtype::kFloat32, "number of labels that count");
  }
  Tensor sum = t.output(t.shape({1}), Dtype::kFloat32, "sum of the losses");
  allocate_working_space(t, {rows, 1, true, Dtype::kFloat32});
  Tensor loss = t.output(t.shape({1}), Dtype::kFloat32, "loss");
  recording.save(total_weight);
  recording.outputs({&loss});
  return loss;
}

}  // namespace

Tensor causal_lm_loss_of_parts(Tape& t, Tensor logits, const Tensor& num_items_in_batch, bool) {
  const Count batch = logits.dim(0), length = logits.dim(1);
  Tensor wide = to(t.as("logits in 32 bit"), logits, Dtype::kFloat32);
  ShiftedLabels labels = shifted_labels(t, batch, length);
  Tensor loss;
  {
    Tensor log_probabilities = log_softmax(t, wide);
    loss = likelihood(t, log_probabilities, labels.shifted);
  }
  return num_items_in_batch ? divide(t, std::move(loss), num_items_in_batch) : loss;
}

}  // namespace ledger::ops
