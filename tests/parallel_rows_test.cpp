// One rank of a parallel run against PyTorch's own allocator.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/parallel_cases.hpp"

namespace ledger {
namespace {

using rows::json;

// Every figure in which the replay differs from the measurement, as text; empty if none.
std::string differences(const Simulation& simulation, const json& row) {
  std::string out;
  const auto compare = [&](const std::string& what, std::uint64_t replayed, const json& measured) {
    const auto bytes = measured.get<std::uint64_t>();
    if (replayed == bytes) return;
    out += what + ": replayed " + std::to_string(replayed) + ", measured " + std::to_string(bytes) +
           "; ";
  };
  const device::Replay& replay = simulation.replay;
  compare("weights", replay.weights_bytes, row.at("weights"));
  compare("trainable", static_cast<std::uint64_t>(simulation.run.trainable), row.at("trainable"));
  for (const device::PhaseFigures& p : replay.phases) {
    const json& step = row.at("phases").at(static_cast<std::size_t>(p.step - 1));
    const std::string name = device::kPhaseNames[static_cast<std::size_t>(p.phase)];
    const std::string which = "step " + std::to_string(p.step) + " " + name;
    if (p.phase == device::Phase::kForward) {
      compare(which + " start", p.start_bytes, step.at("start"));
    }
    compare(which + " peak", p.peak_bytes, step.at(name + "_peak"));
    compare(which + " end", p.end_bytes, step.at(name + "_end"));
  }
  compare("peak", replay.phases.at(replay.peak_phase).peak_bytes, row.at("peak"));
  compare("reserved", replay.reserved_peak, row.at("reserved"));
  compare("segments", static_cast<std::uint64_t>(replay.segments), row.at("segments"));
  return out;
}

void check_rows(const char* file) {
  for (const json& row : rows::read(file)) {
    const std::string id = row.at("id");
    CAPTURE(id);
    const Result<Scenario> scenario = read_scenario(rows::parallel_scenario(row.at("case")).dump());
    CHECK(scenario.ok());
    if (!scenario.ok()) continue;
    Workings workings;
    CHECK(differences(simulate(scenario.value(), workings), row) == "");
  }
}

}  // namespace

TEST_CASE("ranks of DDP, FSDP2, HSDP and tensor parallel are equal to the byte in every phase") {
  check_rows("dist.jsonl.gz");
}

TEST_CASE("ranks with uneven shards, other wrappings and other families are equal to the byte") {
  check_rows("parallel.jsonl.gz");
}

TEST_CASE(
    "tensor-parallel ranks of small models are equal to the byte, biases and tied heads too") {
  check_rows("tensor_parallel.jsonl.gz");
}

}  // namespace ledger
