// Liger's losses: the gradient is made in the forward pass, in the place of what it belongs to.
// Source: liger_kernel 0.8.5, ops/cross_entropy.py, ops/fused_linear_cross_entropy.py.
#include <cmath>

#include "core/ops/cast.hpp"
#include "core/ops/loss.hpp"
#include "core/reduction.hpp"

namespace ledger::ops {
namespace {

// torch.equal(grad_output, 1): read back.
void ask_whether_one(Tape& t) {
  Tensor one = t.scratch(t.shape({1}), Dtype::kFloat32, "one");
  Tensor equal = t.scratch(t.shape({1}), Dtype::kBool, "whether the gradient is one");
  Tensor all = t.scratch(t.shape({1}), Dtype::kBool, "whether the gradient is one");
}

void of_cross_entropy(BackwardCall& call) {
  ask_whether_one(call.tape);
  const Tensor& logits = call.saved[0];
  call.results[0] = call.tape.view(logits, logits.shape(), false, false);
}

void of_fused(BackwardCall& call) {
  ask_whether_one(call.tape);
  const Tensor& hidden = call.saved[0];
  call.results[0] = call.tape.view(hidden, call.node.edges[0].shape, false);
  if (!call.needs(1)) return;
  const Tensor& weight = call.saved[1];
  call.results[1] = call.tape.view(weight, weight.shape(), false, false);
}

constexpr Rule kCrossEntropy{"Liger's cross entropy", "liger_kernel/ops/cross_entropy.py",
                             of_cross_entropy};
constexpr Rule kFused{"Liger's fused linear cross entropy",
                      "liger_kernel/ops/fused_linear_cross_entropy.py", of_fused};

// The largest or smallest target, tested against the vocabulary.
void test_targets(Tape& t, Count rows) {
  Tensor masked = t.bytes(Count(8) * rows, "targets that count");
  Tensor extreme = t.bytes(8, "extreme of the targets");
  allocate_working_space(t, {rows, 1, true, Dtype::kInt64});
  masked.reset();
  Tensor answer = t.bytes(1, "whether it is within the vocabulary");
}

double next_power_of_two(double n) {
  double power = 1;
  while (power < n) power *= 2;
  return power;
}

// One chunk's share of the head's gradient. 16-bit types are added in place from compute capability
// 8.0 on.
void add_to_gradient(Tape& t, const Tensor& weight, Shape of_input, Dtype dtype) {
  if (t.device().compute_major >= 8 && dtype != Dtype::kFloat32) {
    if (weight.dtype() == dtype) return;
    t.scratch(of_input, dtype, "hidden states of a chunk in the logits' type");
    return;
  }
  Tensor product = t.scratch(weight.shape(), dtype, "gradient of the head from a chunk");
  if (dtype == Dtype::kFloat32) return;
  Tensor wide = t.scratch(weight.shape(), Dtype::kFloat32, "the same in 32 bit");
}

// One chunk of rows through the head and back where autocast changes the operands' type. Returns
// the logits, in whose place their gradient is.
Tensor score_with_casts(Tape& t, const Tensor& weight, Shape of_input) {
  const Dtype dtype = t.autocast_dtype();
  const Shape of_logits = t.shape({of_input[0], weight.dim(0)});
  Tensor logits;
  {
    // The transpose is no leaf, so that its cast is not cached.
    Tensor cast_weight = t.scratch(weight.shape(), dtype, "autocast's copy of the weight");
    Tensor cast_input = t.scratch(of_input, dtype, "autocast's copy of an operand");
    logits = t.scratch(of_logits, dtype, "logits of a chunk");
    t.matrix_product_done();
  }
  Tensor cast_weight = autocast_operand(t, weight);
  Tensor gradient = t.scratch(of_input, dtype, "gradient of a chunk's hidden states");
  return logits;
}

// More chunks repeat what these allocate and let go, but for the last.
constexpr double kChunksShown = 256;

}  // namespace

Tensor total(Tape& t, const Tensor& x, const char* what) {
  Tensor sum = t.output(t.shape({1}), x.dtype(), what);
  allocate_working_space(t, {x.shape().elements(), 1, true, x.dtype()});
  return sum;
}

Tensor count_true(Tape& t, Count n, const char* what) {
  Tensor sum = t.make(t.shape({1}), Dtype::kInt64, what, Role::kInput);
  Tensor numbers = t.bytes(Count(8) * n, "truth values as numbers");
  allocate_working_space(t, {n, 1, true, Dtype::kInt64});
  return sum;
}

ShiftedLabels shifted_labels(Tape& t, Count batch, Count length) {
  ShiftedLabels out;
  out.padded =
      t.make(t.shape({batch, length + 1}), Dtype::kInt64, "labels, padded by one", Role::kInput);
  out.shifted = out.padded;
  if (batch.value() > 1) {
    out.shifted = t.make(t.shape({batch, length}), Dtype::kInt64, "labels, shifted", Role::kInput);
  }
  return out;
}

Tensor liger_cross_entropy(Tape& t, Tensor wide, Count rows) {
  Recording recording(t, kCrossEntropy, {&wide});
  Tensor losses = t.scratch(t.shape({rows}), wide.dtype(), "loss of each token");
  Tensor mask = t.bytes(rows, "labels that count");
  count_true(t, rows, "number of labels that count");
  test_targets(t, rows);
  test_targets(t, rows);
  Tensor loss = total(t.as("loss"), losses, "loss");
  recording.save(wide);
  recording.outputs({&loss});
  return loss;
}

Tensor fused_linear_cross_entropy(Tape& t, Tensor hidden, const Tensor& weight,
                                  const Tensor& num_items_in_batch) {
  const Count batch = hidden.dim(0), length = hidden.dim(1), width = hidden.dim(2);
  const Count rows = batch * length, vocabulary = weight.dim(0);
  ShiftedLabels labels = shifted_labels(t, batch, length);
  Tensor loss;
  {
    Recording recording(t, kFused, {&hidden, &weight});
    const double per_chunk =
        next_power_of_two(std::ceil(rows.value() / std::ceil(vocabulary.value() / width.value())));
    const Count chunk = minimum(t.workings().named("C", per_chunk), rows);
    Tensor grad_hidden = t.make(t.shape({rows, width}), hidden.dtype(),
                                "gradient of the hidden states", Role::kGradient);
    Tensor grad_weight;
    if (weight.needs_grad()) {
      grad_weight = t.make(weight.shape(), weight.dtype(), "gradient of the head", Role::kGradient);
    }
    Tensor losses = t.scratch(t.shape({rows}), Dtype::kFloat32, "loss of each token");
    Tensor mask = t.bytes(rows, "labels that count");
    count_true(t, rows, "number of labels that count");
    const bool in_place = hidden.dtype() == weight.dtype() &&
                          (!t.autocast_enabled() || hidden.dtype() == t.autocast_dtype());
    Tensor logits;
    if (in_place) {
      logits = t.scratch(t.shape({chunk, vocabulary}), hidden.dtype(), "logits of a chunk");
      t.matrix_product_done();
    }
    const Dtype dtype = in_place ? hidden.dtype() : t.autocast_dtype();
    const double chunks = std::ceil(rows.value() / chunk.value());
    for (double i = 0; i < chunks; ++i) {
      const bool last = i + 1 == chunks;
      if (i >= kChunksShown && !last) continue;
      const Count part = last ? rows - Count(i) * chunk : chunk;
      const Shape of_input = t.shape({part, width});
      Tensor of_chunk;
      if (!in_place) of_chunk = score_with_casts(t, weight, of_input);
      if (grad_weight) add_to_gradient(t, weight, of_input, dtype);
    }
    logits.reset();
    loss = total(t.as("loss"), losses, "loss");
    recording.save(grad_hidden);
    if (grad_weight) recording.save(grad_weight);
    recording.outputs({&loss});
  }
  return num_items_in_batch ? divide(t, std::move(loss), num_items_in_batch) : loss;
}

}  // namespace ledger::ops
