// What goes into linear attention: parts of a joint projection, the convolution over the tokens.
#include "core/ops/cast.hpp"
#include "core/ops/linear_attention.hpp"

namespace ledger::ops {
namespace {

// The kernel takes its input in order; the weight's gradient is made first.
void of_convolution(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  const Shape x = call.node.edges[0].shape;
  Tensor whole = t.output(call.node.shape, dtype, "gradient of a slice, zeros around it");
  call.grads[0].reset();
  Tensor dense = t.scratch(x, dtype, "input in contiguous order");
  if (call.needs(1)) {
    call.results[1] = t.output(call.node.edges[1].shape, dtype, "gradient of the weight");
  }
  if (!call.needs(0)) return;
  call.results[0] = t.output(x, dtype, "gradient of the input");
  call.results[0]->columns_first = true;  // [B,c,T] in memory
}

void of_masked_tokens(BackwardCall& call) {
  call.results[0] =
      call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(), "gradient without padding");
}

void parts_side_by_side(BackwardCall& call) {
  const Dtype dtype = call.node.edges[0].dtype;
  call.results[0] =
      call.tape.output(call.node.edges[0].shape, dtype, "gradients of the parts, side by side");
}

void views_of_parts(BackwardCall& call) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (!call.node.edges[i].node) continue;
    call.results[i] = call.tape.view(call.grads[0], call.node.edges[i].shape, false);
    call.results[i]->sliced = true;
  }
}

void seen_back(BackwardCall& call) {
  call.results[0] = call.tape.view(call.grads[0], call.node.edges[0].shape, false);
  call.results[0]->sliced = call.grads[0]->sliced;
}

constexpr Rule kConvolution{"convolution", "aten: convolution_backward", of_convolution};
constexpr Rule kMaskTokens{"product with a mask", "derivatives.yaml: mul.Tensor", of_masked_tokens};
constexpr Rule kParts{"split", "derivatives.yaml: split_with_sizes", parts_side_by_side};
constexpr Rule kJoined{"concatenation", "derivatives.yaml: cat", views_of_parts};
constexpr Rule kRegrouped{"view", "derivatives.yaml: view", seen_back};

}  // namespace

std::array<Tensor, 4> split_four(Tape& t, Tensor x, Count outer, Count inner) {
  Recording recording(t, kParts, {&x});
  std::array<Tensor, 4> parts;
  for (std::size_t i = 0; i < 4; ++i) {
    parts[i] = t.view(x, x.shape().with_last(i < 2 ? outer : inner), false);
    parts[i]->sliced = true;
  }
  recording.outputs({&parts[0], &parts[1], &parts[2], &parts[3]});
  return parts;
}

Tensor regrouped(Tape& t, Tensor x, Shape shape) {
  Recording recording(t, kRegrouped, {&x});
  Tensor out = t.view(x, shape, false);
  out->sliced = x->sliced;
  recording.outputs({&out});
  return out;
}

Tensor concatenate_three(Tape& t, Tensor a, Tensor b, Tensor c) {
  Recording recording(t, kJoined, {&a, &b, &c});
  const Count width = a.shape().last() + b.shape().last() + c.shape().last();
  Tensor out = t.output(a.shape().with_last(width), a.dtype(), "queries, keys and values");
  recording.outputs({&out});
  return out;
}

Tensor causal_convolution(Tape& t, Tensor x, Tensor w, Count kernel) {
  Tensor weight = autocast_operand(t, w);
  Tensor input = autocast_operand(t, x);
  Recording recording(t, kConvolution, {&input, &weight});
  if (weight.needs_grad() || input.needs_grad()) {
    recording.save(input);
    recording.save(weight);
  }
  const Shape padded = t.shape({input.dim(0), input.dim(1) + kernel - 1, input.dim(2)});
  if (recording) recording->shape = padded;
  Tensor dense = t.scratch(input.shape(), input.dtype(), "input in contiguous order");
  Tensor whole = t.output(padded, input.dtype(), "convolution");
  Tensor out = t.view(whole, input.shape(), false);
  recording.outputs({&out});
  return out;
}

Tensor mask_tokens(Tape& t, Tensor x, Tensor mask) {
  Recording recording(t, kMaskTokens, {&x});
  recording.save(mask);
  Tensor out = t.output(x.shape(), x.dtype(), "hidden states without padding");
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
