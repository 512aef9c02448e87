// The tiers of a measurement beside an estimate, and what explains their differences.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/outside.hpp"
#include "core/json.hpp"
#include "core/scenario.hpp"

namespace ledger::message {

using device::Range;

enum class Tier : std::uint8_t { kAllocated, kReserved, kNvidiaSmi, kFree };
struct TierRow {
  std::string_view id, key, what;
};
inline constexpr std::array kTiers = {
    TierRow{"allocated", "max_memory_allocated", "live tensors at the worst moment"},
    TierRow{"reserved", "max_memory_reserved", "segments that the allocator took"},
    TierRow{"nvidia_smi", "nvidia_smi", "used on the device: segments, context, other processes"},
    TierRow{"free", "free", "left of the memory while the run was at its worst"},
};
struct Measured {
  double value = 0;
  Range range;
  std::string printed;
};

struct Explanation {
  std::string_view id;
  std::string sentence;
  Range bytes;
};

struct Estimated {
  double allocated = 0, rounded_up = 0, reserved = 0;
  Range reserved_on_card;  // with the spread that real cards show
};
Estimated estimate_of(const Scenario& scenario);

struct Comparison {
  const Scenario& scenario;
  const json::Value& given;
  Estimated estimate;
  std::array<std::optional<Measured>, kTiers.size()> measured;
  std::optional<double> total;

  const std::optional<Measured>& of(Tier tier) const {
    return measured[static_cast<std::size_t>(tier)];
  }
  // Of the process itself and of the system, beside the allocator.
  Range context() const {
    const Range process = device::sum(device::process_parts(scenario));
    const Range system = device::system_part(scenario.device).bytes;
    return {process.low + system.low, process.high + system.high};
  }
  Range estimated(Tier tier) const {
    const Range outside = context(), reserved = estimate.reserved_on_card;
    const double other = scenario.device.other_bytes;
    switch (tier) {
      case Tier::kAllocated: return {estimate.allocated, estimate.allocated};
      case Tier::kReserved: return reserved;
      case Tier::kNvidiaSmi:
        return {reserved.low + outside.low + other, reserved.high + outside.high + other};
      case Tier::kFree: {
        const Range used = estimated(Tier::kNvidiaSmi);
        return {std::max(0.0, *total - used.high), std::max(0.0, *total - used.low)};
      }
    }
    return {};
  }
  // What the device has in use, from the outermost tier that was measured.
  Range used() const {
    const Range outside = context();
    const double other = scenario.device.other_bytes;
    if (of(Tier::kNvidiaSmi)) return of(Tier::kNvidiaSmi)->range;
    if (of(Tier::kFree) && total)
      return {*total - of(Tier::kFree)->range.high, *total - of(Tier::kFree)->range.low};
    if (const auto& reserved = of(Tier::kReserved))
      return {reserved->range.low + outside.low + other,
              reserved->range.high + outside.high + other};
    return estimated(Tier::kNvidiaSmi);
  }
};

// `difference`: measured less estimated.
std::vector<Explanation> explain_allocated(const Comparison& c, Range difference);
std::vector<Explanation> explain_reserved(const Comparison& c);
// `measured`: in use on the device.
std::vector<Explanation> explain_device(const Comparison& c, Range measured);

}  // namespace ledger::message
