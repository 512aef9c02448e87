// What lies on a device beside PyTorch's allocator. None of it can be derived: each part is a range
// that was seen, with its source.
#pragma once

#include <vector>

#include "core/scenario.hpp"

namespace ledger::device {

struct Range {
  double low = 0, high = 0;  // bytes
};

struct OutsidePart {
  const char* what;
  Range bytes;
  const char* source;
};

// Of the process itself: the CUDA context by compute capability, and what its libraries load; of a
// rank of a parallel run NCCL's communicators.
std::vector<OutsidePart> process_parts(const Scenario& scenario);

// Of Windows and its desktop; nothing on Linux.
OutsidePart system_part(const Device& device);

Range sum(const std::vector<OutsidePart>& parts);

}  // namespace ledger::device
