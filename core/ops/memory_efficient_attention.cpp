// The memory-efficient kernel (CUTLASS): takes masks and 32-bit operands, which flash does not.
#include <algorithm>
#include <cmath>

#include "core/ops/attention_kernels.hpp"

namespace ledger::ops {
namespace {

bool sixteen_bit(Dtype dtype) { return bytes_of(dtype) == 2; }
bool swapped_in_memory(const Tensor& x) { return x.dim(1).value() > 1 && x.dim(2).value() > 1; }

// The tile that the backward kernel works on: rows of queries by columns of keys, and whether the
// gradients of keys and values are summed in memory because they do not fit into registers.
// Source: kernels compiled for aten/src/ATen/native/transformers/cuda/mem_eff_attention.
struct Tile {
  double queries, keys;
  bool sums_in_memory;
};

Tile backward_tile(const Device& device, double width, bool half) {
  const int cc = device.compute_major * 10 + device.compute_minor;
  // 164 KiB of shared memory a block and more.
  const bool large = cc == 80 || cc == 87 || (cc >= 90 && cc < 120);
  if (width <= 64) return {64, 64, false};
  if (!half) return {large ? 128.0 : 64.0, 64, false};
  if (width > 128) return {128, 64, true};
  if (large) return {128, 128, false};
  if (cc < 80 || (width <= 96 && (cc == 86 || cc == 89))) return {128, 64, false};
  return {64, 64, true};
}

// 32-bit sums of the queries' gradient with a lock a tile, and of the keys' and values' where the
// tile says so; all per batch and head, in 16-byte steps.
Tensor backward_workspace(Tape& t, const Tensor& q, Count value_width, bool half) {
  const Count batch = q.dim(0), heads = q.dim(1), length = q.dim(2), width = q.dim(3);
  const Tile tile = backward_tile(t.device(), width.value(), half);
  const Count query_tile = tile.queries, key_tile = tile.keys;
  Count floats = ceil_div(length, query_tile) * ceil_div(width, key_tile) *
                 (Count(4) + Count(tile.queries * tile.keys));
  if (tile.sums_in_memory) {
    const double batch_heads = batch.value() * heads.value();
    double pieces = std::ceil(length.value() / tile.keys);
    if (batch_heads >= 256 && length.value() <= 2 * tile.keys) pieces = 1;
    pieces = std::max(1.0, std::min(pieces, std::floor(200 / batch_heads)));
    const Count columns = round_up(width, query_tile) + round_up(value_width, query_tile);
    floats = t.workings().named("s", pieces) * key_tile * columns + floats;
  }
  return t.scratch(t.shape({batch, heads, round_up(floats, 4)}), Dtype::kFloat32,
                   "32-bit sums of gradients");
}

void of_memory_efficient(BackwardCall& call) {
  Tape& t = call.tape;
  const Tensor &q = call.saved[0], &k = call.saved[1], &v = call.saved[2];
  const Dtype dtype = call.grads[0].dtype();
  const Count batch = q.dim(0), heads = q.dim(1), length = q.dim(2);
  call.results[0] = t.output(q.shape(), dtype, "gradient of the queries", swapped_in_memory(q));
  call.results[1] = t.output(k.shape(), dtype, "gradient of the keys", swapped_in_memory(k));
  call.results[2] = t.output(v.shape(), dtype, "gradient of the values", swapped_in_memory(v));
  Tensor expanded_keys, expanded_values;
  if (heads.value() != k.dim(1).value()) {
    expanded_keys = t.scratch(q.shape(), dtype, "keys' gradient for every head");
    expanded_values =
        t.scratch(q.shape().with_last(v.dim(3)), dtype, "values' gradient for every head");
  }
  const Shape per_row = t.shape({batch, heads, length});
  Tensor delta;
  if (sixteen_bit(dtype)) {
    delta = t.scratch(per_row, Dtype::kFloat32, "row sums of gradient and output");
  } else {  // by ordinary operators
    Tensor product =
        t.scratch(q.shape().with_last(v.dim(3)), Dtype::kFloat32, "gradient times output");
    Tensor sums = t.scratch(per_row, Dtype::kFloat32, "row sums of gradient and output");
    delta =
        swapped_in_memory(q) ? t.scratch(per_row, Dtype::kFloat32, "row sums, transposed") : sums;
  }
  Tensor workspace = backward_workspace(t, q, v.dim(3), sixteen_bit(dtype));
}

constexpr Rule kMemoryEfficient{"memory-efficient attention",
                                "aten: _scaled_dot_product_efficient_attention",
                                of_memory_efficient};

// The boolean mask as an additive bias in the operands' type, rows padded to whole eights.
Tensor bias_of(Tape& t, const Tensor& mask, Count batch, Dtype dtype) {
  Tensor bias = mask;
  // A mask that all sequences share is copied for each of them.
  const Shape shape = t.shape({batch, mask.dim(1), mask.dim(2), mask.dim(3)});
  if (mask.dtype() == Dtype::kBool) {
    Tensor zero = t.scratch(t.shape({1}), dtype, "scalar");
    Tensor minus_infinity = t.scratch(t.shape({1}), dtype, "scalar");
    bias = t.output(shape, dtype, "mask as a bias of the scores");
  }
  const Count length = mask.shape().last();
  constexpr double kStep = 8;  // elements of any type; attention.cpp, pad_bias
  if (std::fmod(length.value(), kStep) == 0) return bias;
  return t.output(shape.with_last(round_up(length, kStep)), dtype,
                  "mask as a bias, rows padded to eights");
}

}  // namespace

Tensor memory_efficient_attention(Tape& t, Tensor q, Tensor k, Tensor v, Tensor mask,
                                  bool wants_gradient, bool dropout) {
  Recording recording(t, kMemoryEfficient, {&q, &k, &v});
  const Count batch = q.dim(0), heads = q.dim(1), length = q.dim(2), width = v.dim(3);
  Tensor bias = mask ? bias_of(t, mask, batch, q.dtype()) : Tensor();
  Tensor seed, offset;
  if (!dropout) {  // else they are numbers on the host
    seed = t.output(t.shape({1}), Dtype::kInt64, "random seed");
    offset = t.output(t.shape({1}), Dtype::kInt64, "random offset");
  }
  Tensor out =
      t.output(q.shape().with_last(width), q.dtype(), "attention output", swapped_in_memory(q));
  Tensor log_sums;
  if (wants_gradient) {
    log_sums = t.output(t.shape({batch, heads, round_up(length, 32)}), Dtype::kFloat32,
                        "log of the row sums, for attention's backward");
  }
  if (std::max(q.dim(3).value(), width.value()) > 128 && sixteen_bit(q.dtype())) {
    Tensor sums = t.scratch(t.shape({batch, length, heads, width}), Dtype::kFloat32,
                            "32-bit sums of the output");
  }
  for (const Tensor* saved : {&q, &k, &v, &bias, &out, &log_sums, &seed, &offset}) {
    if (*saved) recording.save(*saved);
  }
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
