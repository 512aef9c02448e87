// The allocator's options one by one, and at random; what is expected follows from the sizes in the
// test.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "core/device/allocator.hpp"

namespace ledger::device {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGiB = 1 << 30;

std::uint64_t block_of(std::uint64_t bytes, std::uint32_t divisions) {
  AllocatorOptions options;
  options.roundup_power2_divisions.fill(divisions);
  CachingAllocator allocator(kUnlimited, options);
  return allocator.block_bytes(allocator.allocate(bytes));
}

TEST_CASE("divisions round up to a part of the power of two below") {
  CHECK(block_of(5 * kMiB, 4) == 5 * kMiB);
  CHECK(block_of(5 * kMiB + 1, 4) == 6 * kMiB);  // quarters of 4 MiB
  CHECK(block_of(8 * kMiB, 4) == 8 * kMiB);
  CHECK(block_of(1200, 2) == 1536);  // halves of 1,024 bytes
  CHECK(block_of(1000, 2) == 1024);  // not above 512 times the divisions
}

TEST_CASE("a list of divisions holds for its intervals only") {
  AllocatorOptions options;
  options.roundup_power2_divisions[3] = 2;  // 8 to 16 MiB
  CachingAllocator allocator(kUnlimited, options);
  CHECK(allocator.block_bytes(allocator.allocate(9 * kMiB)) == 12 * kMiB);
  CHECK(allocator.block_bytes(allocator.allocate(7 * kMiB + 1)) == 7 * kMiB + 512);
  CHECK(allocator.block_bytes(allocator.allocate(17 * kMiB + 1)) == 18 * kMiB);  // unsplit rest
}

TEST_CASE("blocks of max_split_size are neither split nor lent to smaller requests") {
  AllocatorOptions options;
  options.max_split_size = 64 * kMiB;
  CachingAllocator allocator(kUnlimited, options);
  allocator.free(allocator.allocate(100 * kMiB));
  allocator.allocate(60 * kMiB);
  CHECK(allocator.reserved() == 160 * kMiB);
  const Block whole = allocator.allocate(90 * kMiB);  // less than 20 MiB are left over
  CHECK(allocator.block_bytes(whole) == 100 * kMiB);
  allocator.free(whole);
  allocator.allocate(80 * kMiB);  // 20 MiB are too many
  CHECK(allocator.reserved() == 240 * kMiB);
}

TEST_CASE("a full device gets back one block of max_split_size, not the whole cache") {
  AllocatorOptions options;
  options.max_split_size = 64 * kMiB;
  CachingAllocator allocator(300 * kMiB, options);
  allocator.free(allocator.allocate(30 * kMiB));
  const Block first = allocator.allocate(80 * kMiB), second = allocator.allocate(120 * kMiB);
  allocator.free(first);
  allocator.free(second);
  CHECK(allocator.allocate(140 * kMiB) != kNone);  // takes 120 and 80: only both are enough
  CHECK(allocator.retries() == 0);
  CHECK(allocator.reserved() == 170 * kMiB);
}

TEST_CASE("garbage is collected above the threshold, the older segments first") {
  AllocatorOptions options;
  options.garbage_collection_threshold = 0.5;
  options.per_process_memory_fraction = 0.5;
  CachingAllocator allocator(400 * kMiB, options);  // 200 are allowed; collects above 100
  const Block old = allocator.allocate(40 * kMiB), late = allocator.allocate(50 * kMiB);
  allocator.free(old);
  allocator.allocate(3 * kMiB);  // from the 40
  const Block other = allocator.allocate(60 * kMiB);
  CHECK(allocator.reserved() == 150 * kMiB);
  allocator.free(late);
  for (int i = 0; i < 5; ++i) allocator.free(allocator.allocate(30 * kMiB));  // rests of the 40
  allocator.free(other);
  CHECK(allocator.allocate(70 * kMiB) != kNone);  // 50 above: the one that waited longer goes
  CHECK(allocator.reserved() == 170 * kMiB);
  CHECK(allocator.retries() == 0);
}

TEST_CASE("a memory fraction among the options is one of the device") {
  AllocatorOptions options;
  options.per_process_memory_fraction = 0.5;
  CachingAllocator allocator(100 * kMiB, options);
  CHECK(allocator.allocate(60 * kMiB) == kNone);
  CHECK(allocator.out_of_memory()->allowed == 50 * kMiB);
  CHECK(allocator.out_of_memory()->free == 100 * kMiB);
}

TEST_CASE("expandable segments map pages and split off any rest") {
  AllocatorOptions options;
  options.expandable_segments = true;
  CachingAllocator allocator(kGiB, options);
  const Block a = allocator.allocate(15 * kMiB);
  CHECK(allocator.reserved() == 20 * kMiB);
  const Block b = allocator.allocate(15 * kMiB);  // 5 are left of the first page
  CHECK(allocator.reserved() == 40 * kMiB);
  CHECK(allocator.offset_of(b) == 15 * kMiB);
  CHECK(allocator.allocated() == 30 * kMiB);
  CHECK(allocator.live_segments() == 0);
  allocator.free(a);
  CHECK(allocator.free_space().stranded == 15 * kMiB + 10 * kMiB);  // parts of pages
  allocator.free(b);
  CHECK(allocator.free_space().stranded == 0);
  CHECK(allocator.free_space().largest == 40 * kMiB);
  allocator.empty_cache();
  CHECK(allocator.reserved() == 0);
}

TEST_CASE("what is stranded are the free bytes of segments in use") {
  CachingAllocator allocator;
  const Block a = allocator.allocate(3 * kMiB);
  allocator.free(allocator.allocate(30 * kMiB));
  const FreeSpace space = allocator.free_space();
  CHECK(space.segments == 2);
  CHECK(space.largest == 30 * kMiB);
  CHECK(space.stranded == 17 * kMiB);
  allocator.free(a);
  CHECK(allocator.free_space().stranded == 0);
}

AllocatorOptions random_options(std::mt19937_64& random) {
  AllocatorOptions options;
  options.expandable_segments = random() % 2 == 0;
  if (random() % 2 == 0) options.max_split_size = (128 + random() % 100) * kMiB;
  if (random() % 2 == 0) options.max_non_split_rounding = (20 + random() % 100) * kMiB;
  if (random() % 2 == 0) options.large_segment_size = (11 + random() % 100) * kMiB;
  for (std::uint32_t& divisions : options.roundup_power2_divisions) divisions = 1u << random() % 6;
  if (random() % 2 == 0) options.per_process_memory_fraction = 0.3 + 0.1 * double(random() % 8);
  if (random() % 2 == 0) options.garbage_collection_threshold = 0.1 * double(1 + random() % 9);
  return options;
}

TEST_CASE("whatever the options, segments are tiled, bytes add up, and nothing is lost") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    CachingAllocator allocator((std::uint64_t{256} << random() % 4) * kMiB, random_options(random));
    std::vector<Block> used;
    for (int step = 0; step < 1500; ++step) {
      if (!used.empty() && random() % 100 < 2 * used.size()) {
        const std::size_t i = random() % used.size();
        const bool waits = random() % 8 == 0;
        if (waits) {
          allocator.free_requested(used[i]);
        } else {
          allocator.free(used[i]);
        }
        used[i] = used.back();
        used.pop_back();
      } else if (random() % 100 == 0) {
        allocator.empty_cache();
      } else {
        const std::uint64_t most = random() % 2 == 0 ? 2 * kMiB : 90 * kMiB;
        const Block block = allocator.allocate(1 + random() % most, static_cast<int>(random() % 2));
        if (block != kNone) used.push_back(block);
      }
      if (step % 50 != 0) continue;
      std::uint64_t mapped = 0, in_use = 0;
      for (std::size_t s = 0; s < allocator.segments().size(); ++s) {
        std::uint64_t bytes = 0, end = 0;
        for (const Stretch& stretch : allocator.stretches(static_cast<std::int32_t>(s))) {
          REQUIRE(stretch.offset == end);
          end += stretch.bytes;
          if (stretch.state != BlockState::kUnmapped) bytes += stretch.bytes;
          if (stretch.state == BlockState::kUsed) in_use += stretch.bytes;
        }
        REQUIRE(bytes == allocator.segments()[s].bytes);
        mapped += bytes;
      }
      REQUIRE(mapped == allocator.reserved());
      REQUIRE(in_use == allocator.allocated());
      REQUIRE(allocator.free_space().stranded <= allocator.reserved() - allocator.active());
    }
    for (const Block block : used) allocator.free(block);
    allocator.empty_cache();
    CHECK(allocator.reserved() == 0);
    CHECK(allocator.active() == 0);
  }
}

}  // namespace
}  // namespace ledger::device
