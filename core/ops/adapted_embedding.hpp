// An embedding as peft changes it: some rows trained, or a low-rank update beside the frozen table.
#pragma once

#include "core/ops/linear.hpp"

namespace ledger::ops {

// The whole table [V,d] once more, with these rows [n,d] in the place of its own.
Tensor with_rows(Tape& t, const Tensor& weight, const Tensor& rows);

// The result of the frozen embedding and the adapters' updates. `scale`: what the architecture
// multiplies its embedding by, or absent.
Tensor adapted_embedding(Tape& t, const std::vector<Adapter>& adapters, const Tensor& ids,
                         Tensor result, const Tensor& scale);

}  // namespace ledger::ops
