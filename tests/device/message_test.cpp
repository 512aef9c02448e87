// Sizes as PyTorch's messages write them: what the C library prints for the same numbers.
#include "core/device/message.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <random>

namespace ledger::device {
namespace {

std::string printed(std::uint64_t bytes) {
  if (bytes <= 1024) return std::to_string(bytes) + " bytes";
  const bool kib = bytes <= 1024 * 1024, mib = bytes <= 1024 * 1024 * 1024;
  const double unit = kib ? 1024.0 : mib ? 1024.0 * 1024 : 1024.0 * 1024 * 1024;
  char text[64];
  std::snprintf(text, sizeof text, "%.2f %s", static_cast<double>(bytes) / unit,
                kib   ? "KiB"
                : mib ? "MiB"
                      : "GiB");
  return text;
}

TEST_CASE("a size in a message is rounded as the C library does") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bytes = random() >> (11 + random() % 50);
    CHECK(size_in_message(bytes) == printed(bytes));
  }
  // Ties: an eighth has three decimals.
  for (std::uint64_t eighths = 1; eighths < 64; ++eighths) {
    for (const int unit : {7, 17, 27}) {
      const std::uint64_t bytes = (8 + eighths) << unit;
      CHECK(size_in_message(bytes) == printed(bytes));
    }
  }
}

}  // namespace
}  // namespace ledger::device
