// Objects of one kind, taken and given back without asking the system each time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace ledger {

template <class T>
class Pool {
 public:
  // A fresh T. Stays valid until given back or until the pool dies.
  T* take() {
    if (free_.empty()) grow();
    T* object = free_.back();
    free_.pop_back();
    *object = T{};
    return object;
  }
  void give_back(T* object) { free_.push_back(object); }

 private:
  static constexpr std::size_t kChunk = 256;
  void grow() {
    chunks_.push_back(std::make_unique<T[]>(kChunk));
    for (std::size_t i = kChunk; i > 0; --i) free_.push_back(&chunks_.back()[i - 1]);
  }
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<T*> free_;
};

}  // namespace ledger
