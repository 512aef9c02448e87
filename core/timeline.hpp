// The two steps in time, thinned to what a chart can show without losing any peak.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ledger.hpp"

namespace ledger {

struct TimelinePoint {
  std::uint32_t event = 0;
  double allocated = 0, reserved = 0;         // bytes
  std::array<double, kParts.size()> parts{};  // bytes; their sum is `allocated`
  std::uint32_t place = 0;                    // index into Timeline::places
};

struct Timeline {
  std::vector<TimelinePoint> points;
  std::vector<std::string> places;  // "layers.3.mlp.gate_proj"
};

// From the loaded model to the end of the second step, in at most about 800 points: every phase's
// borders and peak, and of each stretch between them the highest moment and the last.
Timeline timeline_of(const Record& record, const device::Replay& replay);

// Where the event happens, with the number of the layer: "layers.3.mlp.gate_proj".
std::string place_of(const Record& record, std::uint32_t event);

// The moment in words: "backward pass, loss: gradient of the logits in 32 bit".
std::string moment_of(const Record& record, const device::PhaseFigures& phase, std::uint32_t event);

}  // namespace ledger
