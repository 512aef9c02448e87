// What a tensor-parallel rank sends and receives around its parts of a layer: DTensor's
// collectives.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

// What stands before or after a linear whose weight is one rank's part.
enum class Exchange : std::uint8_t {
  kNone,
  kSumGradients,   // before columns: the input is all ranks'; its gradient is summed over them
  kSum,            // after rows: each rank has a summand
  kSumScatter,     // after rows, in sequence parallel: and each keeps its part of the tokens
  kGatherTokens,   // before columns, in sequence parallel
  kGatherColumns,  // after columns, where the whole output is wanted
};

// Puts it around a tensor [B,T,·]; the group has so many ranks.
Tensor exchanged(Tape& t, Exchange exchange, Tensor x, Count ranks);

// A tensor as a DTensor: gradients that meet in one are summed into a new tensor, never in place.
Tensor distributed(Tape& t, Tensor x);

// Ids of which each rank counts its own from 0: those, and a mask of the others'.
struct OwnIds {
  Tensor ids, others;
};
OwnIds own_ids(Tape& t, Count count);

// torch.nn.functional.embedding of a table of which this rank has a part of the rows. The gradient
// is a whole table all the same. `scatters`: each rank keeps its part of the tokens.
Tensor embedding_of_part(Tape& t, Tensor ids, Tensor part, Shape table, bool scatters, Count ranks);

// ForCausalLMLoss within torch's loss_parallel: logits [B,T,V/W] stay where they are.
Tensor causal_lm_loss_of_parts(Tape& t, Tensor logits, const Tensor& num_items_in_batch,
                               bool liger);

}  // namespace ledger::ops
