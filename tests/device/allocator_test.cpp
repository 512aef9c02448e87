// The rules of the caching allocator one by one; what is expected follows from the sizes in the
// test.
#include "core/device/allocator.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace ledger::device {
namespace {

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGiB = 1 << 30;

struct Place {
  std::int32_t segment;
  std::uint64_t offset;

  bool operator==(const Place&) const = default;
};

Place place(const CachingAllocator& allocator, Block block) {
  return {allocator.segment_of(block), allocator.offset_of(block)};
}

// Bytes that an allocator without any segment reserves for one request.
std::uint64_t reserved_for(std::uint64_t bytes) {
  CachingAllocator allocator;
  allocator.allocate(bytes);
  return allocator.reserved();
}

TEST_CASE("a request is rounded up to a multiple of 512 bytes") {
  CachingAllocator allocator;
  CHECK(allocator.block_bytes(allocator.allocate(1)) == 512);
  CHECK(allocator.block_bytes(allocator.allocate(512)) == 512);
  CHECK(allocator.block_bytes(allocator.allocate(513)) == 1024);
  CHECK(allocator.allocated() == 512 + 512 + 1024);
}

TEST_CASE("the size of a segment follows from the rounded request") {
  CHECK(reserved_for(1) == 2 * kMiB);
  CHECK(reserved_for(kMiB) == 2 * kMiB);
  CHECK(reserved_for(kMiB + 1) == 20 * kMiB);
  CHECK(reserved_for(10 * kMiB - 512) == 20 * kMiB);
  CHECK(reserved_for(10 * kMiB - 511) == 10 * kMiB);
  CHECK(reserved_for(10 * kMiB) == 10 * kMiB);
  CHECK(reserved_for(10 * kMiB + 1) == 12 * kMiB);
  CHECK(reserved_for(257 * kMiB) == 258 * kMiB);
}

TEST_CASE("the request gets the low end of a block and the rest serves the next one") {
  CachingAllocator allocator;
  CHECK(place(allocator, allocator.allocate(3 * kKiB)) == Place{0, 0});
  CHECK(place(allocator, allocator.allocate(5 * kKiB)) == Place{0, 3 * kKiB});
  CHECK(allocator.reserved() == 2 * kMiB);
}

TEST_CASE("a small block is split for a rest of 512 bytes") {
  CachingAllocator allocator;
  allocator.allocate(kMiB);
  allocator.allocate(kMiB - 512);
  CHECK(place(allocator, allocator.allocate(512)) == Place{0, 2 * kMiB - 512});
}

TEST_CASE("a large block is not split for a rest of exactly 1 MiB, and counts in full") {
  CachingAllocator allocator;
  const Block whole = allocator.allocate(20 * kMiB);
  allocator.free(whole);
  const Block unsplit = allocator.allocate(19 * kMiB);
  CHECK(allocator.block_bytes(unsplit) == 20 * kMiB);
  CHECK(allocator.allocated() == 20 * kMiB);
  allocator.free(unsplit);
  CHECK(allocator.block_bytes(allocator.allocate(19 * kMiB - 512)) == 19 * kMiB - 512);
}

TEST_CASE("small and large requests do not lend to each other") {
  CachingAllocator allocator;
  allocator.free(allocator.allocate(20 * kMiB));
  allocator.allocate(kMiB);
  CHECK(allocator.reserved() == 22 * kMiB);
}

TEST_CASE("the smallest block that is large enough serves a request") {
  CachingAllocator allocator;
  const Block large = allocator.allocate(40 * kMiB);
  const Block medium = allocator.allocate(30 * kMiB);
  const Block little = allocator.allocate(12 * kMiB);
  for (const Block block : {large, medium, little}) allocator.free(block);
  CHECK(allocator.segment_of(allocator.allocate(29 * kMiB)) == 1);
  CHECK(allocator.segment_of(allocator.allocate(12 * kMiB)) == 2);
  CHECK(allocator.segment_of(allocator.allocate(12 * kMiB)) == 0);
}

TEST_CASE("of two blocks of one size the lower address serves a request") {
  for (const bool low_first : {true, false}) {
    CachingAllocator allocator;
    std::vector<Block> blocks;
    for (int i = 0; i < 5; ++i) blocks.push_back(allocator.allocate(10 * kMiB));
    for (const std::size_t i : {1u, 3u, 2u}) allocator.free(blocks[low_first ? i : 4 - i]);
    for (int segment = 1; segment <= 3; ++segment) {
      CHECK(allocator.segment_of(allocator.allocate(10 * kMiB)) == segment);
    }
  }
}

TEST_CASE("sizes that differ by 512 bytes are told apart however large they are") {
  constexpr std::uint64_t kSize = 6 * kGiB;
  CachingAllocator allocator;
  allocator.free(allocator.allocate(20 * kGiB));
  Block more = allocator.allocate(kSize + 1024);
  allocator.allocate(2 * kMiB);
  Block exact = allocator.allocate(kSize);
  allocator.allocate(2 * kMiB);
  for (const bool more_first : {true, false}) {
    allocator.free(more_first ? more : exact);
    allocator.free(more_first ? exact : more);
    more = allocator.allocate(kSize + 512);
    exact = allocator.allocate(kSize);
    CHECK(place(allocator, more) == Place{0, 0});
    CHECK(place(allocator, exact) == Place{0, kSize + 1024 + 2 * kMiB});
  }
}

TEST_CASE("a freed block merges with free neighbours on both sides") {
  CachingAllocator allocator;
  const Block a = allocator.allocate(512 * kKiB);
  const Block b = allocator.allocate(512 * kKiB);
  const Block c = allocator.allocate(kMiB);
  allocator.free(a);
  allocator.free(c);
  CHECK(allocator.stretches(0).size() == 3);
  allocator.free(b);
  REQUIRE(allocator.stretches(0).size() == 1);
  CHECK(allocator.stretches(0)[0].bytes == 2 * kMiB);
  CHECK(allocator.reserved() == 2 * kMiB);
}

TEST_CASE("blocks of different segments never merge") {
  CachingAllocator allocator;
  const Block a = allocator.allocate(10 * kMiB);
  const Block b = allocator.allocate(10 * kMiB);
  allocator.free(a);
  allocator.free(b);
  CHECK(allocator.segment_of(allocator.allocate(20 * kMiB)) == 2);
}

TEST_CASE("a free returns nothing to the device, empty_cache every segment without a used block") {
  CachingAllocator allocator;
  const Block a = allocator.allocate(3 * kMiB);
  const Block b = allocator.allocate(3 * kMiB);
  const Block c = allocator.allocate(30 * kMiB);
  const Block d = allocator.allocate(kKiB);
  for (const Block block : {a, c, d}) allocator.free(block);
  CHECK(allocator.reserved() == 20 * kMiB + 30 * kMiB + 2 * kMiB);
  allocator.log_segment_events(true);
  allocator.empty_cache();
  CHECK(allocator.reserved() == 20 * kMiB);
  CHECK(allocator.allocated() == 3 * kMiB);
  CHECK(allocator.live_segments() == 1);
  const auto events = allocator.take_segment_events();
  REQUIRE(events.size() == 2);  // the large pool first
  CHECK(events[0].segment == 1);
  CHECK(events[1].segment == 2);
  allocator.free(b);
  allocator.empty_cache();
  CHECK(allocator.reserved() == 0);
}

TEST_CASE("two streams do not share free blocks") {
  CachingAllocator allocator;
  allocator.free(allocator.allocate(20 * kMiB, 0));
  CHECK(allocator.segment_of(allocator.allocate(20 * kMiB, 1)) == 1);
  CHECK(allocator.segment_of(allocator.allocate(20 * kMiB, 0)) == 0);
}

TEST_CASE("a block whose free waits is not allocated, not reusable and does not merge") {
  CachingAllocator allocator;
  const Block a = allocator.allocate(kMiB);
  const Block b = allocator.allocate(kMiB);
  const Wait wait = allocator.free_requested(a);
  CHECK(allocator.allocated() == kMiB);
  CHECK(allocator.active() == 2 * kMiB);
  allocator.free(b);
  CHECK(allocator.stretches(0).size() == 2);
  CHECK(allocator.stretches(0)[0].state == BlockState::kWaiting);
  CHECK(place(allocator, allocator.allocate(kMiB)) == Place{0, kMiB});
  allocator.free_completed(wait);
  CHECK(allocator.active() == kMiB);
  CHECK(place(allocator, allocator.allocate(kMiB)) == Place{0, 0});
}

TEST_CASE("releasing the cache completes the frees that wait, and none completes twice") {
  CachingAllocator allocator;
  const Wait wait = allocator.free_requested(allocator.allocate(10 * kMiB));
  allocator.empty_cache();
  CHECK(allocator.reserved() == 0);
  const Wait second = allocator.free_requested(allocator.allocate(10 * kMiB));
  allocator.free_completed(wait);
  CHECK(allocator.active() == 10 * kMiB);
  allocator.free_completed(second);
  CHECK(allocator.active() == 0);
}

}  // namespace
}  // namespace ledger::device
