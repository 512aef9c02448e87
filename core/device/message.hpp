// What PyTorch prints when an allocation fails, word for word.
#pragma once

#include <cstdint>
#include <string>

#include "core/device/allocator.hpp"

namespace ledger::device {

// A size as the message writes it: "20.00 MiB".
std::string size_in_message(std::uint64_t bytes);

// The text of the OutOfMemoryError of PyTorch 2.14, on device 0 and with NVML; where others hold
// memory too, PyTorch names their processes as well, which nobody can foresee.
std::string out_of_memory_message(const OutOfMemory& failure, bool expandable_segments);

}  // namespace ledger::device
