// Whether a run fits a device: what it needs beside the allocator, and what the allocator does when
// the device is just so large.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/device/outside.hpp"
#include "core/device/replay.hpp"
#include "core/device/reserved.hpp"

namespace ledger::device {

struct Failure {
  std::uint32_t event = 0;  // index into Record::events
  OutOfMemory message;
};

// The first allocation that fails on a device of `total` bytes of which `outside` are taken.
struct OnDevice {
  std::optional<Failure> failure;
  std::int64_t retries = 0;  // times the cache had to be released
};
OnDevice replay_on_device(const Record& record, double total, double outside,
                          const AllocatorOptions& options = {});

enum class Fit : std::uint8_t { kYes, kClose, kNo };
constexpr std::array<const char*, 3> kFitNames = {"yes", "close", "no"};

// Why the verdict is what it is.
enum class Reason : std::uint8_t {
  kRoom,      // yes: the headroom stays free, whatever of the ranges is true
  kHeadroom,  // close: it fits whatever is true, with less than the headroom left
  kReserved,  // close: it fits as replayed; on a card the allocator may reserve more
  kLengths,   // close: as replayed; with lengths that vary the allocator may reserve more
  kCache,     // close: it fits because the allocator gives cached memory back
  kOutside,   // close: beside the smallest context that was seen, not beside the largest
  kPieces,    // no: there is room for the tensors, but not in one piece
  kTensors,   // no: the tensors alone are too large
};
constexpr std::array<const char*, 8> kReasonNames = {"room",  "headroom", "reserved", "lengths",
                                                     "cache", "outside",  "pieces",   "tensors"};

struct Verdict {
  Fit fit = Fit::kYes;
  Reason reason = Reason::kRoom;
  Range needed, spare;             // bytes: reserved, context and others; what is left
  Range outside;                   // bytes of all that is not the allocator's
  double headroom = 0;             // bytes
  std::optional<Failure> failure;  // with the smaller context if it does not fit, else the larger
};

// For a scenario whose device.total_bytes is known.
Verdict judge(const Scenario& scenario, const Record& record, const Replay& replay);

// The reason as a sentence.
std::string verdict_sentence(const Verdict& verdict);

}  // namespace ledger::device
