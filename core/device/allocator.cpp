// The rules of PyTorch's caching allocator: search, split, grow, merge and release.
#include "core/device/allocator.hpp"

#include <algorithm>
#include <utility>

#include "core/device/configured.hpp"

namespace ledger::device {

CachingAllocator::CachingAllocator(std::uint64_t device_bytes)
    : records_{{.size = ~std::uint64_t{0}, .state = BlockState::kUsed}}, total_(device_bytes) {}

CachingAllocator::~CachingAllocator() = default;

Block CachingAllocator::allocate(std::uint64_t bytes, int stream) {
  if (configured_) [[unlikely]]
    return allocate_configured(bytes, stream);
  const std::uint64_t need = rounded(bytes);
  const bool small = need <= kSmall;
  const std::size_t pool = pool_of(stream, small);
  if (pool >= pools_.size()) pools_.resize(pool_of(stream + 1, false));
  Block block = pools_[pool].first_at_least(records(), need);
  if (block != kNone) {
    unfile(block);
  } else {
    block = grow(need, stream, small);
    if (block == kNone) return kNone;
  }
  // A small block is split wherever a block remains, a large one only for more than kSmall.
  const std::uint64_t rest = records_[block].size - need;
  if (small ? rest >= kMinBlock : rest > kSmall) split(block, need);
  return use(block);
}

void CachingAllocator::free(Block block) {
  allocated_ -= records_[block].size;
  complete(block);
}

Wait CachingAllocator::free_requested(Block block) {
  BlockRecord& record = records_[block];
  record.state = BlockState::kWaiting;
  allocated_ -= record.size;
  waiting_bytes_ += record.size;
  waiting_.push_back({next_wait_, block});
  return next_wait_++;
}

void CachingAllocator::free_completed(Wait wait) {
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (it->wait != wait) continue;
    const Block block = it->block;
    waiting_.erase(it);
    waiting_bytes_ -= records_[block].size;
    complete(block);
    return;
  }
}

void CachingAllocator::complete_frees() {
  for (const Waiting& waiting : waiting_) complete(waiting.block);
  waiting_.clear();
  waiting_bytes_ = 0;
}

void CachingAllocator::reset_peaks() {
  allocated_peak_ = allocated_;
  reserved_peak_ = reserved_;
}

std::uint64_t CachingAllocator::device_free() const {
  const std::uint64_t taken = outside_ + reserved_;
  return taken < total_ ? total_ - taken : 0;
}

std::vector<Stretch> CachingAllocator::stretches(std::int32_t segment) const {
  std::vector<Stretch> stretches;
  for (Block at = segments_[index(segment)].first; at != kNone; at = records_[at].next) {
    stretches.push_back({offset_of(at), records_[at].size, records_[at].state});
  }
  return stretches;
}

std::uint64_t CachingAllocator::state_hash() const {
  std::uint64_t hash = 0;
  // The finaliser of splitmix64: every bit of the state reaches every bit of the hash.
  const auto add = [&hash](std::uint64_t value) {
    hash = (hash ^ value) + 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    hash ^= hash >> 31;
  };
  for (const Segment& segment : segments_) {
    if (segment.bytes == 0) continue;
    add(segment.bytes);
    add(pool_of(segment.stream, segment.small));
    for (Block at = segment.first; at != kNone; at = records_[at].next) {
      const BlockRecord& record = records_[at];
      add(record.size * 4 + static_cast<std::uint64_t>(record.state));
    }
  }
  return hash;
}

std::vector<SegmentEvent> CachingAllocator::take_segment_events() {
  return std::exchange(log_, std::vector<SegmentEvent>());
}

void CachingAllocator::drop(Block block) {
  records_[block].next = spare_;
  spare_ = block;
}

// A new segment as one whole block that is in no free list; kNone where it does not fit even after
// the cache was released.
Block CachingAllocator::grow(std::uint64_t bytes, int stream, bool small) {
  const std::uint64_t size = segment_size(bytes);
  const auto fits = [this, size] { return reserved_ + size <= allowed_ && size <= device_free(); };
  if (!fits()) {
    ++retries_;
    empty_cache();
    if (!fits()) {
      fail(size);
      return kNone;
    }
  }
  return new_segment(size, stream, small);
}

Block CachingAllocator::new_segment(std::uint64_t size, int stream, bool small) {
  const auto number = static_cast<std::int32_t>(segments_.size());
  const Block block = new_block();
  records_[block] = {.address = next_address_,
                     .size = size,
                     .segment = number,
                     .pool = static_cast<std::uint16_t>(pool_of(stream, small))};
  segments_.push_back({size, next_address_, block, stream, small, 0, number});
  next_address_ += size;
  ++live_segments_;
  reserve(size);
  if (logging_) log_.push_back({true, number, size, stream});
  return block;
}

void CachingAllocator::reserve(std::uint64_t bytes) {
  reserved_ += bytes;
  if (reserved_ > reserved_peak_) reserved_peak_ = reserved_;
}

void CachingAllocator::fail(std::uint64_t size) {
  ++ooms_;
  out_of_memory_ = OutOfMemory{size,     total_,     device_free(),         outside_ + reserved_,
                               allowed_, allocated_, reserved_ - allocated_};
}

void CachingAllocator::split(Block block, std::uint64_t bytes) {
  const Block rest = cut(block, bytes);
  file(rest);
}

// Merges a block that is no longer in use with its free neighbours and files it as free.
void CachingAllocator::complete(Block block) {
  records_[block].state = BlockState::kFree;
  const Block next = records_[block].next;
  if (records_[next].state == BlockState::kFree) {
    unfile(next);
    absorb_next(block, next);
  }
  const Block prev = records_[block].prev;
  if (records_[prev].state == BlockState::kFree) {
    unfile(prev);
    absorb_next(prev, block);
    block = prev;
  }
  file(block);
  if (configured_) [[unlikely]]
    note_age(block);
}

void CachingAllocator::absorb_next(Block block, Block next) {
  BlockRecord& low = records_[block];
  low.size += records_[next].size;
  low.next = records_[next].next;
  records_[low.next].prev = block;
  drop(next);
}

void CachingAllocator::empty_cache() {
  complete_frees();
  for (std::size_t pool = 0; pool < pools_.size(); pool += 2) release_whole(pools_[pool]);
  for (std::size_t pool = 1; pool < pools_.size(); pool += 2) release_whole(pools_[pool]);
}

void CachingAllocator::release_whole(const FreeBlocks& pool) {
  for (const Block block : pool.in_order(records())) {
    if (segments_[index(records_[block].segment)].page != 0) {
      unmap_pages(block);
    } else if (records_[block].whole()) {
      release(block);
    }
  }
}

// The segment of a free block that is all of it goes back to the device.
void CachingAllocator::release(Block block) {
  unfile(block);
  const std::int32_t number = records_[block].segment;
  Segment& segment = segments_[index(number)];
  if (logging_) log_.push_back({false, number, segment.bytes, segment.stream});
  reserved_ -= segment.bytes;
  --live_segments_;
  segment.bytes = 0;
  segment.first = kNone;
  drop(block);
}

FreeSpace CachingAllocator::free_space() const {
  FreeSpace space{live_segments_, 0, reserved_ - allocated_ - waiting_bytes_ - returnable_};
  for (const FreeBlocks& pool : pools_) {
    const Block last = pool.last();
    if (last != kNone) space.largest = std::max(space.largest, records_[last].size);
  }
  return space;
}

}  // namespace ledger::device
