// Operators that look at a tensor in another way, and the copies that this sometimes costs.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

Tensor split_heads(Tape& t, Tensor x, Count heads, Count width);  // [B,T,H·d] -> [B,T,H,d], a view
Tensor transpose(Tape& t, Tensor x);             // dimensions 1 and 2 of four exchanged, a view
Tensor reshape(Tape& t, Tensor x, Shape shape);  // a view, or a view of a copy where not contiguous
Tensor turned(Tape& t, Tensor x);       // a matrix by its transpose, still written as [out,in]
Tensor contiguous(Tape& t, Tensor x);   // a copy where the dimensions lie exchanged in memory
Tensor clone(Tape& t, Tensor x);        // a copy in the same order
Tensor merge_heads(Tape& t, Tensor x);  // [B,T,H,d] -> [B,T,H·d], a copy where not contiguous
Tensor narrow_last(Tape& t, Tensor x, Count width);   // a slice of the last dimension, a view
Tensor narrow_heads(Tape& t, Tensor x, Count heads);  // a slice of dimension 2 of four, a view
Tensor pick_heads(Tape& t, Tensor x,
                  Count heads);  // some of dimension 2, by a list of one index: a copy
Tensor spread_heads(Tape& t, Tensor x, Count heads);  // each of dimension 2 repeated, in a copy
// Parts of the last dimension, two or three, as views; one gradient for all of them.
std::array<Tensor, 3> split_parts(Tape& t, Tensor x, std::initializer_list<Count> widths);
Tensor pad_last(Tape& t, Tensor x, Count width);  // zeros behind the last dimension
Tensor concatenate(Tape& t, Tensor a, Tensor b);  // along the last dimension
Tensor every_second(Tape& t, Tensor x);           // x[..., ::2], a view
// One head for all: [B,1,T,d] -> [B,H,T,d], a view.
Tensor expand_heads(Tape& t, Tensor x, Count heads);
// One number a head for each row of scores: [H] -> [B,H,T,1], a view.
Tensor expand_over_rows(Tape& t, Tensor x, Count batch, Count length);
// An empty tensor filled slice by slice, in place: y[..., :m] = a; y[..., m:] = b.
Tensor fill_slices(Tape& t, const Tensor& a, const Tensor& b);
// Each key/value head n times: [B,K,T,d] -> [B,n·K,T,d]. One head alone is only broadcast.
Tensor repeat_heads(Tape& t, Tensor x, Count heads);
// The same as a copy always, as torch.repeat_interleave makes it.
Tensor repeat_interleave(Tape& t, Tensor x, Count heads);
// [B,H,·,·] -> [B·H,·,·] for a batched product: a copy where the memory's order does not allow it.
Tensor fold_heads(Tape& t, Tensor x);

struct Halves {
  Tensor first, second;
};
Halves chunk(Tape& t, Tensor x);                    // the last dimension cut into two, views
Halves split_last(Tape& t, Tensor x, Count first);  // after so many entries

}  // namespace ledger::ops
