// Small tensors, a number or a row of experts for each token; see models/phimoe.cpp.
#include "core/ops/sparse_mixer.hpp"

#include "core/ops/cast.hpp"

namespace ledger::ops {
namespace {

void spread_over_row(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient of the largest, zeros elsewhere");
}

void filled_with_zeros(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient, zeros where it was filled");
}

void unchanged(BackwardCall& call) { call.results[0] = call.grads[0]; }

// The gradient's own product is put into that of the gates.
void estimated(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  Tensor grad = t.scratch(call.grads[0].shape(), dtype, "gradient times multiplier");
  Tensor negated = t.scratch(grad.shape(), dtype, "gradient times multiplier, negated");
  call.results[0] = t.output(call.node.edges[0].shape, dtype, "estimated gradient of the scores");
  call.grads[0].reset();  // a function in Python lets go of what it was handed
}

constexpr Rule kMaximum{"maximum of each row", "derivatives.yaml: max.dim", spread_over_row};
constexpr Rule kFill{"filling by index", "derivatives.yaml: scatter.value", filled_with_zeros};
constexpr Rule kNoise{"difference", "derivatives.yaml: sub.Tensor", unchanged};
constexpr Rule kEstimate{"estimated product", "transformers: PhimoeMultiplier", estimated};

}  // namespace

TopK maximum(Tape& t, Tensor x) {
  Recording recording(t, kMaximum, {&x});
  const Shape shape = x.shape().with_last(1);
  TopK out;
  out.values = t.output(shape, x.dtype(), "largest of each row");
  out.indices = t.output(shape, Dtype::kInt64, "where the largest of each row stands");
  recording.save(out.indices);
  recording.outputs({&out.values});
  return out;
}

Tensor fill_at(Tape& t, Tensor x, Tensor indices) {
  Recording recording(t, kFill, {&x});
  recording.save(indices);
  Tensor out = t.output(x.shape(), x.dtype(), "filled by index");
  recording.outputs({&out});
  return out;
}

Tensor perturbed(Tape& t, Tensor x) {
  Tensor noise = t.output(x.shape(), x.dtype(), "exponential noise");
  // Autocast takes logarithms in 32 bit.
  const Dtype dtype = t.autocast_enabled() ? Dtype::kFloat32 : x.dtype();
  Tensor logarithm;
  {
    Tensor wide;
    if (dtype != x.dtype()) wide = t.cast_copy(x.shape(), dtype, false);
    logarithm = t.output(x.shape(), dtype, "logarithm of the noise");
  }
  noise.reset();
  Recording recording(t, kNoise, {&x});
  Tensor out = t.output(x.shape(), dtype, "scores with noise");
  recording.outputs({&out});
  return out;
}

Tensor estimated_product(Tape& t, Tensor scores, Tensor multiplier, Tensor chosen, Tensor gates) {
  Recording recording(t, kEstimate, {&scores, &multiplier, &gates});
  Tensor out = t.output(multiplier.shape(), multiplier.dtype(), "weights of the drawn experts");
  recording.save(multiplier);
  recording.save(chosen);
  recording.save(gates);
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
