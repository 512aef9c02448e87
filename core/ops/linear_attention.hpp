// Operators of linear attention: a causal convolution over the tokens, sums along them, and
// triangular systems.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

// The last dimension cut into two of `outer` and two of `inner`, views with one gradient.
std::array<Tensor, 4> split_four(Tape& t, Tensor x, Count outer, Count inner);
// Another shape where a slice's rows need no copy for it.
Tensor regrouped(Tape& t, Tensor x, Shape shape);
Tensor concatenate_three(Tape& t, Tensor a, Tensor b, Tensor c);  // along the last dimension
// F.conv1d with one filter a channel and padding, cut to the tokens: x [B,c,T] seen as [B,T,c],
// weight [c,1,w].
Tensor causal_convolution(Tape& t, Tensor x, Tensor weight, Count kernel);
// x.to(dtype, memory_format=torch.contiguous_format): nothing happens if the type is that already.
Tensor to_in_order(Tape& t, Tensor x, Dtype dtype);
// x * mask[:, :, None] for an attention_mask [B,T].
Tensor mask_tokens(Tape& t, Tensor x, Tensor mask);
Tensor narrow_tokens(Tape& t, Tensor x, Count length);  // x[:, :, :T] of [B,H,·,d], a view
// F.pad along the tokens [B,H,T,d] to that many: a copy even where nothing is added.
Tensor pad_tokens(Tape& t, Tensor x, Count length);
Tensor running_sum_last(Tape& t, Tensor x);  // x.cumsum(-1)
// torch.linalg.solve_triangular(a, b): a [·,·,C,C], b [·,·,C,d].
Tensor solve_triangular(Tape& t, Tensor a, Tensor b);

// [B,H,T,d] cut into chunks: [B·H,n,C,d], a view. `copies_back`: its gradient comes in another
// order and is copied.
Tensor into_chunks(Tape& t, Tensor x, Count chunk, bool copies_back = false);
Tensor out_of_chunks(Tape& t, Tensor x, Shape shape);  // a copy: solutions lie column by column
Tensor select(Tape& t, Tensor x);                      // x[:, i:i+1] of four dimensions, a view
Tensor select_last(Tape& t, Tensor x);  // the last entry of each row [·,·,C,1] -> [·,·,1,1], a view
Tensor as_column(Tape& t, Tensor x);   // [B,T,H] -> [B,T,H,1], a view
Tensor unsqueezed(Tape& t, Tensor x);  // [B,H,T,1] from [B,H,T], by the same shape here, a view
Tensor turn(Tape& t, Tensor x);        // the last two of four dimensions exchanged, a view
// y[:, i] = value in place, for a tensor that is filled so.
Tensor copy_into_slice(Tape& t, Tensor base, Tensor value);

}  // namespace ledger::ops
