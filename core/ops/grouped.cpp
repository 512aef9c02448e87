// One kernel for all experts. Its sizes depend on the number of rows only, not on how many go to
// which expert. Source: aten/src/ATen/native/cuda/GroupedBlas.cpp, GroupMM.cu.
#include "core/ops/grouped.hpp"

#include <cmath>
#include <utility>

#include "core/ops/cast.hpp"

namespace ledger::ops {
namespace {

// From compute capability 9.0 to 10.x the bfloat16 kernel (CUTLASS) takes its arguments and a
// workspace from the allocator, after the result. Rows and columns of one expert's product.
void grouped_workspace(Tape& t, Count experts, double rows, double columns, Dtype dtype) {
  const int major = t.device().compute_major;
  if (dtype != Dtype::kBFloat16 || (major != 9 && major != 10)) return;
  // Three arrays of pointers that begin at multiples of 16 bytes, three of strides, and shapes.
  Tensor arguments = t.bytes(Count(3) * round_up(Count(8) * experts, 16) + Count(36) * experts,
                             "arguments of the grouped product");
  const double multiprocessors = t.device().multiprocessors;
  const bool small = rows <= 128 || columns <= 128;
  const double each = major == 9 ? 512 : small ? 5376 : 5888;
  Tensor workspace = t.bytes(Count(each) * t.workings().letter(Letter::S, multiprocessors),
                             "workspace of the grouped product");
}

void of_grouped(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  const Shape weight = call.node.shape;
  const Count experts = weight[0];
  if (call.needs(1)) {
    call.results[1] = t.output(weight, dtype, "gradient of the experts' weights");
    call.results[1]->view = true;
    grouped_workspace(t, experts, weight[1].value(), weight[2].value(), dtype);
  }
  if (call.needs(0)) {
    const Shape x = call.node.edges[0].shape;
    call.results[0] = t.output(x, dtype, "gradient of the input");
    const double rows = std::floor(x[0].value() / experts.value());
    grouped_workspace(t, experts, rows, x[1].value(), dtype);
  }
}

// Zeros of both inputs, in their order and whether they are wanted or not.
void of_fallback(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  Tensor input = t.output(call.saved[0].shape(), dtype, "gradient of the input");
  Tensor weight = t.output(call.node.shape, dtype, "gradient of the experts' weights");
  weight->view = true;
  if (call.needs(0)) call.results[0] = std::move(input);
  if (call.needs(1)) call.results[1] = std::move(weight);
}

constexpr Rule kFallback{"grouped matrix product",
                         "transformers integrations/moe.py: grouped_mm_fallback", of_fallback};
constexpr Rule kGrouped{"grouped matrix product", "derivatives.yaml: _grouped_mm", of_grouped};

}  // namespace

Tensor grouped_product(Tape& t, const Tensor& x, const Tensor& weight, bool input_first,
                       const Tensor& offsets) {
  Tensor input = to(t, x, weight.dtype());
  // Below compute capability 8.0 transformers takes an operator of its own, written in Python.
  const bool fallback = t.device().compute_major < 8;
  Recording recording(t, fallback ? kFallback : kGrouped, {&input, &weight});
  if (recording) recording->shape = weight.shape();
  if (fallback || weight.needs_grad()) recording.save(input);
  if (fallback || input.needs_grad()) recording.save(weight);
  fallback ? recording.keep(offsets) : recording.save(offsets);
  const Count columns = input_first ? weight.dim(2) : weight.dim(1);
  Tensor out = t.output(t.shape({input.dim(0), columns}), input.dtype(), "output of the experts");
  const double rows = std::floor(input.dim(0).value() / weight.dim(0).value());
  grouped_workspace(t, weight.dim(0), rows, columns.value(), input.dtype());
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
