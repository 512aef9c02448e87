// Layer norm keeps its input and two numbers a row. Autocast runs it in 32 bit.
#include "core/ops/norm.hpp"

#include <cmath>

#include "core/ops/cast.hpp"
#include "core/ops/layout.hpp"
#include "core/reduction.hpp"

namespace ledger::ops {
namespace {

// Very many short rows: weight and bias are summed in blocks of rows first, then over the blocks.
// Source: aten/src/ATen/native/cuda/layer_norm_kernel.cu, LaunchGammaBetaBackwardCUDAKernel.
bool sums_in_blocks(const Tape& t, double rows, double width) {
  return rows > 64 * 1024 && std::floor(width / 32) < t.device().multiprocessors / 2;
}

Shape blocks_of(Tape& t, Count rows, Count width) {
  const Count most = floor_div(32768, ceil_div(width, 32));
  return t.shape({minimum(ceil_div(rows, 32), most), width});
}

// The kernels want contiguous operands; the copy is not kept.
Tensor in_order(Tape& t, const Tensor& x, const char* what) {
  return x->swapped || x->sliced ? t.scratch(x.shape(), x.dtype(), what) : x;
}

void of_layer_norm(BackwardCall& call) {
  Tape& t = call.tape;
  const Tensor& x = call.saved[0];
  const Tensor& grad = call.grads[0];
  const Count rows = x.shape().rows(), width = x.shape().last();
  Tensor ordered = in_order(t, x, "norm's input in contiguous order");
  if (call.needs(0))
    call.results[0] = t.output(x.shape(), grad.dtype(), "gradient of the norm's input");
  for (const std::size_t input : {std::size_t{1}, std::size_t{2}}) {
    if (!call.needs(static_cast<int>(input))) continue;
    call.results[input] =
        t.output(t.shape({width}), grad.dtype(), "gradient of a norm's parameter");
  }
  Tensor dense = in_order(t, grad, "gradient in contiguous order");
  if (!sums_in_blocks(t, rows.value(), width.value())) return;
  std::array<Tensor, 3> blocks;
  for (const std::size_t input : {std::size_t{1}, std::size_t{2}}) {
    if (!call.results[input]) continue;
    blocks[input] = t.scratch(blocks_of(t, rows, width), grad.dtype(), "sums of blocks of rows");
  }
  for (const std::size_t input : {std::size_t{1}, std::size_t{2}}) {
    if (call.results[input]) call.results[input] = sum_to(t, blocks[input], t.shape({width}));
  }
}

constexpr Rule kLayerNorm{"layer norm", "derivatives.yaml: native_layer_norm", of_layer_norm};

Tensor in_norm_type(Tape& t, Tensor x) {
  return x && t.autocast_enabled() ? to(t, std::move(x), Dtype::kFloat32) : x;
}

}  // namespace

Tensor layer_norm(Tape& t, Tensor x, Tensor w, Tensor b) {
  Tensor bias = in_norm_type(t, b);
  Tensor weight = in_norm_type(t, w);
  Tensor wide = in_norm_type(t, x);
  Recording recording(t, kLayerNorm, {&wide, &weight, &bias});
  Tensor input = in_order(t, wide, "norm's input in contiguous order");
  Tensor out = t.output(input.shape(), input.dtype(), "norm's output");
  const Shape per_row = t.shape({input.shape().rows()});
  Tensor mean = t.output(per_row, Dtype::kFloat32, "mean of each row");
  Tensor scale = t.output(per_row, Dtype::kFloat32, "reciprocal deviation of each row");
  recording.save(wide);
  recording.save(mean);
  recording.save(scale);
  if (weight) recording.save(weight);
  if (bias) recording.save(bias);
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
