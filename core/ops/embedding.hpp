// The embedding of token ids.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

Tensor embedding(Tape& t, Tensor ids, Tensor weight);  // [B,T] and [V,d] -> [B,T,d]
// The same of a part of a table, whose gradient is as large as the table.
Tensor embedding(Tape& t, Tensor ids, Tensor weight, Shape table);

}  // namespace ledger::ops
