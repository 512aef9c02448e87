// Whether a run fits a device: what it needs beside the allocator, and what the allocator does when
// the device is just so large.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/device/replay.hpp"

namespace ledger::device {

struct Range {
  double low = 0, high = 0;  // bytes
};

// What a process takes on the device outside PyTorch's allocator: the CUDA context, kernels that
// are loaded when first used, library handles. It cannot be derived, so it is a range.
struct Context {
  Range bytes;
  const char* source;
};
Context cuda_context();

struct Failure {
  std::uint32_t event = 0;  // index into Record::events
  OutOfMemory message;
};

// The first allocation that fails on a device of `total` bytes of which `outside` are taken.
struct OnDevice {
  std::optional<Failure> failure;
  std::int64_t retries = 0;  // times the cache had to be released
};
OnDevice replay_on_device(const Record& record, double total, double outside);

enum class Fit : std::uint8_t { kYes, kClose, kNo };
constexpr std::array<const char*, 3> kFitNames = {"yes", "close", "no"};

struct Verdict {
  Fit fit = Fit::kYes;
  Range needed, spare;             // bytes: reserved, context and others; what is left
  std::optional<Failure> failure;  // with the smaller context if it does not fit, else the larger
  bool releases_cache = false;     // fits only because the allocator gives cached memory back
};

// `total`: bytes that PyTorch can use; `other`: bytes that other processes take.
Verdict judge(const Record& record, const Replay& replay, double total, double other);

}  // namespace ledger::device
