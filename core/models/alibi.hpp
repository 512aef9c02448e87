// A bias of the scores that grows with distance, in place of rotated or learned positions.
#pragma once

#include "core/models/decoder.hpp"

namespace ledger::models {

// build_alibi_tensor for an attention_mask [B,T]: [B,H,1,T] in `dtype`. `narrow_slopes`: slopes are
// cast to bfloat16 first.
Tensor alibi_of(Tape& t, const Tensor& mask, Count heads, Dtype dtype, bool narrow_slopes);

}  // namespace ledger::models
