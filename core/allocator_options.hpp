// The options of PyTorch's caching allocator that change what it asks of the device. Their names
// are those of PYTORCH_ALLOC_CONF; sizes are in bytes here, in MiB there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ledger {

struct AllocatorOptions {
  static constexpr std::uint64_t kNever = std::uint64_t{1} << 62;  // larger than any block
  static constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  static constexpr std::size_t kIntervals = 16;

  bool expandable_segments = false;
  std::uint64_t max_split_size = kNever;
  std::uint64_t max_non_split_rounding = 20 * kMiB;  // large_segment_size, unless given
  // By interval: number i holds sizes from 2^i MiB up, the first also what is smaller, the last
  // also what is larger. 0 or 1: no division.
  std::array<std::uint32_t, kIntervals> roundup_power2_divisions{};
  double garbage_collection_threshold = 0;  // of what the fraction allows; 0: never
  std::optional<double> per_process_memory_fraction;
  std::uint64_t large_segment_size = 20 * kMiB;

  bool operator==(const AllocatorOptions&) const = default;
};

}  // namespace ledger
