// The caching allocator on a device that fills up, its counters, and the hash of its state; what is
// expected follows from the sizes in the test.
#include <doctest/doctest.h>

#include <vector>

#include "core/device/allocator.hpp"

namespace ledger::device {
namespace {

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kMiB = 1 << 20;

TEST_CASE("a full device releases the cache and tries again") {
  CachingAllocator allocator(100 * kMiB);
  allocator.set_outside(10 * kMiB);
  allocator.free(allocator.allocate(60 * kMiB));
  CHECK(allocator.device_free() == 30 * kMiB);
  CHECK(allocator.allocate(90 * kMiB) != kNone);
  CHECK(allocator.reserved() == 90 * kMiB);
  CHECK(allocator.retries() == 1);
  CHECK(allocator.ooms() == 0);
}

TEST_CASE("out of memory says what was asked of the device and what is left after the release") {
  CachingAllocator allocator(100 * kMiB);
  allocator.set_outside(10 * kMiB);
  allocator.free(allocator.allocate(30 * kMiB));
  const Block kept = allocator.allocate(3 * kMiB);  // the low end of the 30 MiB
  CHECK(allocator.segment_of(kept) == 0);
  allocator.free(allocator.allocate(50 * kMiB));
  CHECK(allocator.allocate(61 * kMiB) == kNone);
  CHECK(allocator.retries() == 1);
  CHECK(allocator.ooms() == 1);
  REQUIRE(allocator.out_of_memory().has_value());
  const OutOfMemory& failure = *allocator.out_of_memory();
  CHECK(failure.tried == 62 * kMiB);
  CHECK(failure.total == 100 * kMiB);
  CHECK(failure.free == 60 * kMiB);
  CHECK(failure.in_use == 40 * kMiB);
  CHECK(failure.allowed == kUnlimited);
  CHECK(failure.allocated == 3 * kMiB);
  CHECK(failure.unallocated == 27 * kMiB);
  CHECK(allocator.allocate(60 * kMiB) != kNone);
}

TEST_CASE("a memory fraction limits reserved bytes") {
  CachingAllocator allocator(100 * kMiB);
  allocator.set_allowed(50 * kMiB);
  CHECK(allocator.allocate(40 * kMiB) != kNone);
  CHECK(allocator.allocate(3 * kMiB) == kNone);
  CHECK(allocator.out_of_memory()->free == 60 * kMiB);
  CHECK(allocator.out_of_memory()->allowed == 50 * kMiB);
}

TEST_CASE("peaks hold the largest value since the last reset") {
  CachingAllocator allocator;
  const Block a = allocator.allocate(30 * kMiB);
  const Block b = allocator.allocate(40 * kMiB);
  allocator.free(a);
  allocator.empty_cache();
  CHECK(allocator.allocated_peak() == 70 * kMiB);
  CHECK(allocator.reserved_peak() == 70 * kMiB);
  allocator.reset_peaks();
  allocator.free(b);
  allocator.allocate(10 * kMiB);
  CHECK(allocator.allocated_peak() == 40 * kMiB);
  CHECK(allocator.reserved_peak() == 40 * kMiB);
}

TEST_CASE("the hash of a state comes back with the layout, whichever blocks and segments make it") {
  CachingAllocator allocator;
  const std::uint64_t empty = allocator.state_hash();
  const Block a = allocator.allocate(3 * kMiB);
  const Block b = allocator.allocate(5 * kMiB);
  const std::uint64_t both = allocator.state_hash();
  CHECK(both != empty);
  allocator.free(b);
  const std::uint64_t one = allocator.state_hash();
  CHECK(one != both);
  const Block again = allocator.allocate(5 * kMiB);
  CHECK(allocator.state_hash() == both);
  const Wait wait = allocator.free_requested(again);
  CHECK(allocator.state_hash() != both);
  CHECK(allocator.state_hash() != one);
  allocator.free_completed(wait);
  CHECK(allocator.state_hash() == one);
  allocator.free(a);
  allocator.empty_cache();
  CHECK(allocator.state_hash() == empty);
  allocator.allocate(3 * kMiB);
  CHECK(allocator.segments().size() == 2);
  CHECK(allocator.state_hash() == one);
}

TEST_CASE("states that differ in order, stream or state of a block differ in their hash") {
  const auto hash_of = [](const std::vector<std::uint64_t>& sizes, int stream, std::size_t freed) {
    CachingAllocator allocator;
    std::vector<Block> blocks;
    for (const std::uint64_t size : sizes) blocks.push_back(allocator.allocate(size, stream));
    if (freed < blocks.size()) allocator.free(blocks[freed]);
    return allocator.state_hash();
  };
  const std::uint64_t hash = hash_of({10 * kMiB, 12 * kMiB}, 0, 2);
  CHECK(hash_of({12 * kMiB, 10 * kMiB}, 0, 2) != hash);
  CHECK(hash_of({10 * kMiB, 12 * kMiB}, 1, 2) != hash);
  CHECK(hash_of({10 * kMiB, 12 * kMiB}, 0, 0) != hash);
  CHECK(hash_of({10 * kMiB, 12 * kMiB}, 0, 0) != hash_of({10 * kMiB, 12 * kMiB}, 0, 1));
  CHECK(hash_of({kKiB, 2 * kKiB}, 0, 2) != hash_of({2 * kKiB, kKiB}, 0, 2));
}

}  // namespace
}  // namespace ledger::device
