// Collectives as torch.distributed's functional ones allocate them: every result is a new tensor.
// Source: torch/distributed/_functional_collectives.py,
// torch/distributed/tensor/placement_types.py.
#include "core/ops/collective.hpp"

#include "core/ops/embedding.hpp"

namespace ledger::ops {
namespace {

// Sums over all ranks.
Tensor all_reduce(Tape& t, const Tensor& x, const char* what) {
  return t.output(x.shape(), x.dtype(), what);
}

// Along the tokens: parts come one after the other, and are put side by side where there are
// several sequences.
Tensor all_gather(Tape& t, const Tensor& x, Shape whole, const char* what) {
  Tensor parts = t.output(whole, x.dtype(), what);
  if (x.dim(0).value() == 1) return parts;
  return t.output(whole, x.dtype(), what);
}

// Along the tokens: each rank's part is copied to lie in one piece first.
Tensor reduce_scatter(Tape& t, const Tensor& x, Shape part, const char* what) {
  Tensor ordered = t.scratch(x.shape(), x.dtype(), "each rank's tokens in one piece");
  return t.output(part, x.dtype(), what);
}

void handed_on(BackwardCall& call) { call.results[0] = std::move(call.grads[0]); }
void of_whole_input(BackwardCall& call) {
  call.results[0] = all_reduce(call.tape, call.grads[0], "gradient, summed over ranks");
}
void of_tokens_scattered(BackwardCall& call) {
  call.results[0] =
      all_gather(call.tape, call.grads[0], call.node.edges[0].shape, "gradient of all tokens");
}
void of_tokens_gathered(BackwardCall& call) {
  call.results[0] = reduce_scatter(call.tape, call.grads[0], call.node.edges[0].shape,
                                   "gradient of this rank's tokens");
}
void of_columns_gathered(BackwardCall& call) {
  const Edge& edge = call.node.edges[0];
  call.results[0] = call.tape.output(edge.shape, edge.dtype, "gradient of this rank's columns");
}

constexpr Rule kWholeInput{"input of all ranks",
                           "torch/distributed/tensor/parallel/style.py: ColwiseParallel",
                           of_whole_input};
constexpr Rule kAllReduce{"all-reduce",
                          "torch/distributed/tensor/parallel/style.py: RowwiseParallel", handed_on};
constexpr Rule kReduceScatter{"reduce-scatter of tokens",
                              "torch/distributed/tensor/parallel/style.py: RowwiseParallel",
                              of_tokens_scattered};
constexpr Rule kAllGather{"all-gather of tokens",
                          "torch/distributed/tensor/parallel/style.py: PrepareModuleInput",
                          of_tokens_gathered};
constexpr Rule kGatherColumns{"all-gather of columns",
                              "torch/distributed/tensor/parallel/style.py: ColwiseParallel",
                              of_columns_gathered};
constexpr Rule kDistributed{"as a DTensor", "torch/distributed/tensor/_api.py: from_local",
                            handed_on};
constexpr Rule kMask{"which ids are this rank's",
                     "torch/distributed/tensor/placement_types.py: _MaskPartial"};

Tensor same(Tape& t, const Rule& rule, const Tensor& x) {
  Recording recording(t, rule, {&x});
  Tensor out = t.view(x, x.shape(), x->swapped, x->view);
  recording.outputs({&out});
  return out;
}

Shape with_tokens(Tape& t, const Tensor& x, Count tokens) {
  return t.shape({x.dim(0), tokens, x.dim(2)});
}

Tensor scattered(Tape& t, const Tensor& x, Count ranks) {
  Recording recording(t, kReduceScatter, {&x});
  Tensor out =
      reduce_scatter(t, x, with_tokens(t, x, x.dim(1) / ranks), "sum of this rank's tokens");
  recording.outputs({&out});
  return out;
}

Tensor gathered(Tape& t, const Tensor& x, Count ranks) {
  Recording recording(t, kAllGather, {&x});
  Tensor out = all_gather(t, x, with_tokens(t, x, x.dim(1) * ranks), "all tokens");
  out->distributed = true;
  recording.outputs({&out});
  return out;
}

Tensor gathered_columns(Tape& t, const Tensor& x, Count ranks) {
  Recording recording(t, kGatherColumns, {&x});
  const Shape whole = x.shape().with_last(x.shape().last() * ranks);
  Tensor parts = t.scratch(whole, x.dtype(), "all columns, rank by rank");
  Tensor out = t.output(whole, x.dtype(), "all columns");
  recording.outputs({&out});
  return out;
}

Tensor summed(Tape& t, const Tensor& x) {
  Recording recording(t, kAllReduce, {&x});
  Tensor out = all_reduce(t, x, "sum over ranks");
  recording.outputs({&out});
  return out;
}

}  // namespace

Tensor exchanged(Tape& t, Exchange exchange, Tensor x, Count ranks) {
  switch (exchange) {
    case Exchange::kNone: break;
    case Exchange::kSumGradients: return same(t, kWholeInput, x);
    case Exchange::kSum: return summed(t, x);
    case Exchange::kSumScatter: return scattered(t, x, ranks);
    case Exchange::kGatherTokens: return gathered(t, x, ranks);
    case Exchange::kGatherColumns: return gathered_columns(t, x, ranks);
  }
  return x;
}

Tensor distributed(Tape& t, Tensor x) {
  Tensor out = same(t, kDistributed, x);
  out->distributed = true;
  return out;
}

OwnIds own_ids(Tape& t, Count count) {
  const Recording recording(t, kMask, {});
  OwnIds out;
  Tensor below = t.bytes(count, "ids below this rank's");
  Tensor above = t.bytes(count, "ids above this rank's");
  out.others = t.bytes(count, "ids of other ranks");
  below.reset();
  above.reset();
  Tensor copy = t.bytes(Count(8) * count, "copy of the ids");
  out.ids = t.bytes(Count(8) * count, "ids, counted from this rank's first");
  return out;
}

Tensor embedding_of_part(Tape& t, Tensor ids, Tensor part, Shape table, bool scatters,
                         Count ranks) {
  OwnIds own = own_ids(t, ids.shape().elements());
  Tensor summand = embedding(t, std::move(ids), std::move(part), table);
  own.ids.reset();
  own.others.reset();
  return exchanged(t, scatters ? Exchange::kSumScatter : Exchange::kSum, std::move(summand), ranks);
}

}  // namespace ledger::ops
