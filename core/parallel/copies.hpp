// What the kernels that copy many tensors at once put on the device: addresses and sizes.
#pragma once

#include <vector>

#include "core/scenario.hpp"

namespace ledger::parallel {

// torch.split_with_sizes_copy of `ranks` rows into parts of these bytes each. Bytes of the table.
double split_bytes(const Device& device, const std::vector<double>& parts, double ranks);

// torch._chunk_cat of tensors whose parts have these bytes. Bytes of the table.
double chunk_bytes(const std::vector<double>& parts);

}  // namespace ledger::parallel
