// Views share their storage and cost nothing; what costs is a copy that a view cannot spare.
#include "core/ops/layout.hpp"

#include "core/reduction.hpp"

namespace ledger::ops {
namespace {

// Exchanging dimensions 1 and 2 leaves the memory in order where one of them is 1.
bool swaps(const Tensor& x) { return !x->swapped && x.dim(1).value() > 1 && x.dim(2).value() > 1; }

void merge_gradient(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  const Shape shape = call.node.edges[0].shape;
  if (grad->columns_first) {  // heads and width lie so that they merge without a copy
    call.results[0] = call.tape.view(grad, shape, false);
    call.results[0]->columns_first = true;
    return;
  }
  call.results[0] = grad->swapped || grad->sliced
                        ? call.tape.output(shape, grad.dtype(), "gradient in contiguous order")
                        : call.tape.view(grad, shape, false);
}

void transpose_gradient(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  const bool swapped = !grad->columns_first && swaps(grad);
  call.results[0] = call.tape.view(grad, grad.shape().swapped(), swapped, grad->view);
  call.results[0]->columns_first = grad->columns_first;
  call.results[0]->sliced = grad->sliced;
}

void unchanged(BackwardCall& call) { call.results[0] = call.grads[0]; }

constexpr Rule kView{"view", "derivatives.yaml: view", merge_gradient};
constexpr Rule kTranspose{"transpose", "derivatives.yaml: transpose.int", transpose_gradient};
constexpr Rule kTurned{"transpose", "derivatives.yaml: numpy_T", unchanged};
constexpr Rule kClone{"copy in contiguous order", "derivatives.yaml: clone", unchanged};

Tensor copy(Tape& t, Tensor x, const char* what) {
  Recording recording(t, kClone, {&x});
  Tensor out = t.output(x.shape(), x.dtype(), what);
  recording.outputs({&out});
  return out;
}

}  // namespace

Tensor split_heads(Tape& t, Tensor x, Count heads, Count width) {
  Recording recording(t, kView, {&x});
  Tensor out = t.view(x, t.shape({x.dim(0), x.dim(1), heads, width}), false);
  out->sliced = x->sliced;
  recording.outputs({&out});
  return out;
}

Tensor reshape(Tape& t, Tensor x, Shape shape) {
  Tensor dense = contiguous(t, std::move(x));
  Recording recording(t, kView, {&dense});
  Tensor out = t.view(dense, shape, false);
  recording.outputs({&out});
  return out;
}

Tensor transpose(Tape& t, Tensor x) {
  Recording recording(t, kTranspose, {&x});
  Tensor out = t.view(x, x.shape().swapped(), swaps(x), x->view);
  out->sliced = x->sliced;
  recording.outputs({&out});
  return out;
}

Tensor turned(Tape& t, Tensor x) {
  Recording recording(t, kTurned, {&x});
  Tensor out = t.view(x, x.shape(), false, false);
  recording.outputs({&out});
  return out;
}

Tensor contiguous(Tape& t, Tensor x) {
  if (!x->swapped && !x->sliced) return x;
  return copy(t, std::move(x), "copy in contiguous order");
}

Tensor clone(Tape& t, Tensor x) {
  Recording recording(t, kClone, {&x});
  Tensor out = t.output(x.shape(), x.dtype(), "copy", x->swapped);
  recording.outputs({&out});
  return out;
}

Tensor merge_heads(Tape& t, Tensor x) {
  const Shape shape = t.shape({x.dim(0), x.dim(1), x.dim(2) * x.dim(3)});
  return reshape(t, std::move(x), shape);
}

Tensor fold_heads(Tape& t, Tensor x) {
  if (!(x->swapped || x->broadcast) || x.dim(0).value() == 1) return x;
  return copy(t, std::move(x), "operand of a batched product, in contiguous order");
}

}  // namespace ledger::ops
