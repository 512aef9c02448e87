// c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.14.1, and the recordings in tests/data/traces.
#include "core/device/message.hpp"

#include "core/json.hpp"

namespace ledger::device {
namespace {

std::string digits_of(std::uint64_t number) {
  std::string out;
  json::write_number(static_cast<double>(number), out);
  return out;
}

}  // namespace

// Two decimals of the exact quotient, a tie to the even one, as the C library rounds.
std::string size_in_message(std::uint64_t bytes) {
  constexpr std::uint64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;
  if (bytes <= kKiB) return digits_of(bytes) + " bytes";
  const std::uint64_t unit = bytes <= kMiB ? kKiB : bytes <= kGiB ? kMiB : kGiB;
  std::uint64_t hundredths = bytes / unit * 100 + bytes % unit * 100 / unit;
  const std::uint64_t rest = 2 * (bytes % unit * 100 % unit);
  if (rest > unit || (rest == unit && hundredths % 2 == 1)) ++hundredths;
  const std::string decimals = digits_of(hundredths % 100);
  return digits_of(hundredths / 100) + (decimals.size() < 2 ? ".0" : ".") + decimals +
         (unit == kKiB   ? " KiB"
          : unit == kMiB ? " MiB"
                         : " GiB");
}

std::string out_of_memory_message(const OutOfMemory& failure, bool expandable_segments) {
  std::string text = "CUDA out of memory. Tried to allocate " + size_in_message(failure.tried) +
                     ". GPU 0 has a total capacity of " + size_in_message(failure.total) +
                     " of which " + size_in_message(failure.free) +
                     " is free. Including non-PyTorch memory, this process has " +
                     size_in_message(failure.in_use) + " memory in use. ";
  if (failure.allowed < kUnlimited) text += size_in_message(failure.allowed) + " allowed; ";
  text += "Of the allocated memory " + size_in_message(failure.allocated) +
          " is allocated by PyTorch, and " + size_in_message(failure.unallocated) +
          " is reserved by PyTorch but unallocated.";
  if (!expandable_segments) {
    text +=
        " If reserved but unallocated memory is large try setting "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
        "documentation for Memory Management  "
        "(https://docs.pytorch.org/docs/stable/notes/cuda.html"
        "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)";
  }
  return text;
}

}  // namespace ledger::device
