// The caching allocator as one would first write it: blocks on the heap, a std::set of the free
// ones per pool. The yardstick of the benchmarks, and a second opinion in the allocator's tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace ledger::bench {

class SetAllocator {
 public:
  struct Pool;
  struct Block {
    std::uint64_t size = 0;
    std::uint64_t address = 0;
    int stream = 0;
    int segment = 0;
    Pool* pool = nullptr;
    Block* prev = nullptr;
    Block* next = nullptr;
    bool used = false;
  };
  struct Key {
    int stream;
    std::uint64_t size;
    std::uint64_t address;
    Block* block;

    bool operator<(const Key& other) const {
      if (stream != other.stream) return stream < other.stream;
      if (size != other.size) return size < other.size;
      return address < other.address;
    }
  };
  struct Pool {
    std::set<Key> free;
    bool small;
  };

  explicit SetAllocator(std::uint64_t device_bytes) : device_bytes_(device_bytes) {}
  SetAllocator(const SetAllocator&) = delete;
  SetAllocator& operator=(const SetAllocator&) = delete;
  ~SetAllocator() {
    for (Block* block : first_) {
      while (block != nullptr) {
        Block* next = block->next;
        delete block;
        block = next;
      }
    }
  }

  // nullptr where the device has no room.
  Block* allocate(std::uint64_t bytes, int stream = 0) {
    const std::uint64_t need = bytes < 512 ? 512 : (bytes + 511) / 512 * 512;
    Pool& pool = need <= kMiB ? small_ : large_;
    Block* block = find(pool, need, stream);
    if (block == nullptr) block = grow(pool, need, stream);
    if (block == nullptr) return nullptr;
    const std::uint64_t rest = block->size - need;
    if (pool.small ? rest >= 512 : rest > kMiB) split(block, need);
    block->used = true;
    allocated_ += block->size;
    if (allocated_ > allocated_peak_) allocated_peak_ = allocated_;
    return block;
  }

  void free(Block* block) {
    allocated_ -= block->size;
    complete(block);
  }

  // A free that waits for another stream: the bytes go at once, the block becomes reusable later.
  void free_requested(Block* block) {
    allocated_ -= block->size;
    waiting_.insert(block);
  }

  void free_completed(Block* block) {
    if (waiting_.erase(block) != 0) complete(block);
  }

  void empty_cache() {
    for (Block* block : waiting_) complete(block);
    waiting_.clear();
    release(large_);
    release(small_);
  }

  std::uint64_t allocated() const { return allocated_; }
  std::uint64_t reserved() const { return reserved_; }
  std::uint64_t allocated_peak() const { return allocated_peak_; }
  std::uint64_t reserved_peak() const { return reserved_peak_; }
  int retries() const { return retries_; }
  int segment_of(const Block* block) const { return block->segment; }
  std::uint64_t offset_of(const Block* block) const { return block->address - base_[index(block)]; }

 private:
  static constexpr std::uint64_t kMiB = 1 << 20;

  static std::size_t index(const Block* block) { return static_cast<std::size_t>(block->segment); }
  static Key key(Block* block) { return {block->stream, block->size, block->address, block}; }

  Block* find(Pool& pool, std::uint64_t need, int stream) {
    const auto found = pool.free.lower_bound({stream, need, 0, nullptr});
    if (found == pool.free.end() || found->stream != stream) return nullptr;
    Block* block = found->block;
    pool.free.erase(found);
    return block;
  }

  Block* grow(Pool& pool, std::uint64_t need, int stream) {
    const std::uint64_t size = pool.small         ? 2 * kMiB
                               : need < 10 * kMiB ? 20 * kMiB
                                                  : (need + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
    if (reserved_ + size > device_bytes_) {
      empty_cache();
      ++retries_;
      if (reserved_ + size > device_bytes_) return nullptr;
    }
    Block* block = new Block;
    block->size = size;
    block->address = next_address_;
    block->stream = stream;
    block->segment = static_cast<int>(base_.size());
    block->pool = &pool;
    base_.push_back(next_address_);
    first_.push_back(block);
    next_address_ += size;
    reserved_ += size;
    if (reserved_ > reserved_peak_) reserved_peak_ = reserved_;
    return block;
  }

  void split(Block* block, std::uint64_t need) {
    Block* rest = new Block(*block);
    rest->address += need;
    rest->size -= need;
    rest->prev = block;
    if (rest->next != nullptr) rest->next->prev = rest;
    block->next = rest;
    block->size = need;
    rest->pool->free.insert(key(rest));
  }

  void complete(Block* block) {
    Pool& pool = *block->pool;
    block->used = false;
    if (block->next != nullptr && !block->next->used) {
      pool.free.erase(key(block->next));
      absorb_next(block);
    }
    if (block->prev != nullptr && !block->prev->used) {
      block = block->prev;
      pool.free.erase(key(block));
      absorb_next(block);
    }
    pool.free.insert(key(block));
  }

  static void absorb_next(Block* block) {
    Block* next = block->next;
    block->size += next->size;
    block->next = next->next;
    if (block->next != nullptr) block->next->prev = block;
    delete next;
  }

  void release(Pool& pool) {
    for (auto it = pool.free.begin(); it != pool.free.end();) {
      Block* block = it->block;
      if (block->prev != nullptr || block->next != nullptr) {
        ++it;
        continue;
      }
      it = pool.free.erase(it);
      reserved_ -= block->size;
      first_[index(block)] = nullptr;
      delete block;
    }
  }

  Pool small_{{}, true};
  Pool large_{{}, false};
  std::set<Block*> waiting_;
  std::vector<std::uint64_t> base_;  // by segment
  std::vector<Block*> first_;        // by segment; nullptr once freed
  std::uint64_t device_bytes_;
  std::uint64_t allocated_ = 0;
  std::uint64_t allocated_peak_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t reserved_peak_ = 0;
  std::uint64_t next_address_ = 0;
  int retries_ = 0;
};

}  // namespace ledger::bench
