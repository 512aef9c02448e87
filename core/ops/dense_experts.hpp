// Operators of llama4's experts, each of which computes every token.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

// torch.full_like(like, c).scatter_(1, indices, values)
Tensor scattered(Tape& t, const Tensor& like, Tensor values, Tensor indices);
Tensor repeat_rows(Tape& t, Tensor x, Count times);  // [N,d] -> [E·N,d]
Tensor as_rows_by_expert(Tape& t, Tensor x);         // [N,E] -> [E·N,1], a copy
Tensor by_expert(Tape& t, Tensor x, Count experts);  // [E·N,d] -> [E,N,d], a view
Tensor one_after_another(Tape& t, Tensor x);         // [E,N,d] -> [E·N,d], a view
// torch.bmm: x [E,N,in], weight [E,in,out].
Tensor batched_experts(Tape& t, const Tensor& x, const Tensor& weight);

}  // namespace ledger::ops
