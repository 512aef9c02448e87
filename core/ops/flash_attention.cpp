// The flash kernel: keeps q, k, v, its output and one number a row, never a T·T tensor.
#include <algorithm>
#include <cmath>

#include "core/ops/attention_kernels.hpp"

namespace ledger::ops {
namespace {

double ceil_of(double a, double b) { return std::ceil(a / b); }

// Into how many pieces the forward kernel splits the keys when there is too little work for the
// device. Source: flash_attn/flash_api.cpp, num_splits_heuristic; blocks of 64 rows.
int splits(double batch_heads, double queries, double keys, double width, double multiprocessors) {
  constexpr int kMaxSplits = 128;
  const double slots = 2 * multiprocessors;
  const double work = batch_heads * ceil_of(queries, 64);
  const double columns = width <= 64 ? 256 : width <= 128 ? 128 : 64;
  const double blocks = ceil_of(keys, columns);
  if (work >= 0.8 * slots) return 1;
  const int most = static_cast<int>(std::min({double{kMaxSplits}, slots, blocks}));
  auto eligible = [&](int n) { return n == 1 || ceil_of(blocks, n) != ceil_of(blocks, n - 1); };
  auto efficiency = [&](int n) {
    const double waves = work * n / slots;
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (int n = 1; n <= most; ++n) {
    if (eligible(n)) best = std::max(best, efficiency(n));
  }
  for (int n = 1; n <= most; ++n) {
    if (eligible(n) && efficiency(n) >= 0.85 * best) return n;
  }
  return 1;
}

// The width that the kernel works with: whole multiples of 32, of 64 above 128.
Count kernel_width(Count width) { return round_up(width, width.value() <= 128 ? 32 : 64); }

// A copy of a gradient or output that is not [B,T,H,d] in memory.
Tensor in_kernel_order(Tape& t, const Tensor& x, bool swapped) {
  if (swapped || x.dim(1).value() <= 1 || x.dim(2).value() <= 1) return Tensor();
  return t.scratch(x.shape(), x.dtype(), "copy in the kernel's order");
}

void of_flash(BackwardCall& call) {
  Tape& t = call.tape;
  const Tensor &q = call.saved[0], &k = call.saved[1], &v = call.saved[2];
  const Tensor& grad = call.grads[0];
  const Dtype dtype = grad.dtype();
  const Count batch = q.dim(0), heads = q.dim(1), length = q.dim(2), width = q.dim(3);
  Tensor grad_copy = in_kernel_order(t, grad, grad->swapped);
  Tensor out_copy = in_kernel_order(t, grad, q->swapped);
  call.results[0] = t.output(q.shape(), dtype, "gradient of the queries", q->swapped);
  call.results[1] = t.output(k.shape(), dtype, "gradient of the keys", k->swapped);
  call.results[2] = t.output(k.shape(), dtype, "gradient of the values", v->swapped);
  const Count rows = round_up(length, 128);
  Tensor softmax_sums =
      t.scratch(t.shape({batch, heads, rows}), Dtype::kFloat32, "row sums of gradient and output");
  Tensor query_sums = t.scratch(t.shape({batch, rows, heads, kernel_width(width)}), Dtype::kFloat32,
                                "32-bit sums of the queries' gradient");
  Tensor expanded_keys, expanded_values;
  if (heads.value() != k.dim(1).value()) {
    const Shape expanded = t.shape({batch, length, heads, width});
    expanded_keys = t.scratch(expanded, dtype, "keys' gradient for every head");
    expanded_values = t.scratch(expanded, dtype, "values' gradient for every head");
  }
}

constexpr Rule kFlash{"flash attention", "aten: _scaled_dot_product_flash_attention", of_flash};

}  // namespace

Tensor flash_attention(Tape& t, Tensor q, Tensor k, Tensor v, bool dropout) {
  Recording recording(t, kFlash, {&q, &k, &v});
  const Count batch = q.dim(0), heads = q.dim(1), length = q.dim(2), width = q.dim(3);
  // One query of many heads that share keys is taken for as many queries of fewer heads.
  const bool grouped = length.value() == 1 && heads.value() > k.dim(1).value() && !dropout;
  const double blocks_of_heads = grouped ? k.dim(1).value() : heads.value();
  const double queries = grouped ? heads.value() / k.dim(1).value() : length.value();
  Tensor out = t.output(q.shape(), q.dtype(), "attention output", q->swapped);
  Tensor log_sums = t.as("log of the row sums, for attention's backward")
                        .output(t.shape({batch, heads, length}), Dtype::kFloat32, "");
  // The keys are not split where attention drops out.
  const int pieces = dropout ? 1
                             : splits(batch.value() * blocks_of_heads, queries, k.dim(2).value(),
                                      width.value(), t.device().multiprocessors);
  Tensor piece_sums, piece_outputs;
  if (pieces > 1) {
    const Count s = t.workings().named("s", pieces);
    piece_sums = t.scratch(t.shape({s, batch, heads, length}), Dtype::kFloat32,
                           "row sums of each piece of the keys");
    piece_outputs = t.scratch(t.shape({s * batch, heads, length, kernel_width(width)}),
                              Dtype::kFloat32, "output of each piece of the keys");
  }
  Tensor seed = t.output(t.shape({2}), Dtype::kInt64, "random seed");
  Tensor offset = t.output(t.shape({1}), Dtype::kInt64, "random offset");
  piece_sums.reset();
  piece_outputs.reset();
  if (dropout) seed = t.output(t.shape({2}), Dtype::kInt64, "state of the random numbers");
  for (const Tensor* saved : {&q, &k, &v, &out, &log_sums, &seed, &offset}) recording.save(*saved);
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
