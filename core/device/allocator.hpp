// PyTorch's native CUDA caching allocator, replayed with sizes only: one device, any number of
// streams. What its options change is in allocator_options.cpp and expandable_segments.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/allocator_options.hpp"
#include "core/device/block.hpp"
#include "core/device/free_blocks.hpp"

namespace ledger::device {

// c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h of PyTorch 2.14.1. Bytes.
inline constexpr std::uint64_t kMinBlock = 512;
inline constexpr std::uint64_t kSmall = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kSmallSegment = std::uint64_t{2} << 20;
inline constexpr std::uint64_t kLargeSegment = std::uint64_t{20} << 20;
inline constexpr std::uint64_t kMinLarge = std::uint64_t{10} << 20;
inline constexpr std::uint64_t kRoundLarge = std::uint64_t{2} << 20;

// A device, or a limit, that never runs out.
inline constexpr std::uint64_t kUnlimited = AllocatorOptions::kNever;

// Bytes of the block that a request needs.
constexpr std::uint64_t rounded(std::uint64_t bytes) {
  return bytes < kMinBlock ? kMinBlock : (bytes + kMinBlock - 1) / kMinBlock * kMinBlock;
}

// Bytes asked of the device for a request of `rounded_bytes` that no free block can serve.
constexpr std::uint64_t segment_size(std::uint64_t rounded_bytes,
                                     std::uint64_t large_segment = kLargeSegment) {
  if (rounded_bytes <= kSmall) return kSmallSegment;
  if (rounded_bytes < kMinLarge) return large_segment;
  return (rounded_bytes + kRoundLarge - 1) / kRoundLarge * kRoundLarge;
}

// One cudaMalloc, or the addresses of one expandable segment, whose bytes are those of its mapped
// pages. A freed segment has no bytes; numbers are never reused.
struct Segment {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;
  Block first = kNone;
  std::int32_t stream = 0;
  bool small = false;
  std::uint64_t page = 0;    // bytes of one page of an expandable segment; 0 for others
  std::int32_t number = -1;  // in the order in which they first got memory
};

// A stretch of a segment.
struct Stretch {
  std::uint64_t offset = 0;  // bytes from the start of the segment
  std::uint64_t bytes = 0;
  BlockState state = BlockState::kFree;
};

// A segment, or pages of an expandable one, came from the device (`allocated`) or went back to it.
struct SegmentEvent {
  bool allocated = false;
  std::int32_t segment = 0;
  std::uint64_t bytes = 0;
  std::int32_t stream = 0;
  bool pages = false;
  std::uint64_t offset = 0;  // of the pages
};

// What is reserved but not allocated. Bytes.
struct FreeSpace {
  std::int64_t segments = 0;
  std::uint64_t largest = 0;   // the largest free block
  std::uint64_t stranded = 0;  // empty_cache() could not return them: their segment is in use
};

// A free that waits for another stream.
using Wait = std::uint64_t;

// The numbers of an OutOfMemoryError, in the order of its sentence. Bytes.
struct OutOfMemory {
  std::uint64_t tried = 0;  // of the device, not by the tensor
  std::uint64_t total = 0;
  std::uint64_t free = 0;         // after the cache was released
  std::uint64_t in_use = 0;       // reserved and outside
  std::uint64_t allowed = 0;      // kUnlimited without a memory fraction
  std::uint64_t allocated = 0;    // whole blocks
  std::uint64_t unallocated = 0;  // reserved but unallocated: free parts of segments in use
};

// Sizes are below two to the power of sixty bytes. Every block given to a function must be valid.
class CachingAllocator {
 public:
  explicit CachingAllocator(std::uint64_t device_bytes = kUnlimited);
  // A memory fraction among the options is one of `device_bytes`.
  CachingAllocator(std::uint64_t device_bytes, const AllocatorOptions& options);
  ~CachingAllocator();

  // A block for a request of more than 0 bytes (an empty request does not reach the allocator);
  // kNone where the device has no room, see out_of_memory(). Streams are small numbers from 0.
  Block allocate(std::uint64_t bytes, int stream = 0);

  // The block is reusable at once.
  void free(Block block);

  // The two halves of a free that waits for other streams: the bytes stop counting as allocated,
  // and later the block becomes reusable. Releasing the cache completes all; a free that is
  // already complete is not completed again.
  Wait free_requested(Block block);
  void free_completed(Wait wait);
  void complete_frees();

  // torch.cuda.empty_cache(): segments without a used block go back to the device.
  void empty_cache();

  // Bytes of the device that are not this allocator's: context, NCCL, other processes.
  void set_outside(std::uint64_t bytes) { outside_ = bytes; }
  // Limit of reserved(): torch.cuda.set_per_process_memory_fraction times the device's bytes.
  void set_allowed(std::uint64_t bytes) { allowed_ = bytes; }
  // Where garbage_collection_threshold collects, in place of its share of what a fraction of this
  // allocator's device allows. Only with options.
  void set_collect_above(std::uint64_t reserved_bytes);

  // Bytes now, and their maxima since the start or the last reset.
  std::uint64_t allocated() const { return allocated_; }
  std::uint64_t reserved() const { return reserved_; }
  std::uint64_t allocated_peak() const { return allocated_peak_; }
  std::uint64_t reserved_peak() const { return reserved_peak_; }
  void reset_peaks();
  // allocated() and the bytes of frees that wait.
  std::uint64_t active() const { return allocated_ + waiting_bytes_; }
  std::uint64_t device_free() const;

  std::int64_t retries() const { return retries_; }
  std::int64_t ooms() const { return ooms_; }
  // Numbers of the last failed request.
  const std::optional<OutOfMemory>& out_of_memory() const { return out_of_memory_; }

  std::uint64_t block_bytes(Block block) const { return records_[block].size; }
  std::int32_t segment_of(Block block) const {
    return segments_[index(records_[block].segment)].number;
  }
  std::uint64_t offset_of(Block block) const {
    const BlockRecord& record = records_[block];
    return record.address - segments_[index(record.segment)].address;
  }

  // All segments ever made, by number; those with 0 bytes were freed.
  const std::vector<Segment>& segments() const { return segments_; }
  std::int64_t live_segments() const { return live_segments_; }
  FreeSpace free_space() const;
  // The blocks of a live segment by offset; `segment` is an index into segments().
  std::vector<Stretch> stretches(std::int32_t segment) const;

  // Equal for two states whose live segments, in the order they were made, are of the same stream,
  // pool and size and are tiled by blocks of the same sizes and states: such allocators answer the
  // same requests from the same places. Which tensor holds which block is the caller's to compare.
  std::uint64_t state_hash() const;

  // Switches the log of segment events on or off; take_segment_events() empties it.
  void log_segment_events(bool on) { logging_ = on; }
  std::vector<SegmentEvent> take_segment_events();

 private:
  struct Waiting {
    Wait wait;
    Block block;
  };

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }
  static std::size_t pool_of(int stream, bool small) {
    return static_cast<std::size_t>(stream) * 2 + (small ? 1 : 0);
  }
  BlockRecord* records() { return records_.data(); }
  // Into the list of free blocks that are looked for, and out of it.
  void file(Block block) {
    pools_[records_[block].pool].insert(records(), block);
    returnable_ += returnable(block);
  }
  void unfile(Block block) {
    returnable_ -= returnable(block);
    pools_[records_[block].pool].erase(records(), block);
  }
  // Bytes of a free block that empty_cache() gives back.
  std::uint64_t returnable(Block block) const {
    if (configured_) [[unlikely]]
      return returnable_pages(block);
    return records_[block].whole() ? records_[block].size : 0;
  }
  Block new_block() {
    const Block block = spare_;
    if (block == kNone) {
      records_.push_back(BlockRecord());
      return static_cast<Block>(records_.size() - 1);
    }
    spare_ = records_[block].next;
    return block;
  }
  void drop(Block block);
  Block grow(std::uint64_t bytes, int stream, bool small);
  Block new_segment(std::uint64_t size, int stream, bool small);
  void fail(std::uint64_t size);
  void reserve(std::uint64_t bytes);
  // The block keeps its low `bytes`; the rest becomes a free block behind it that is in no list.
  Block cut(Block block, std::uint64_t bytes) {
    const Block rest = new_block();
    BlockRecord& low = records_[block];
    records_[rest] = {.address = low.address + bytes,
                      .size = low.size - bytes,
                      .prev = block,
                      .next = low.next,
                      .segment = low.segment,
                      .pool = low.pool};
    records_[low.next].prev = rest;
    low.size = bytes;
    low.next = rest;
    return rest;
  }
  void split(Block block, std::uint64_t bytes);
  Block use(Block block) {
    BlockRecord& record = records_[block];
    record.state = BlockState::kUsed;
    allocated_ += record.size;
    if (allocated_ > allocated_peak_) allocated_peak_ = allocated_;
    return block;
  }
  void complete(Block block);
  void absorb_next(Block block, Block next);
  void release_whole(const FreeBlocks& pool);
  void release(Block block);

  // With options (allocator_options.cpp).
  struct Configured;
  Block allocate_configured(std::uint64_t bytes, int stream);
  Block find_configured(std::size_t pool, std::uint64_t need);
  Block grow_configured(std::uint64_t need, int stream, bool small);
  Block try_grow(std::uint64_t need, std::uint64_t size, int stream, bool small);
  bool release_oversize(std::size_t pool, std::uint64_t need);
  void collect();
  void note_age(Block block);

  // With expandable segments (expandable_segments.cpp).
  std::uint64_t reach(Block block) const;
  Block extend(std::uint64_t need, int stream, bool small);
  Block new_reservation(int stream, bool small);
  Block map_pages(Block block, std::uint64_t bytes);
  void unmap_pages(Block block);
  void add_unmapped(Block block);
  void remove_unmapped(Block block);
  std::uint64_t returnable_pages(Block block) const;

  std::vector<BlockRecord> records_;
  Block spare_ = kNone;            // the first of the records without a block, linked by `next`
  std::vector<FreeBlocks> pools_;  // by stream, large before small
  std::vector<Segment> segments_;
  std::vector<Waiting> waiting_;
  std::vector<SegmentEvent> log_;
  std::optional<OutOfMemory> out_of_memory_;
  std::uint64_t total_;
  std::uint64_t outside_ = 0;
  std::uint64_t allowed_ = kUnlimited;
  std::uint64_t allocated_ = 0, allocated_peak_ = 0;
  std::uint64_t reserved_ = 0, reserved_peak_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t returnable_ = 0;  // of all free blocks
  std::uint64_t next_address_ = 0;
  Wait next_wait_ = 0;
  std::int64_t retries_ = 0, ooms_ = 0, live_segments_ = 0;
  bool logging_ = false;
  std::unique_ptr<Configured> configured_;  // null without options
};

}  // namespace ledger::device
