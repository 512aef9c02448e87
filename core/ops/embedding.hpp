// The embedding of token ids.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

Tensor embedding(Tape& t, Tensor ids, Tensor weight);  // [B,T] and [V,d] -> [B,T,d]

}  // namespace ledger::ops
