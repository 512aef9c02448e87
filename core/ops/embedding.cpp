// The gradient of an embedding is as large as the table; beyond 3,072 tokens it is made by sorting.
#include "core/ops/embedding.hpp"

#include <cmath>

#include "core/ops/routing.hpp"
#include "core/reduction.hpp"

namespace ledger::ops {
namespace {

constexpr double kSortBeyond = 3072;      // tokens; aten/src/ATen/native/cuda/Embedding.cu
constexpr double kRowsOfPartialSum = 10;  // aten/src/ATen/native/cuda/EmbeddingBackwardKernel.cu

int capability(const Tape& t) { return t.device().compute_major * 10 + t.device().compute_minor; }

// Items that one tile of cub's unique-by-key takes.
double unique_tile(const Tape& t) {
  const int cc = capability(t);
  if (cc >= 90) return 78848;
  return cc == 75 || (cc >= 86 && cc < 90) ? 5120 : 21504;
}

Tensor gradient_by_sorting(Tape& t, Count tokens, Shape table, Dtype dtype) {
  const Count vocabulary = table[0], width = table[1];
  const Count ids_bytes = Count(8) * tokens;
  // At most one segment a token, and one a row of the table.
  const Count segments = minimum(tokens, vocabulary);
  const Count partials = floor_div(tokens, kRowsOfPartialSum) + segments;
  Tensor sorted = t.bytes(ids_bytes, "token ids, sorted");
  Tensor order = t.bytes(ids_bytes, "order of the sorted ids");
  Tensor range = t.bytes(ids_bytes, "positions");
  Tensor space = t.bytes(sort_space(t, tokens, significant_bits(vocabulary.value())),
                         "working space of the sort");
  space.reset();
  range.reset();
  Tensor gradient = t.output(table, dtype, "gradient of the embedding");
  Tensor offsets = t.bytes(ids_bytes, "offsets of the segments");
  Tensor segment_count = t.bytes(8, "number of segments");
  Tensor positions = t.bytes(ids_bytes, "positions");
  space = t.bytes(scan_space(tokens, unique_tile(t)), "working space of a scan");
  positions.reset();
  space.reset();
  Tensor per_segment = t.bytes(Count(8) * segments, "partial sums of each segment");
  Tensor partial_offsets = t.bytes(Count(8) * segments, "offsets of the partial sums");
  space = t.bytes(scan_space(segments), "working space of a scan");
  space.reset();
  Tensor partial_count = t.bytes(8, "number of partial sums");
  Tensor starts = t.bytes(Count(8) * partials, "starts of the partial sums");
  // Where ids repeat a lot, sums are kept for each id instead of each partial.
  const double v = vocabulary.value();
  Tensor sums, owners;
  if (30 * v <= tokens.value() && v < 4 * t.device().multiprocessors) {
    owners = t.bytes(Count(8) * partials, "segments of the partial sums");
    if (bytes_of(dtype) == 2) sums = t.bytes(Count(4) * segments * width, "sums in 32 bit");
  } else {
    sums = t.bytes(Count(4) * partials * width, "partial sums in 32 bit");
  }
  return gradient;
}

void of_embedding(BackwardCall& call) {
  const Count tokens = call.saved[0].shape().elements();
  const Shape table = call.node.edges[0].shape;
  const Dtype dtype = call.grads[0].dtype();
  call.results[0] = tokens.value() > kSortBeyond
                        ? gradient_by_sorting(call.tape, tokens, table, dtype)
                        : call.tape.output(table, dtype, "gradient of the embedding");
}

constexpr Rule kEmbedding{"embedding", "derivatives.yaml: embedding", of_embedding};

}  // namespace

Tensor embedding(Tape& t, Tensor ids, Tensor weight) {
  const Shape table = weight.shape();
  return embedding(t, std::move(ids), std::move(weight), table);
}

Tensor embedding(Tape& t, Tensor ids, Tensor weight, Shape table) {
  Recording recording(t, kEmbedding, {&weight});
  if (recording) recording->edges[0].shape = table;
  recording.save(ids);
  Tensor out =
      t.output(t.shape({ids.dim(0), ids.dim(1), weight.dim(1)}), weight.dtype(), "embedded tokens");
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
