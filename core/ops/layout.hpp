// Operators that look at a tensor in another way, and the copies that this sometimes costs.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

Tensor split_heads(Tape& t, Tensor x, Count heads, Count width);  // [B,T,H·d] -> [B,T,H,d], a view
Tensor reshape(Tape& t, Tensor x, Shape shape);  // of a contiguous tensor, a view
Tensor transpose(Tape& t, Tensor x);    // dimensions 1 and 2 of four exchanged, a view
Tensor contiguous(Tape& t, Tensor x);   // a copy where the dimensions lie exchanged in memory
Tensor clone(Tape& t, Tensor x);        // a copy in the same order
Tensor merge_heads(Tape& t, Tensor x);  // [B,T,H,d] -> [B,T,H·d], a copy where not contiguous
Tensor narrow_last(Tape& t, Tensor x, Count width);  // a slice of the last dimension, a view
Tensor pad_last(Tape& t, Tensor x, Count width);     // zeros behind the last dimension
Tensor concatenate(Tape& t, Tensor a, Tensor b);  // of two halves along the last dimension
// Each key/value head n times: [B,K,T,d] -> [B,n·K,T,d]. One head alone is only broadcast.
Tensor repeat_heads(Tape& t, Tensor x, Count heads);
// The same as a copy always, as torch.repeat_interleave makes it.
Tensor repeat_interleave(Tape& t, Tensor x, Count heads);
// [B,H,·,·] -> [B·H,·,·] for a batched product: a copy where the memory's order does not allow it.
Tensor fold_heads(Tape& t, Tensor x);

struct Halves {
  Tensor first, second;
};
Halves chunk(Tape& t, Tensor x);  // the last dimension cut into two, views

}  // namespace ledger::ops
