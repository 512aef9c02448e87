// Parts of a tensor as views, parts put together, heads picked and repeated.
#include "core/ops/cast.hpp"
#include "core/ops/layout.hpp"
#include "core/reduction.hpp"

namespace ledger::ops {
namespace {

// A part of the last dimension is dense only where there is but one row.
bool has_rows(const Tensor& x) { return x.shape().rows().value() > 1; }

void zeros_around(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient of a slice, zeros around it");
}

// index_put_ sorts its indices, however few.
void of_index(BackwardCall& call) {
  Tape& t = call.tape;
  auto number = [&] { return t.bytes(8, "number of index_put_"); };
  call.results[0] = t.output(call.node.edges[0].shape, call.grads[0].dtype(),
                             "gradient of an index, zeros around it");
  Tensor expanded = number();
  Tensor linear = number();
  expanded.reset();
  Tensor sorted = number();
  Tensor order = number();
  Tensor range = number();
  Tensor space = t.bytes(1, "working space of the sort");
}

void without_padding(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  call.results[0] = call.tape.output(call.node.edges[0].shape, grad.dtype(),
                                     "gradient without the padding", grad->swapped);
}

void views_of_parts(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  for (std::size_t i = 0; i < 2; ++i) {
    if (!call.node.edges[i].node) continue;
    call.results[i] = call.tape.view(grad, call.node.edges[i].shape, grad->swapped);
    call.results[i]->sliced = true;
  }
}

void parts_side_by_side(BackwardCall& call) {
  // A part that nothing came of is zeros.
  std::size_t first = 0;
  while (!call.grads[first]) ++first;
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[first].dtype(),
                                     "gradients of the parts, side by side");
}

void sum_of_repeats(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient summed over repeated heads");
}

void halves_joined(BackwardCall& call) {
  const Edge& whole = call.node.edges[0];
  const Tensor& half = call.grads[0] ? call.grads[0] : call.grads[1];
  call.results[0] = call.tape.output(whole.shape, half.dtype(), "gradients of the halves, joined");
}

// Two nodes of a copy into a slice, the second first: each clones the gradient of the whole and the
// slice of it that it wrote; the second also makes zeros for what it overwrote.
void of_filled_slices(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  const Shape whole = call.grads[0].shape();
  Tensor below = t.output(whole, dtype, "gradient of what a slice was written into");
  Tensor second = t.output(call.node.edges[1].shape, dtype, "gradient of a slice");
  { Tensor zeros = t.scratch(call.node.edges[1].shape, dtype, "zeros where a slice was written"); }
  call.grads[0].reset();
  Tensor unused = t.output(whole, dtype, "gradient of what a slice was written into");
  call.results[0] = t.output(call.node.edges[0].shape, dtype, "gradient of a slice");
  call.results[1] = std::move(second);
}

void summed_over_rows(BackwardCall& call) {
  Tape& t = call.tape;
  const Shape heads = call.node.edges[0].shape;
  Tensor sum = sum_to(t, std::move(call.grads[0]), t.shape({1, heads[0], 1, 1}));
  call.results[0] = t.view(sum, heads, false);
}

void unchanged(BackwardCall& call) { call.results[0] = call.grads[0]; }

constexpr Rule kExpandRows{"expansion", "derivatives.yaml: expand", summed_over_rows};
constexpr Rule kFillSlices{
    "copies into slices", "torch/csrc/autograd/functions/tensor.cpp: CopySlices", of_filled_slices};
constexpr Rule kChunk{"chunk", "derivatives.yaml: split.Tensor", halves_joined};
constexpr Rule kAlias{"alias", "derivatives.yaml: alias", unchanged};
constexpr Rule kSlice{"slice", "derivatives.yaml: slice.Tensor", zeros_around};
constexpr Rule kSplitLast{"split", "derivatives.yaml: split.Tensor", parts_side_by_side};
constexpr Rule kIndex{"index", "derivatives.yaml: index.Tensor", of_index};
constexpr Rule kPad{"padding", "derivatives.yaml: constant_pad_nd", without_padding};
constexpr Rule kConcatenate{"concatenation", "derivatives.yaml: cat", views_of_parts};
constexpr Rule kRepeat{"repeat_kv", "transformers: repeat_kv", sum_of_repeats};

// A slice of all: the same tensor by another name, through which gradients pass unchanged.
Tensor alias(Tape& t, Tensor x) {
  Recording recording(t, kAlias, {&x});
  Tensor out = t.view(x, x.shape(), x->swapped, x->view);
  out->sliced = x->sliced;
  recording.outputs({&out});
  return out;
}

}  // namespace

Tensor pad_last(Tape& t, Tensor x, Count width) {
  Recording recording(t, kPad, {&x});
  Tensor out = t.output(x.shape().with_last(width), x.dtype(), "padded with zeros");
  recording.outputs({&out});
  return out;
}

Tensor narrow_last(Tape& t, Tensor x, Count width) {
  if (width.value() == x.shape().last().value()) return alias(t, std::move(x));
  Recording recording(t, kSlice, {&x});
  Tensor out = t.view(x, x.shape().with_last(width), x->swapped);
  out->sliced = has_rows(x);
  recording.outputs({&out});
  return out;
}

Tensor narrow_heads(Tape& t, Tensor x, Count heads) {
  Recording recording(t, kSlice, {&x});
  Tensor out = t.view(x, t.shape({x.dim(0), x.dim(1), heads, x.dim(3)}), x->swapped);
  out->sliced = has_rows(x);
  recording.outputs({&out});
  return out;
}

// x[..., [n], :]: the list of indices goes to the device, and what it picks is copied.
Tensor pick_heads(Tape& t, Tensor x, Count heads) {
  Recording recording(t, kIndex, {&x});
  Tensor index = t.output(t.shape({1}), Dtype::kInt64, "index of a head");
  Tensor out =
      t.output(t.shape({x.dim(0), x.dim(1), heads, x.dim(3)}), x.dtype(), "heads picked by index");
  recording.save(index);
  recording.outputs({&out});
  return out;
}

Tensor spread_heads(Tape& t, Tensor x, Count heads) {
  Recording recording(t, kRepeat, {&x});
  Tensor out = t.output(t.shape({x.dim(0), x.dim(1), heads, x.dim(3)}), x.dtype(), "heads spread");
  recording.outputs({&out});
  return out;
}

std::array<Tensor, 3> split_parts(Tape& t, Tensor x, std::initializer_list<Count> widths) {
  Recording recording(t, kSplitLast, {&x});
  std::array<Tensor, 3> parts;
  std::size_t i = 0;
  for (const Count width : widths) {
    parts[i] = t.view(x, x.shape().with_last(width), x->swapped);
    parts[i++]->sliced = has_rows(x);
  }
  if (parts[2]) {
    recording.outputs({&parts[0], &parts[1], &parts[2]});
  } else {
    recording.outputs({&parts[0], &parts[1]});
  }
  return parts;
}

Tensor concatenate(Tape& t, Tensor a, Tensor b) {
  Recording recording(t, kConcatenate, {&a, &b});
  const Count left = a.shape().last(), right = b.shape().last();
  const Count width = left == right ? left * 2 : left + right;
  const Dtype dtype = promoted(a.dtype(), b.dtype());
  Tensor out = t.output(a.shape().with_last(width), dtype, "concatenation");
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
  Tensor out =
      t.output(t.shape({x.dim(0), heads, x.dim(2), x.dim(3)}), x.dtype(), "heads repeated");
  recording.outputs({&out});
  return out;
}

Halves chunk(Tape& t, Tensor x) {
  const Count half = x.shape().last() / 2;
  Recording recording(t, kChunk, {&x});
  const Shape shape = x.shape().with_last(half);
  Halves halves{t.view(x, shape, x->swapped), t.view(x, shape, x->swapped)};
  halves.first->sliced = halves.second->sliced = has_rows(x);
  recording.outputs({&halves.first, &halves.second});
  return halves;
}

Halves split_last(Tape& t, Tensor x, Count first) {
  Recording recording(t, kChunk, {&x});
  const Shape rest = x.shape().with_last(x.shape().last() - first);
  Halves halves{t.view(x, x.shape().with_last(first), x->swapped), t.view(x, rest, x->swapped)};
  recording.outputs({&halves.first, &halves.second});
  return halves;
}

Tensor every_second(Tape& t, Tensor x) { return narrow_last(t, x, x.shape().last() / 2); }

Tensor expand_heads(Tape& t, Tensor x, Count heads) {
  Recording recording(t, kRepeat, {&x});
  Tensor out = t.view(x, t.shape({x.dim(0), heads, x.dim(2), x.dim(3)}), false);
  out->broadcast = true;
  recording.outputs({&out});
  return out;
}

Tensor expand_over_rows(Tape& t, Tensor x, Count batch, Count length) {
  Recording recording(t, kExpandRows, {&x});
  Tensor out = t.view(x, t.shape({batch, x.dim(0), length, 1}), false);
  recording.outputs({&out});
  return out;
}

Tensor fill_slices(Tape& t, const Tensor& a, const Tensor& b) {
  Recording recording(t, kFillSlices, {&a, &b});
  const Count width = a.shape().last() + b.shape().last();
  Tensor out = t.output(a.shape().with_last(width), a.dtype(), "filled slice by slice");
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
