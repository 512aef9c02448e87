// What the caching allocator keeps beside its blocks where it has options.
#pragma once

#include <array>
#include <vector>

#include "core/device/allocator.hpp"

namespace ledger::device {

struct CachingAllocator::Configured {
  AllocatorOptions options;
  std::uint64_t collect_above = kUnlimited;  // reserved bytes; kUnlimited: nothing is collected
  std::array<std::uint64_t, 2> searches{};   // of the large and the small pool, all streams
  std::vector<std::uint64_t> ages;           // by block: the searches when it became free
  std::vector<std::vector<Block>> unmapped;  // by pool and stream, in the order of addresses
  std::int32_t reservations = 0;             // that ever had memory

  bool collects() const { return collect_above != kUnlimited; }
};

}  // namespace ledger::device
