// Selection by truth values goes through indices: they are counted, then listed.
// Source: aten/src/ATen/native/cuda/Nonzero.cu, IndexKernel.cpp, Indexing.cu.
#include "core/ops/selection.hpp"

#include "core/ops/routing.hpp"
#include "core/reduction.hpp"

namespace ledger::ops {
namespace {

constexpr double kSingleTile = 4096;       // entries that cub reduces in one block
constexpr double kSelectTile = 2240;       // entries that a tile of cub's selection takes
constexpr double kScanTile = 896;          // truth values that a tile of cub's scan takes
constexpr double kBlocksOfReduction = 10;  // for each multiprocessor, at most

// cub aligns each of its arrays to 256 bytes, and the whole to them once more.
Count aligned(Count bytes) { return round_up(bytes, 256); }

Count space_of_count(const Tape& t, Count entries) {
  if (entries.value() <= kSingleTile) return 1;
  return aligned(Count(4 * kBlocksOfReduction * t.device().multiprocessors)) + Count(255);
}

// Indices of the n of N entries that hold, one number for each of the mask's dimensions.
Tensor nonzero(Tape& t, const Tensor& mask, Count n) {
  const Count entries = mask.shape().elements();
  Tensor count = t.bytes(4, "number of entries that hold");
  t.bytes(space_of_count(t, entries), "working space of a reduction");
  Tensor indices = t.bytes(Count(8.0 * mask.shape().rank()) * n, "indices of entries that hold");
  t.bytes(aligned(Count(8) * (ceil_div(entries, kSelectTile) + Count(32))) + Count(511),
          "working space of a selection");
  return indices;
}

void of_rows_where(BackwardCall& call) {
  Tape& t = call.tape;
  const Tensor& mask = call.saved[0];
  const Edge& edge = call.node.edges[0];
  const Count n = call.grads[0].dim(0);
  const Count rows = mask.shape().elements();
  call.results[0] = t.output(edge.shape, edge.dtype, "gradient with zeros for other rows");
  auto numbers = [&](const char* what) { return t.bytes(Count(8) * n, what); };
  Tensor indices = nonzero(t, mask, n);
  Tensor first = numbers("indices, made positive");
  Tensor linear = numbers("indices times the rows' length");
  first.reset();
  Tensor second = numbers("indices, made positive");
  Tensor sum = numbers("linear indices");
  second.reset();
  sum.reset();
  indices.reset();
  Tensor sorted = numbers("linear indices, sorted");
  Tensor order = numbers("order of the sorted indices");
  Tensor range = numbers("positions");
  const Count space =
      n.value() <= 2048 ? Count(1) : sort_space(t, n, significant_bits(rows.value()));
  t.bytes(space, "working space of the sort");
}

void of_scatter_where(BackwardCall& call) {
  const Tensor& mask = call.saved[0];
  const Count n = call.node.edges[0].shape.elements();
  Tensor indices = nonzero(call.tape, mask, n);
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient of the entries that hold");
}

void of_without_last(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  call.results[0] = call.tape.output(call.node.edges[0].shape, grad.dtype(),
                                     "gradient with zeros for the last token");
}

constexpr Rule kRowsWhere{"rows by truth values", "derivatives.yaml: index.Tensor", of_rows_where};
constexpr Rule kScatterWhere{"scattering by truth values", "derivatives.yaml: masked_scatter",
                             of_scatter_where};
constexpr Rule kWithoutLast{"slice of tokens", "derivatives.yaml: slice.Tensor", of_without_last};

}  // namespace

Tensor without_last_token(Tape& t, Tensor x) {
  Recording recording(t, kWithoutLast, {&x});
  Tensor out = t.view(x, t.shape({x.dim(0), x.dim(1) - Count(1), x.dim(2)}), false);
  recording.outputs({&out});
  return out;
}

Tensor rows_where(Tape& t, Tensor x, const Tensor& mask, Count n) {
  Recording recording(t, kRowsWhere, {&x});
  recording.save(mask);
  Tensor indices = nonzero(t, mask, n);
  Tensor out = t.output(t.shape({n, x.dim(2)}), x.dtype(), "rows that hold");
  recording.outputs({&out});
  return out;
}

Tensor entries_where(Tape& t, Dtype dtype, const Tensor& mask, Count n, const char* what) {
  Tensor indices = nonzero(t, mask, n);
  return t.make(t.shape({n}), dtype, what, Role::kInput);
}

Tensor scatter_where(Tape& t, Tensor x, const Tensor& mask, const char* what) {
  const Count entries = mask.shape().elements();
  Tensor zeros = t.scratch(mask.shape(), x.dtype(), "zeros");
  Recording recording(t, kScatterWhere, {&x});
  recording.save(mask);
  Tensor out = t.output(mask.shape(), x.dtype(), what);
  Tensor sums = t.bytes(Count(8) * entries, "entries that hold, counted so far");
  t.bytes(aligned(Count(16) * (ceil_div(entries, kScanTile) + Count(32))) + Count(511),
          "working space of a scan");
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
