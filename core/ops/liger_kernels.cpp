// Inputs are kept as they are; gradients take the place of what they are computed from.
// Source: liger_kernel 0.8.5, ops/rms_norm.py, ops/swiglu.py, ops/rope.py.
#include "core/ops/liger_kernels.hpp"

namespace ledger::ops {
namespace {

// .contiguous()
Tensor dense(Tape& t, const Tensor& x) {
  return x->swapped || x->sliced ? t.output(x.shape(), x.dtype(), "copy in contiguous order") : x;
}

void of_rms_norm(BackwardCall& call) {
  Tape& t = call.tape;
  const Tensor grad = dense(t, call.grads[0]);
  const Count width = grad.shape().last();
  Tensor sums;
  if (call.needs(1)) {
    const Count multiprocessors = t.device().multiprocessors;
    sums = t.scratch(t.shape({multiprocessors, width}), Dtype::kFloat32,
                     "gradient of the norm's weight, by multiprocessor");
  }
  call.results[0] = t.view(grad, call.node.edges[0].shape, false);
  if (!call.needs(1)) return;
  const Edge& weight = call.node.edges[1];
  Tensor sum = t.scratch(weight.shape, Dtype::kFloat32, "gradient of the norm's weight in 32 bit");
  call.results[1] = weight.dtype == Dtype::kFloat32
                        ? sum
                        : t.output(weight.shape, weight.dtype, "gradient of the norm's weight");
}

void of_silu_mul(BackwardCall& call) {
  const Tensor grad = dense(call.tape, call.grads[0]);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Tensor& kept = call.saved[i];
    call.results[i] = call.tape.view(kept, kept.shape(), false);
  }
}

// The physical order is [B,T,H,d]; a gradient that lies otherwise is copied.
Tensor turned_in_place(Tape& t, const Tensor& x, const char* what) {
  const bool exchanges = x.dim(1).value() > 1 && x.dim(2).value() > 1;
  if (x->swapped || !exchanges) return t.view(x, x.shape(), x->swapped);
  Tensor copy = t.output(x.shape(), x.dtype(), what, true);
  return copy;
}

void of_rope(BackwardCall& call) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (call.grads[i]) {
      call.results[i] = turned_in_place(call.tape, call.grads[i], "gradient, heads exchanged");
    }
  }
}

constexpr Rule kRmsNorm{"Liger's RMS norm", "liger_kernel/ops/rms_norm.py", of_rms_norm};
constexpr Rule kSiluMul{"Liger's SwiGLU", "liger_kernel/ops/swiglu.py", of_silu_mul};
constexpr Rule kRope{"Liger's rotation", "liger_kernel/ops/rope.py", of_rope};

}  // namespace

Tensor liger_rms_norm(Tape& t, Tensor x, const Tensor& weight) {
  Tensor input = dense(t, x);
  Recording recording(t, kRmsNorm, {&x, &weight});
  Tensor out = t.output(input.shape(), input.dtype(), "norm's output");
  Tensor scale = t.output(t.shape({input.shape().rows()}), Dtype::kFloat32,
                          "reciprocal deviation of each row");
  recording.save(input);
  recording.save(weight);
  recording.save(scale);
  out->view = true;
  recording.outputs({&out});
  return out;
}

Tensor liger_silu_mul(Tape& t, Tensor gate, Tensor up) {
  Recording recording(t, kSiluMul, {&gate, &up});
  Tensor a = dense(t, gate), b = dense(t, up);
  Tensor out = t.output(a.shape(), a.dtype(), "activated gate times up");
  recording.save(a);
  recording.save(b);
  recording.outputs({&out});
  return out;
}

LigerRotated liger_rope(Tape& t, Tensor q, Tensor k, const Tensor& cos, const Tensor& sin) {
  Recording recording(t, kRope, {&q, &k});
  LigerRotated out;
  out.q = turned_in_place(t, q, "query states, rotated");
  out.k = turned_in_place(t, k, "key states, rotated");
  recording.save(cos);
  recording.save(sin);
  recording.outputs({&out.q, &out.k});
  return out;
}

}  // namespace ledger::ops
