// Reads the measured rows of tests/data/rows and holds the core against them.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/device/replay.hpp"
#include "core/simulation.hpp"
#include "tests/device/trace.hpp"

namespace ledger::rows {

using nlohmann::json;

inline std::vector<json> read(const std::string& name) {
  std::istringstream lines(trace::unzipped(std::string(TEST_DATA_DIR) + "/rows/" + name));
  std::vector<json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  return rows;
}

// Every figure in which the replay of a row differs from its measurement, as text; empty if none.
inline std::string differences(const Scenario& scenario, const json& measured) {
  Workings workings;
  const Simulation simulation = simulate(scenario, workings);
  const training::Run& run = simulation.run;
  const device::Replay& replay = simulation.replay;
  std::string out;
  auto compare = [&](const std::string& what, std::uint64_t replayed, const json& wanted) {
    const auto bytes = wanted.get<std::uint64_t>();
    if (replayed == bytes) return;
    out += what + ": replayed " + std::to_string(replayed) + ", measured " + std::to_string(bytes) +
           "; ";
  };
  compare("weights", replay.weights_bytes, measured.at("weights_bytes"));
  if (measured.contains("parameters")) {
    compare("parameters", static_cast<std::uint64_t>(run.parameters), measured.at("parameters"));
  }
  compare("trainable", static_cast<std::uint64_t>(run.trainable), measured.at("trainable"));
  for (const device::PhaseFigures& p : replay.phases) {
    const json& step = measured.at("steps").at(static_cast<std::size_t>(p.step - 1));
    const std::string name = device::kPhaseNames[static_cast<std::size_t>(p.phase)];
    const std::string which = "step " + std::to_string(p.step) + " " + name;
    if (p.phase == device::Phase::kForward)
      compare(which + " start", p.start_bytes, step.at("start_bytes"));
    compare(which + " peak", p.peak_bytes, step.at(name + "_peak_bytes"));
    compare(which + " end", p.end_bytes, step.at(name + "_end_bytes"));
    if (p.phase == device::Phase::kStep && step.contains("clip_peak_bytes")) {
      compare(which + " clip peak", p.clip_peak_bytes, step.at("clip_peak_bytes"));
    }
  }
  compare("peak", replay.phases.at(replay.peak_phase).peak_bytes,
          measured.at("peak_allocated_bytes"));
  compare("segments", static_cast<std::uint64_t>(replay.segments), measured.at("segments"));
  compare("reserved", replay.reserved.back(), measured.at("reserved_bytes"));
  return out;
}

}  // namespace ledger::rows
