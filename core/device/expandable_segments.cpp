// Expandable segments: addresses for more than the device has, of which pages get memory as they
// are needed. c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.14.1; docs/rules/allocator.md.
#include <algorithm>

#include "core/device/configured.hpp"

namespace ledger::device {

// How large a free block can get without another one in between.
std::uint64_t CachingAllocator::reach(Block block) const {
  const BlockRecord& record = records_[block];
  const BlockRecord& next = records_[record.next];
  return record.size + (next.state == BlockState::kUnmapped ? next.size : 0);
}

// A free block of at least `need` bytes that is in no list, made by giving memory to addresses that
// have none; kNone where the device has too little. What was mapped before that stays.
Block CachingAllocator::extend(std::uint64_t need, int stream, bool small) {
  const std::size_t pool = pool_of(stream, small);
  const auto open = [this](Block block) {
    const BlockState state = records_[block].state;
    return state == BlockState::kFree || state == BlockState::kUnmapped;
  };
  Block start = kNone;
  for (const Block unmapped : configured_->unmapped[pool]) {
    const Block prev = records_[unmapped].prev;
    const Block from = open(prev) ? prev : unmapped;
    std::uint64_t bytes = 0;
    for (Block at = from; bytes < need && open(at); at = records_[at].next) {
      bytes += records_[at].size;
    }
    if (bytes >= need) {
      start = from;
      break;
    }
  }
  if (start == kNone) start = new_reservation(stream, small);
  if (records_[start].state == BlockState::kUnmapped) {
    start = map_pages(start, std::min(records_[start].size, need));
  }
  while (start != kNone && records_[start].size < need) {
    const Block next = records_[start].next;
    if (next == kNone) return kNone;  // a request beyond all addresses
    start = map_pages(next, std::min(need - records_[start].size, records_[next].size));
  }
  if (start != kNone) unfile(start);
  return start;
}

// Addresses for the device's bytes and an eighth more, all without memory.
Block CachingAllocator::new_reservation(int stream, bool small) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 54;  // where the device never ends
  const std::uint64_t page = small ? kSmallSegment : configured_->options.large_segment_size;
  const std::uint64_t total = std::min(total_, kMost);
  const std::uint64_t size = (total + total / 8 + page - 1) / page * page;
  const Block block = new_block();
  records_[block] = {.address = next_address_,
                     .size = size,
                     .segment = static_cast<std::int32_t>(segments_.size()),
                     .pool = static_cast<std::uint16_t>(pool_of(stream, small)),
                     .state = BlockState::kUnmapped};
  segments_.push_back({0, next_address_, block, stream, small, page, -1});
  next_address_ += size;
  add_unmapped(block);
  return block;
}

// Gives memory to the low pages of an unmapped block and merges it with its free neighbours; kNone
// where the device has too little.
Block CachingAllocator::map_pages(Block block, std::uint64_t bytes) {
  Segment& segment = segments_[index(records_[block].segment)];
  const std::uint64_t mapped = (bytes + segment.page - 1) / segment.page * segment.page;
  if (mapped > device_free()) return kNone;
  if (segment.number < 0) segment.number = configured_->reservations++;
  remove_unmapped(block);
  if (mapped < records_[block].size) {
    const Block rest = cut(block, mapped);
    records_[rest].state = BlockState::kUnmapped;
    add_unmapped(rest);
  }
  segment.bytes += mapped;
  reserve(mapped);
  if (logging_) {
    log_.push_back({true, segment.number, mapped, segment.stream, true, offset_of(block)});
  }
  const Block prev = records_[block].prev;
  const Block low = records_[prev].state == BlockState::kFree ? prev : block;
  complete(block);
  return low;
}

// Takes the memory of the whole pages inside a free block; the parts of pages at its ends stay.
void CachingAllocator::unmap_pages(Block block) {
  const BlockRecord record = records_[block];
  Segment& segment = segments_[index(record.segment)];
  const std::uint64_t start = record.address - segment.address;
  const std::uint64_t low = (start + segment.page - 1) / segment.page * segment.page;
  const std::uint64_t high = (start + record.size) / segment.page * segment.page;
  if (low >= high) return;
  unfile(block);
  Block middle = block;
  if (low > start) {
    middle = cut(block, low - start);
    file(block);
  }
  if (start + record.size > high) split(middle, high - low);
  records_[middle].state = BlockState::kUnmapped;
  segment.bytes -= high - low;
  reserved_ -= high - low;
  if (logging_) log_.push_back({false, segment.number, high - low, segment.stream, true, low});
  const Block next = records_[middle].next;
  if (records_[next].state == BlockState::kUnmapped) {
    remove_unmapped(next);
    absorb_next(middle, next);
  }
  const Block prev = records_[middle].prev;
  if (records_[prev].state == BlockState::kUnmapped) {
    absorb_next(prev, middle);
    middle = prev;
  } else {
    add_unmapped(middle);
  }
  if (!records_[middle].whole()) return;
  remove_unmapped(middle);
  segment.first = kNone;
  drop(middle);
}

void CachingAllocator::add_unmapped(Block block) {
  std::vector<Block>& list = configured_->unmapped[records_[block].pool];
  const auto lower = [this](Block a, Block b) { return records_[a].address < records_[b].address; };
  list.insert(std::lower_bound(list.begin(), list.end(), block, lower), block);
}

void CachingAllocator::remove_unmapped(Block block) {
  std::vector<Block>& list = configured_->unmapped[records_[block].pool];
  list.erase(std::find(list.begin(), list.end(), block));
}

std::uint64_t CachingAllocator::returnable_pages(Block block) const {
  const BlockRecord& record = records_[block];
  const Segment& segment = segments_[index(record.segment)];
  if (segment.page == 0) return record.whole() ? record.size : 0;
  const std::uint64_t start = record.address - segment.address;
  const std::uint64_t low = (start + segment.page - 1) / segment.page * segment.page;
  const std::uint64_t high = (start + record.size) / segment.page * segment.page;
  return low < high ? high - low : 0;
}

}  // namespace ledger::device
