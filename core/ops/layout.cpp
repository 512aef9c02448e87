// Views share their storage and cost nothing; what costs is a copy that a view cannot spare.
#include "core/ops/layout.hpp"

namespace ledger::ops {
namespace {

// Exchanging dimensions 1 and 2 leaves the memory in order where one of them is 1.
bool swaps(const Tensor& x) {
  return !x->swapped && x.dim(1).value() > 1 && x.dim(2).value() > 1;
}

void merge_gradient(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  const Shape shape = call.node.edges[0].shape;
  // Heads and their width merge without a copy where tokens lie innermost.
  call.results[0] = grad->swapped && !grad->columns_first
                        ? call.tape.output(shape, grad.dtype(), "gradient in contiguous order")
                        : call.tape.view(grad, shape, false);
}

void split_gradient(BackwardCall& call) {
  call.results[0] = call.tape.view(call.grads[0], call.node.edges[0].shape, false, false);
}

void transpose_gradient(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  call.results[0] = call.tape.view(grad, grad.shape().swapped(), swaps(grad), grad->view);
}

void unchanged(BackwardCall& call) { call.results[0] = call.grads[0]; }

void zeros_around(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient of a slice, zeros around it");
}

void without_padding(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  call.results[0] = call.tape.output(call.node.edges[0].shape, grad.dtype(),
                                     "gradient without the padding", grad->swapped);
}

void views_of_halves(BackwardCall& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.node.edges[i].node) {
      call.results[i] = call.tape.view(call.grads[0], call.node.edges[i].shape, false);
    }
  }
}

void sum_of_repeats(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient summed over repeated heads");
}

void reshaped_gradient(BackwardCall& call) {
  call.results[0] = call.tape.view(call.grads[0], call.node.edges[0].shape, false);
}

void halves_joined(BackwardCall& call) {
  const Edge& whole = call.node.edges[0];
  const Tensor& half = call.grads[0] ? call.grads[0] : call.grads[1];
  call.results[0] = call.tape.output(whole.shape, half.dtype(), "gradients of the halves, joined");
}

constexpr Rule kReshape{"view", "derivatives.yaml: view", reshaped_gradient};
constexpr Rule kChunk{"chunk", "derivatives.yaml: split.Tensor", halves_joined};
constexpr Rule kSplit{"view", "derivatives.yaml: view", merge_gradient};
constexpr Rule kMerge{"view", "derivatives.yaml: view", split_gradient};
constexpr Rule kTranspose{"transpose", "derivatives.yaml: transpose.int", transpose_gradient};
constexpr Rule kClone{"copy in contiguous order", "derivatives.yaml: clone", unchanged};
constexpr Rule kSlice{"slice", "derivatives.yaml: slice.Tensor", zeros_around};
constexpr Rule kPad{"padding", "derivatives.yaml: constant_pad_nd", without_padding};
constexpr Rule kConcatenate{"concatenation", "derivatives.yaml: cat", views_of_halves};
constexpr Rule kRepeat{"repeat_kv", "transformers: repeat_kv", sum_of_repeats};

Tensor copy(Tape& t, Tensor x, const char* what) {
  Recording recording(t, kClone, {&x});
  Tensor out = t.output(x.shape(), x.dtype(), what);
  recording.outputs({&out});
  return out;
}

}  // namespace

Tensor split_heads(Tape& t, Tensor x, Count heads, Count width) {
  Recording recording(t, kSplit, {&x});
  Tensor out = t.view(x, t.shape({x.dim(0), x.dim(1), heads, width}), false);
  recording.outputs({&out});
  return out;
}

Tensor reshape(Tape& t, Tensor x, Shape shape) {
  Recording recording(t, kReshape, {&x});
  Tensor out = t.view(x, shape, false);
  recording.outputs({&out});
  return out;
}

Halves chunk(Tape& t, Tensor x) {
  Recording recording(t, kChunk, {&x});
  const Shape shape = x.shape().with_last(x.shape().last() / 2);
  Halves halves{t.view(x, shape, x->swapped), t.view(x, shape, x->swapped)};
  recording.outputs({&halves.first, &halves.second});
  return halves;
}

Tensor transpose(Tape& t, Tensor x) {
  Recording recording(t, kTranspose, {&x});
  Tensor out = t.view(x, x.shape().swapped(), swaps(x), x->view);
  out->sliced = x->sliced;
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
  Tensor dense = contiguous(t, std::move(x));
  Recording recording(t, kMerge, {&dense});
  const Shape shape = t.shape({dense.dim(0), dense.dim(1), dense.dim(2) * dense.dim(3)});
  Tensor out = t.view(dense, shape, false);
  recording.outputs({&out});
  return out;
}

Tensor pad_last(Tape& t, Tensor x, Count width) {
  Recording recording(t, kPad, {&x});
  Tensor out = t.output(x.shape().with_last(width), x.dtype(), "padded with zeros");
  recording.outputs({&out});
  return out;
}

Tensor narrow_last(Tape& t, Tensor x, Count width) {
  Recording recording(t, kSlice, {&x});
  Tensor out = t.view(x, x.shape().with_last(width), x->swapped);
  recording.outputs({&out});
  return out;
}

Tensor concatenate(Tape& t, Tensor a, Tensor b) {
  Recording recording(t, kConcatenate, {&a, &b});
  Tensor out = t.output(a.shape().with_last(a.shape().last() * 2), a.dtype(), "concatenation");
  recording.outputs({&out});
  return out;
}

Tensor repeat_heads(Tape& t, Tensor x, Count heads) {
  if (x.dim(1).value() == heads.value()) return x;
  Recording recording(t, kRepeat, {&x});
  const Shape shape = t.shape({x.dim(0), heads, x.dim(2), x.dim(3)});
  Tensor out;
  if (x.dim(1).value() == 1) {
    out = t.view(x, shape, false);
    out->broadcast = true;
  } else {
    out = t.output(shape, x.dtype(), "heads repeated");
  }
  recording.outputs({&out});
  return out;
}

Tensor repeat_interleave(Tape& t, Tensor x, Count heads) {
  if (x.dim(1).value() == heads.value()) return x;
  Recording recording(t, kRepeat, {&x});
  Tensor out = t.output(t.shape({x.dim(0), heads, x.dim(2), x.dim(3)}), x.dtype(), "heads repeated");
  recording.outputs({&out});
  return out;
}

Tensor fold_heads(Tape& t, Tensor x) {
  if (!(x->swapped || x->broadcast) || x.dim(0).value() == 1) return x;
  return copy(t, std::move(x), "operand of a batched product, in contiguous order");
}

}  // namespace ledger::ops
