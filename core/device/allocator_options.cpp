// What the options of the caching allocator change: rounding, search, splitting, and what is given
// back before the whole cache is. c10/core/AllocatorConfig.h and c10/cuda/CUDACachingAllocator.cpp
// of PyTorch 2.14.1; docs/rules/allocator.md.
#include <algorithm>
#include <bit>

#include "core/device/configured.hpp"

namespace ledger::device {
namespace {

std::uint64_t rounded_by(const AllocatorOptions& options, std::uint64_t bytes) {
  constexpr int kFirstInterval = 20;  // 2^20 bytes
  if (bytes < kMinBlock) return kMinBlock;
  const int log = static_cast<int>(std::bit_width(bytes)) - 1;
  const int interval =
      std::clamp(log - kFirstInterval, 0, static_cast<int>(AllocatorOptions::kIntervals) - 1);
  const std::uint32_t divisions =
      options.roundup_power2_divisions[static_cast<std::size_t>(interval)];
  if (divisions <= 1 || bytes <= kMinBlock * divisions) return rounded(bytes);
  const std::uint64_t step = (std::uint64_t{1} << log) >> (std::bit_width(divisions) - 1);
  return (bytes + step - 1) / step * step;  // a power of two is a multiple
}

}  // namespace

CachingAllocator::CachingAllocator(std::uint64_t device_bytes, const AllocatorOptions& options)
    : CachingAllocator(device_bytes) {
  if (options == AllocatorOptions()) return;
  configured_ = std::make_unique<Configured>();
  configured_->options = options;
  if (!options.per_process_memory_fraction) return;
  const double allowed = *options.per_process_memory_fraction * static_cast<double>(device_bytes);
  allowed_ = static_cast<std::uint64_t>(allowed);
  if (options.garbage_collection_threshold > 0) {
    configured_->collect_above = static_cast<std::uint64_t>(options.garbage_collection_threshold *
                                                            static_cast<double>(allowed_));
  }
}

void CachingAllocator::set_collect_above(std::uint64_t reserved_bytes) {
  if (configured_) configured_->collect_above = reserved_bytes;
}

Block CachingAllocator::allocate_configured(std::uint64_t bytes, int stream) {
  const AllocatorOptions& options = configured_->options;
  const std::uint64_t need = rounded_by(options, bytes);
  const bool small = need <= kSmall;
  const std::size_t pool = pool_of(stream, small);
  if (pool >= pools_.size()) {
    pools_.resize(pool_of(stream + 1, false));
    configured_->unmapped.resize(pools_.size());
  }
  Block block = find_configured(pool, need);
  if (block == kNone) block = grow_configured(need, stream, small);
  if (block == kNone) return kNone;
  const std::uint64_t rest = records_[block].size - need;
  const bool splits = small || options.expandable_segments
                          ? rest >= kMinBlock
                          : rest > kSmall && need < options.max_split_size;
  if (splits) split(block, need);
  return use(block);
}

// Only the best fit is looked at: where max_split_size refuses it, the search has failed.
Block CachingAllocator::find_configured(std::size_t pool, std::uint64_t need) {
  const AllocatorOptions& options = configured_->options;
  if (configured_->collects()) ++configured_->searches[pool % 2];
  const FreeBlocks& free = pools_[pool];
  Block block = free.first_at_least(records(), need);
  if (block == kNone) return kNone;
  if (options.expandable_segments) {
    for (Block next = free.after(records(), block); next != kNone && reach(next) < reach(block);
         next = free.after(records(), block)) {
      block = next;
    }
  }
  const std::uint64_t size = records_[block].size;
  if (need < options.max_split_size ? size >= options.max_split_size
                                    : size >= need + options.max_non_split_rounding) {
    return kNone;
  }
  unfile(block);
  return block;
}

Block CachingAllocator::grow_configured(std::uint64_t need, int stream, bool small) {
  const std::uint64_t size = segment_size(need, configured_->options.large_segment_size);
  if (configured_->collects()) collect();
  Block block = try_grow(need, size, stream, small);
  if (block == kNone && release_oversize(pool_of(stream, small), need)) {
    block = try_grow(need, size, stream, small);
  }
  if (block == kNone) {
    ++retries_;
    empty_cache();
    block = try_grow(need, size, stream, small);
  }
  if (block == kNone) fail(size);
  return block;
}

Block CachingAllocator::try_grow(std::uint64_t need, std::uint64_t size, int stream, bool small) {
  if (reserved_ + size > allowed_) return kNone;
  if (configured_->options.expandable_segments) return extend(need, stream, small);
  return size <= device_free() ? new_segment(size, stream, small) : kNone;
}

// Gives back the smallest free block that would do, or the largest ones until their sum would; all
// of them of the sizes that max_split_size keeps whole. Whether enough came back.
bool CachingAllocator::release_oversize(std::size_t pool, std::uint64_t need) {
  const AllocatorOptions& options = configured_->options;
  if (options.max_split_size == kUnlimited || options.expandable_segments) return false;
  const std::uint64_t want = std::max(need, options.max_split_size);
  const FreeBlocks& free = pools_[pool];
  const Block enough = free.first_at_least(records(), want);
  if (enough != kNone && records_[enough].whole()) {
    release(enough);
    return true;
  }
  const std::vector<Block> blocks = free.in_order(records());
  std::uint64_t released = 0;
  for (auto block = blocks.rbegin(); block != blocks.rend() && released < want; ++block) {
    const BlockRecord& record = records_[*block];
    if (record.size < options.max_split_size) break;
    if (!record.whole()) continue;
    released += record.size;
    release(*block);
  }
  return released >= want;
}

// garbage_collection_threshold: whole free blocks of the large pool that waited at least as many
// searches as the mean of them go back, in rounds, until reserved is below the threshold.
void CachingAllocator::collect() {
  if (reserved_ <= configured_->collect_above) return;
  const std::uint64_t target = reserved_ - configured_->collect_above;
  const auto age = [this](Block block) {
    return static_cast<double>(configured_->searches[0] - configured_->ages[block]);
  };
  std::vector<Block> left;
  double ages = 0;
  for (std::size_t pool = 0; pool < pools_.size(); pool += 2) {
    for (const Block block : pools_[pool].in_order(records())) {
      const BlockRecord& record = records_[block];
      if (!record.whole() || segments_[index(record.segment)].page != 0) continue;
      left.push_back(block);
      ages += age(block);
    }
  }
  std::uint64_t released = 0;
  for (bool any = true; any && released < target && !left.empty();) {
    const double mean = ages / static_cast<double>(left.size());
    any = false;
    std::vector<Block> kept;
    for (const Block block : left) {
      const double waited = age(block);
      if (waited < mean) {
        kept.push_back(block);
        continue;
      }
      any = true;
      released += records_[block].size;
      ages -= waited;
      release(block);
    }
    left = std::move(kept);
  }
}

void CachingAllocator::note_age(Block block) {
  if (!configured_->collects()) return;
  if (block >= configured_->ages.size()) configured_->ages.resize(records_.size());
  configured_->ages[block] = configured_->searches[records_[block].pool % 2];
}

}  // namespace ledger::device
