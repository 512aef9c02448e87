// What transformers' fallback of flash-linear-attention is made of: chunks, sums and systems.
#include "core/ops/linear_attention.hpp"

namespace ledger::ops {
namespace {

void cast_back(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  call.results[0] = call.tape.cast_copy(grad.shape(), call.node.edges[0].dtype, grad->swapped);
}

void without_padding(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient without the padding");
}

// The sum of the reversed gradient, reversed.
void of_running_sum(BackwardCall& call) {
  Tape& t = call.tape;
  const Tensor& grad = call.grads[0];
  Tensor reversed = t.scratch(grad.shape(), grad.dtype(), "gradient, reversed");
  Tensor sum = t.scratch(grad.shape(), grad.dtype(), "running sum of the reversed gradient");
  call.results[0] = t.output(grad.shape(), grad.dtype(), "gradient");
}

// cuBLAS takes pointers to the matrices of a batch.
void pointers(Tape& t, Shape a) {
  const Count batch = a[0] * a[1];
  Tensor of_matrices = t.bytes(Count(8) * batch, "pointers to the matrices");
  Tensor of_sides = t.bytes(Count(8) * batch, "pointers to the right sides");
}

void of_triangular(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  const Shape a = call.node.edges[0].shape;
  call.results[1] = t.output(call.node.edges[1].shape, dtype, "gradient of the right side");
  pointers(t, a);
  if (!call.needs(0)) return;
  Tensor product = t.scratch(a, dtype, "gradient of the system, step");
  Tensor negated = t.scratch(a, dtype, "gradient of the system, step");
  product.reset();
  call.results[0] = t.output(a, dtype, "gradient of the system");
}

void back_in_order(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  const Shape shape = call.node.edges[0].shape;
  call.results[0] = call.node.flag || grad->swapped
                        ? call.tape.output(shape, grad.dtype(), "gradient in contiguous order")
                        : call.tape.view(grad, shape, false);
}

void seen_back(BackwardCall& call) {
  call.results[0] = call.tape.view(call.grads[0], call.node.edges[0].shape, false);
}

// What is [B,H,T] in memory merges with more than one sequence by a copy only.
void column_seen_back(BackwardCall& call) {
  seen_back(call);
  call.results[0]->columns_first = call.grads[0]->swapped;
}

void zeros_around(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient of a slice, zeros around it");
}

// The gradients of the whole and of the slice are cloned; what was overwritten gets zeros.
void of_copied_slice(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  const Edge& value = call.node.edges[1];
  Tensor below = t.output(call.node.shape, dtype, "gradient of what a slice was written into");
  Tensor slice = t.output(value.shape, dtype, "gradient of a slice");
  Tensor zeros;
  if (call.needs(0)) {
    zeros = t.scratch(value.shape, dtype, "zeros where a slice was written");
    call.results[0] = std::move(below);
  }
  if (value.dtype != dtype) {
    Tensor cast = t.cast_copy(value.shape, value.dtype, false);
    slice = std::move(cast);
  }
  call.results[1] = std::move(slice);
}

constexpr Rule kChunks{"view", "derivatives.yaml: view", back_in_order};
constexpr Rule kSeen{"view", "derivatives.yaml: view, transpose.int", seen_back};
constexpr Rule kColumn{"view", "derivatives.yaml: transpose.int", column_seen_back};
constexpr Rule kSelect{"selection", "derivatives.yaml: select.int", zeros_around};
constexpr Rule kCopySlice{"copy into a slice",
                          "torch/csrc/autograd/functions/tensor.cpp: CopySlices", of_copied_slice};
constexpr Rule kCast{"cast", "derivatives.yaml: _to_copy", cast_back};
constexpr Rule kPadTokens{"padding", "derivatives.yaml: constant_pad_nd", without_padding};
constexpr Rule kRunningSum{"running sum", "derivatives.yaml: cumsum", of_running_sum};
constexpr Rule kTriangular{"triangular system", "derivatives.yaml: linalg_solve_triangular",
                           of_triangular};

}  // namespace

Tensor to_in_order(Tape& t, Tensor x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  Recording recording(t, kCast, {&x});
  Tensor out = t.cast_copy(x.shape(), dtype, false);
  recording.outputs({&out});
  return out;
}

Tensor narrow_tokens(Tape& t, Tensor x, Count length) {
  Recording recording(t, kSelect, {&x});
  Tensor out = t.view(x, t.shape({x.dim(0), x.dim(1), length, x.dim(3)}), x->swapped);
  out->sliced = true;
  recording.outputs({&out});
  return out;
}

Tensor pad_tokens(Tape& t, Tensor x, Count length) {
  Recording recording(t, kPadTokens, {&x});
  const bool pads = length.value() != x.dim(2).value();
  const Shape shape = pads ? t.shape({x.dim(0), x.dim(1), length, x.dim(3)}) : x.shape();
  Tensor out = t.output(shape, x.dtype(), "padded to whole chunks", !pads && x->swapped);
  recording.outputs({&out});
  return out;
}

Tensor running_sum_last(Tape& t, Tensor x) {
  Recording recording(t, kRunningSum, {&x});
  Tensor out = t.output(x.shape(), x.dtype(), "running sum");
  if (x->swapped) Tensor dense = t.scratch(x.shape(), x.dtype(), "operand in contiguous order");
  recording.outputs({&out});
  return out;
}

Tensor solve_triangular(Tape& t, Tensor a, Tensor b) {
  Recording recording(t, kTriangular, {&a, &b});
  Tensor out = t.output(b.shape(), b.dtype(), "solution");
  pointers(t, a.shape());
  recording.save(a);
  recording.save(out);
  recording.outputs({&out});
  return out;
}

Tensor into_chunks(Tape& t, Tensor x, Count chunk, bool copies_back) {
  Recording recording(t, kChunks, {&x});
  if (recording) recording->flag = copies_back;
  const Shape shape = t.shape({x.dim(0) * x.dim(1), x.dim(2) / chunk, chunk, x.dim(3)});
  Tensor out = t.view(x, shape, x->swapped);
  recording.outputs({&out});
  return out;
}

Tensor out_of_chunks(Tape& t, Tensor x, Shape shape) {
  Recording recording(t, kSeen, {&x});
  Tensor out = t.output(shape, x.dtype(), "chunks joined");
  recording.outputs({&out});
  return out;
}

Tensor select(Tape& t, Tensor x) {
  Recording recording(t, kSelect, {&x});
  Tensor out = t.view(x, t.shape({x.dim(0), 1, x.dim(2), x.dim(3)}), false);
  recording.outputs({&out});
  return out;
}

Tensor select_last(Tape& t, Tensor x) {
  Recording recording(t, kSelect, {&x});
  Tensor out = t.view(x, t.shape({x.dim(0), x.dim(1), 1, 1}), false);
  recording.outputs({&out});
  return out;
}

Tensor as_column(Tape& t, Tensor x) {
  Recording recording(t, kColumn, {&x});
  Tensor out = t.view(x, t.shape({x.dim(0), x.dim(1), x.dim(2), 1}), false, x->view);
  recording.outputs({&out});
  return out;
}

Tensor unsqueezed(Tape& t, Tensor x) {
  Recording recording(t, kSeen, {&x});
  Tensor out = t.view(x, x.shape(), x->swapped);
  recording.outputs({&out});
  return out;
}

Tensor turn(Tape& t, Tensor x) {
  Recording recording(t, kSeen, {&x});
  const Shape shape = t.shape({x.dim(0), x.dim(1), x.dim(3), x.dim(2)});
  Tensor out = t.view(x, shape, false, x->view);
  recording.outputs({&out});
  return out;
}

Tensor copy_into_slice(Tape& t, Tensor base, Tensor value) {
  Recording recording(t, kCopySlice, {&base, &value});
  if (recording) recording->shape = base.shape();
  Tensor out = t.view(base, base.shape(), false, false);
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
