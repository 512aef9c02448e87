// Chance for tests that mutate their data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ledger {

// The same on every machine.
class Chance {
 public:
  std::size_t below(std::size_t count) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % count;
  }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace ledger
