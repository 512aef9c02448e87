// A block: what the caching allocator hands out, splits, merges and keeps for the next request.
#pragma once

#include <cstdint>

namespace ledger::device {

// Handle of a block: small, and reused once the block is no more.
using Block = std::uint32_t;

// No block. Also the record that stands for what lies beyond either end of a segment or a list: it
// is never free and larger than any request, so that neighbours need no test for being there.
inline constexpr Block kNone = 0;

// kUnmapped: addresses without memory, of an expandable segment.
enum class BlockState : std::uint8_t { kFree, kUsed, kWaiting, kUnmapped };

// Blocks tile their segment exactly, in the order of `next`. The low end of a block never moves.
struct BlockRecord {
  std::uint64_t address = 0;  // bytes; later segments lie higher
  std::uint64_t size = 0;     // bytes
  Block prev = kNone;         // neighbours in the segment
  Block next = kNone;
  Block free_prev = kNone;  // neighbours in its list of free blocks
  Block free_next = kNone;
  std::int32_t segment = 0;
  std::uint16_t pool = 0;
  BlockState state = BlockState::kFree;

  // It is its entire segment.
  bool whole() const { return prev == kNone && next == kNone; }
};

}  // namespace ledger::device
