// Random requests, answered equally by the allocator and by a plain one that shares none of its
// code.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/set_allocator.hpp"
#include "core/device/allocator.hpp"

namespace ledger::device {
namespace {

struct Pair {
  Block ours;
  bench::SetAllocator::Block* plain;
};

struct Waiting {
  Wait ours;
  bench::SetAllocator::Block* plain;
};

// Sizes near the thresholds, a few sizes again and again, and any size in between.
std::uint64_t random_size(std::mt19937_64& random) {
  constexpr std::uint64_t kMiB = 1 << 20;
  constexpr std::uint64_t kEdges[] = {512,       4096,      kMiB,      2 * kMiB,
                                      10 * kMiB, 20 * kMiB, 64 * kMiB, 100 * kMiB};
  switch (random() % 4) {
    case 0: return kEdges[random() % 8] - 2 * 512 + random() % (4 * 512) + 513;
    case 1: return kEdges[random() % 8];
    case 2: return 1 + random() % (2 * kMiB);
    default: return 1 + random() % (60 * kMiB);
  }
}

// What free_space() says, counted block by block.
FreeSpace counted(const CachingAllocator& allocator) {
  FreeSpace space;
  for (std::size_t i = 0; i < allocator.segments().size(); ++i) {
    if (allocator.segments()[i].bytes == 0) continue;
    ++space.segments;
    const std::vector<Stretch> blocks = allocator.stretches(static_cast<std::int32_t>(i));
    for (const Stretch& block : blocks) {
      if (block.state != BlockState::kFree) continue;
      space.largest = std::max(space.largest, block.bytes);
      if (blocks.size() > 1) space.stranded += block.bytes;
    }
  }
  return space;
}

// The first difference; empty where there is none.
std::string difference(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::uint64_t device_bytes = (std::uint64_t{64} << (random() % 8)) << 20;
  const int streams = 1 + static_cast<int>(random() % 3);
  const std::size_t crowd = 1 + random() % 200;
  CachingAllocator ours(device_bytes);
  bench::SetAllocator plain(device_bytes);
  std::vector<Pair> used;
  std::vector<Waiting> waiting;
  const auto take = [&random](auto& from) {
    const std::size_t i = random() % from.size();
    const auto taken = from[i];
    from[i] = from.back();
    from.pop_back();
    return taken;
  };
  for (int step = 0; step < 2000; ++step) {
    const std::string where = "seed " + std::to_string(seed) + ", step " + std::to_string(step);
    const std::uint64_t dice = random() % 100;
    if (dice == 0) {
      ours.empty_cache();
      plain.empty_cache();
      waiting.clear();
    } else if (!waiting.empty() && dice < 8) {
      const Waiting wait = take(waiting);
      ours.free_completed(wait.ours);
      plain.free_completed(wait.plain);
    } else if (!used.empty() && random() % crowd < used.size()) {
      const Pair pair = take(used);
      if (dice < 20) {
        waiting.push_back({ours.free_requested(pair.ours), pair.plain});
        plain.free_requested(pair.plain);
      } else {
        ours.free(pair.ours);
        plain.free(pair.plain);
      }
    } else {
      const std::uint64_t bytes = random_size(random);
      const int stream = static_cast<int>(random() % static_cast<std::uint64_t>(streams));
      const std::int64_t retries = ours.retries();
      const Pair pair{ours.allocate(bytes, stream), plain.allocate(bytes, stream)};
      if (ours.retries() != retries) waiting.clear();  // the release completed them
      if ((pair.ours == kNone) != (pair.plain == nullptr)) return where + ": out of memory";
      if (pair.ours == kNone) continue;
      used.push_back(pair);
      if (ours.segment_of(pair.ours) != plain.segment_of(pair.plain)) return where + ": segment";
      if (ours.offset_of(pair.ours) != plain.offset_of(pair.plain)) return where + ": offset";
      if (ours.block_bytes(pair.ours) != pair.plain->size) return where + ": size";
    }
    if (ours.allocated() != plain.allocated()) return where + ": allocated";
    if (ours.reserved() != plain.reserved()) return where + ": reserved";
    if (step % 16 == 0) {
      const FreeSpace space = ours.free_space();
      const FreeSpace expected = counted(ours);
      if (space.segments != expected.segments) return where + ": segments";
      if (space.largest != expected.largest) return where + ": largest free block";
      if (space.stranded != expected.stranded) return where + ": stranded";
    }
    if (ours.retries() != plain.retries()) return where + ": retries";
  }
  if (ours.allocated_peak() != plain.allocated_peak()) return "peak of allocated";
  if (ours.reserved_peak() != plain.reserved_peak()) return "peak of reserved";
  for (const Pair& pair : used) ours.free(pair.ours);
  ours.empty_cache();
  return ours.reserved() == 0 && ours.allocated() == 0 && ours.active() == 0 ? "" : "a leak";
}

TEST_CASE("random requests get the same places as from an allocator made of std::set") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::string found = difference(seed);
    CHECK(found == "");
    if (!found.empty()) break;
  }
}

}  // namespace
}  // namespace ledger::device
