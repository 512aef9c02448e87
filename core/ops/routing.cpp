// Choosing experts costs little; what costs are the rows that are copied once for each expert that
// a token goes to, and their way back.
#include "core/ops/routing.hpp"

#include <cmath>

#include "core/ops/cast.hpp"

namespace ledger::ops {
namespace {

constexpr double kSmallSort =
    4096;  // items; aten/src/ATen/native/cuda/Sort.cpp should_use_small_sort
constexpr double kSingleTile = 2304;  // items that cub sorts in one tile, without working space
constexpr int kBitsOfInt64 = 64;
constexpr double kSmallScan = 1023;  // bytes; cub's scan of 32-bit integers in one tile

Shape of_length(Tape& t, Count length) { return t.shape({length}); }

void spread_over_row(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient of the chosen, zeros elsewhere");
}

void masked(BackwardCall& call) {
  call.results[0] =
      call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(), "gradient, masked");
}

void of_row_sum(BackwardCall& call) {
  call.results[0] = call.tape.view(call.grads[0], call.node.edges[0].shape, false);
}

// grad / other and -grad · ((self / other) / other), the second first.
void of_division(BackwardCall& call) {
  Tape& t = call.tape;
  const Shape shape = call.grads[0].shape();
  const Dtype dtype = call.grads[0].dtype();
  {
    Tensor quotient = t.scratch(shape, dtype, "step of a derivative's formula");
    Tensor twice = t.scratch(shape, dtype, "step of a derivative's formula");
    Tensor negated = t.scratch(shape, dtype, "step of a derivative's formula");
    call.results[1] = t.output(shape, dtype, "gradient of the divisor");
  }
  call.results[0] = t.output(shape, dtype, "gradient of the dividend");
}

// Gradients of rows that were picked more than once are added up: by sorting the index.
void of_gather(BackwardCall& call) {
  Tape& t = call.tape;
  const Shape rows = call.node.edges[0].shape;
  const Count picked = call.saved[0].shape().elements();
  call.results[0] = t.output(rows, call.grads[0].dtype(), "gradient of the picked rows");
  Tensor wrapped = t.bytes(Count(8) * picked, "index, negative entries wrapped");
  Tensor linear = t.bytes(Count(8) * picked, "index in elements");
  wrapped.reset();
  Tensor range = t.bytes(Count(8) * picked, "positions");
  Tensor sorted = t.bytes(Count(8) * picked, "index, sorted");
  Tensor order = t.bytes(Count(8) * picked, "order of the sorted index");
  const Count bytes = picked.value() <= kSingleTile
                          ? Count(1)
                          : sort_space(t, picked, significant_bits(rows[0].value() - 1));
  Tensor space = t.bytes(bytes, "working space of the sort");
}

void copied_for_each(BackwardCall& call) {
  const Edge& rows = call.node.edges[0];
  call.results[0] =
      call.tape.output(rows.shape, rows.dtype, "gradient of the tokens, once for each expert");
}

constexpr Rule kTopK{"choice of experts", "derivatives.yaml: topk", spread_over_row};
constexpr Rule kRowSum{"sum of each row", "derivatives.yaml: sum.dim_IntList", of_row_sum};
constexpr Rule kRowMaximum{"maximum of each row", "derivatives.yaml: max.dim", spread_over_row};
constexpr Rule kMask{"masking", "derivatives.yaml: masked_fill.Scalar", masked};
constexpr Rule kDivide{"division in place", "derivatives.yaml: div.Tensor", of_division};
constexpr Rule kSort{"sort", "aten/src/ATen/native/cuda/Sort.cpp"};
constexpr Rule kGather{"rows by index", "derivatives.yaml: index.Tensor", of_gather};
constexpr Rule kCount{"tokens of each expert", "aten: histc, cumsum"};
constexpr Rule kInvert{"inverse permutation", "aten: index_put_"};
constexpr Rule kSumOverExperts{"sum over a token's experts",
                               "derivatives.yaml: sum.dim_IntList, view", copied_for_each};

}  // namespace

int significant_bits(double largest) {
  int bits = 0;
  for (double v = largest; v >= 1; v = std::floor(v / 2)) ++bits;
  return bits;
}

Count sort_space(const Tape& t, Count items, int bits) {
  const double passes = std::ceil(bits / 8.0);
  const int cc = t.device().compute_major * 10 + t.device().compute_minor;
  const double tile = cc < 80 ? 2816 : cc < 90 ? 3840 : 4608;
  Count space = Count(1024) * ceil_div(items, tile) + Count(2048 * passes + 511);
  if (passes > 1) space = space + Count(2) * round_up(Count(8) * items, 256);
  return space;
}

TopK top_k(Tape& t, Tensor x, Count k) {
  Recording recording(t, kTopK, {&x});
  const Shape shape = x.shape().with_last(k);
  TopK out;
  out.values = t.output(shape, x.dtype(), "weights of the chosen experts");
  out.indices = t.output(shape, Dtype::kInt64, "chosen experts");
  recording.save(out.indices);
  recording.outputs({&out.values});
  return out;
}

Tensor sum_rows(Tape& t, Tensor x) {
  Recording recording(t, kRowSum, {&x});
  const Dtype dtype = t.autocast_enabled() ? Dtype::kFloat32 : x.dtype();
  Tensor sums = t.output(x.shape().with_last(1), dtype, "sum of each row");
  recording.outputs({&sums});
  return sums;
}

Tensor max_rows(Tape& t, Tensor x) {
  Recording recording(t, kRowMaximum, {&x});
  const Shape shape = x.shape().with_last(1);
  Tensor values = t.output(shape, x.dtype(), "largest of each row");
  Tensor indices = t.output(shape, Dtype::kInt64, "where the largest of each row stands");
  recording.save(indices);
  recording.outputs({&values});
  return values;
}

Tensor mask_rows(Tape& t, Tensor x, Tensor mask) {
  Recording recording(t, kMask, {&x});
  recording.save(mask);
  Tensor out = t.output(x.shape(), x.dtype(), "masked");
  recording.outputs({&out});
  return out;
}

Tensor gather(Tape& t, Tensor x, Tensor indices) {
  Recording recording(t, kTopK, {&x});
  recording.save(indices);
  Tensor out = t.output(indices.shape(), x.dtype(), "weights of the chosen experts");
  recording.outputs({&out});
  return out;
}

Tensor divide_rows(Tape& t, Tensor x, Tensor sums) {
  Recording recording(t, kDivide, {&x, &sums});
  Tensor out = t.view(x, x.shape(), false, false);
  if (recording) {
    Tensor before = t.output(x.shape(), x.dtype(), "weights before they are normalised");
    recording.save(before);
    recording.save(sums);
  }
  recording.outputs({&out});
  return out;
}

Sorted sort(Tape& t, const Tensor& ids) {
  Recording recording(t, kSort, {});
  const Count items = ids.shape().elements();
  const Shape shape = of_length(t, items);
  Sorted out;
  out.values = t.output(shape, Dtype::kInt64, "expert of each row, sorted");
  out.order = t.output(shape, Dtype::kInt64, "order of the sorted rows");
  Tensor work = t.bytes(Count(8) * items, "positions or copy for the sort");
  if (items.value() > kSmallSort) {
    Tensor space = t.bytes(sort_space(t, items, kBitsOfInt64), "working space of the sort");
  }
  return out;
}

Tensor gather_rows(Tape& t, Tensor x, Tensor index) {
  Recording recording(t, kGather, {&x});
  recording.save(index);
  const Count picked = index.shape().elements();
  const Shape shape = x.shape().rank() > 1 ? t.shape({picked, x.dim(1)}) : of_length(t, picked);
  Tensor out = t.output(shape, x.dtype(), "rows by index");
  recording.outputs({&out});
  return out;
}

Tensor to_int32(Tape& t, const Tensor& ids) {
  return to(t.as("expert of each row in 32 bit"), ids, Dtype::kInt32);
}

Tensor histogram(Tape& t, const Tensor& ids, Count bins) {
  Recording recording(t, kCount, {&ids});
  return t.output(of_length(t, bins), Dtype::kInt32, "tokens of each expert");
}

Tensor running_sum(Tape& t, const Tensor& counts) {
  Recording recording(t, kCount, {&counts});
  Tensor out = t.output(counts.shape(), Dtype::kInt32, "where each expert's rows end");
  Tensor space = t.bytes(kSmallScan, "working space of a scan");
  return out;
}

Tensor inverse_permutation(Tape& t, const Tensor& order) {
  Recording recording(t, kInvert, {});
  Tensor out = t.output(order.shape(), Dtype::kInt64, "rows in the tokens' order");
  Tensor range = t.bytes(Count(8) * order.shape().elements(), "positions");
  return out;
}

Tensor sum_over_experts(Tape& t, Tensor x, Count k) {
  Recording recording(t, kSumOverExperts, {&x});
  const Shape shape = t.shape({x.dim(0) / k, x.dim(1)});
  // Autocast has sums put out 32 bit.
  const Dtype dtype = t.autocast_enabled() ? Dtype::kFloat32 : x.dtype();
  Tensor out = t.output(shape, dtype, "sum over a token's experts");
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
