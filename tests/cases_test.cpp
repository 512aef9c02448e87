// Losses, trainers, and optimizers under transformers' Trainer, against PyTorch's own allocator.
#include "tests/cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace ledger {
namespace {

using rows::json;

struct Measured {
  std::uint64_t peak = 0, reserved = 0;
};

// What the row says of the first two steps. A third, where it was measured, differs where the
// allocator has not settled yet.
Measured measured(const json& row) {
  const json& phases = row.at("phases");
  if (!phases.contains("step1")) {
    return {row.at("peak").get<std::uint64_t>(), row.at("reserved").get<std::uint64_t>()};
  }
  const auto peak_of = [&](const char* step) {
    return phases.at(step).at("peak").get<std::uint64_t>();
  };
  return {std::max(peak_of("step0"), peak_of("step1")),
          phases.at("step1").at("reserved").get<std::uint64_t>()};
}

struct Answer {
  Simulation simulation;
  std::uint64_t peak = 0;
};

Answer answer(const json& scenario_json, Workings& workings) {
  const Result<Scenario> scenario = read_scenario(scenario_json.dump());
  if (!scenario.ok()) FAIL(scenario.problems().front().message);
  Answer out;
  out.simulation = simulate(scenario.value(), workings);
  const device::Replay& replay = out.simulation.replay;
  out.peak = replay.phases.at(replay.peak_phase).peak_bytes;
  return out;
}

const device::PhaseFigures& phase(const Answer& a, int step, device::Phase which) {
  for (const device::PhaseFigures& p : a.simulation.replay.phases) {
    if (p.step == step && p.phase == which) return p;
  }
  FAIL("no such phase");
  return a.simulation.replay.phases.front();
}

// Rows whose measurement is not of the program that the scenario describes, and why.
struct Exception {
  const char* id;
  const char* why;
};
constexpr Exception kOther[] = {
    {"sft Qwen3-0.6B full bf16 B4 T1024 checkpointing=True lengths=1024-512-256-256",
     "the instrument told the model that nothing is padded; trainers.jsonl has the row with "
     "padding"},
    {"sft Qwen3-0.6B full bf16 B4 T1024 checkpointing=True lengths=1024-512-256-256 "
     "padding_free=True",
     "samples were drawn at random, so that each step has another number of tokens; "
     "trainers.jsonl has the row with one number"},
};
// Rows whose peak or reserved bytes differ a little because the instrument picked the scored tokens
// in a way of its own; the program's own way is measured in trainers.jsonl.
constexpr const char* kPickedOtherwise[] = {
    "sft Qwen3-0.6B full bf16 B4 T1024 checkpointing=True keep=0.25",
    "sft Qwen3-0.6B full bf16 B4 T1024",
};

bool is_one_of(const std::string& id, const auto& list, auto name) {
  return std::any_of(std::begin(list), std::end(list),
                     [&](const auto& e) { return id == name(e); });
}

// `tolerance`: a share of the peak; 0 for equality in reserved bytes too.
void check(const json& row, double tolerance) {
  const std::string id = row.at("id");
  CAPTURE(id);
  Workings workings;
  const Answer a = answer(rows::scenario_of(row.at("case")), workings);
  const Measured m = measured(row);
  CHECK(a.simulation.replay.weights_bytes == row.at("weights").get<std::uint64_t>());
  if (tolerance == 0) {
    CHECK(a.peak == m.peak);
    CHECK(a.simulation.replay.reserved_peak == m.reserved);
  } else {
    const double difference = static_cast<double>(a.peak) - static_cast<double>(m.peak);
    CHECK(std::abs(difference) <= tolerance * static_cast<double>(m.peak));
  }
}

}  // namespace

TEST_CASE("losses and trainers need what was measured, in peak and reserved bytes") {
  for (const json& row : rows::read("loss.jsonl.gz")) {
    const std::string id = row.at("id");
    const bool other = is_one_of(id, kOther, [](const Exception& e) { return e.id; });
    const bool picked = is_one_of(id, kPickedOtherwise, [](const char* e) { return e; });
    check(row, other ? 0.02 : picked ? 0.00001 : 0);
  }
}

TEST_CASE("trainers with every kind of batch are equal to the byte") {
  for (const json& row : rows::read("trainers.jsonl.gz")) {
    check(row, 0);
    Workings workings;
    const Answer a = answer(rows::scenario_of(row.at("case")), workings);
    for (int step = 1; step <= 2; ++step) {
      const json& p = row.at("phases").at("step" + std::to_string(step - 1));
      const std::string id = row.at("id");
      CAPTURE(id);
      CAPTURE(step);
      const device::PhaseFigures& forward = phase(a, step, device::Phase::kForward);
      const device::PhaseFigures& backward = phase(a, step, device::Phase::kBackward);
      const device::PhaseFigures& optimizer = phase(a, step, device::Phase::kStep);
      CHECK(std::max({forward.peak_bytes, backward.peak_bytes, optimizer.clip_peak_bytes}) ==
            p.at("forward_backward_peak").get<std::uint64_t>());
      CHECK(optimizer.start_bytes == p.at("before_optimizer").get<std::uint64_t>());
      CHECK(optimizer.peak_bytes == p.at("optimizer_peak").get<std::uint64_t>());
      CHECK(optimizer.end_bytes == p.at("after_optimizer").get<std::uint64_t>());
    }
  }
}

TEST_CASE("optimizers under transformers' Trainer are equal in every figure") {
  for (const json& row : rows::read("optim.jsonl.gz")) {
    const std::string id = row.at("id");
    const std::string optim = row.at("case").at("optim");
    if (optim == "galore_adafactor" || optim == "galore_adamw_layerwise") continue;  // no row yet
    check(row, 0);
    Workings workings;
    const Answer a = answer(rows::scenario_of(row.at("case")), workings);
    for (int step = 1; step <= 2; ++step) {
      CAPTURE(id);
      const json& p = row.at("phases").at("step" + std::to_string(step - 1));
      const device::PhaseFigures& optimizer = phase(a, step, device::Phase::kStep);
      CHECK(optimizer.start_bytes == p.at("before_optimizer").get<std::uint64_t>());
      CHECK(optimizer.peak_bytes == p.at("optimizer_peak").get<std::uint64_t>());
      CHECK(optimizer.end_bytes == p.at("after_optimizer").get<std::uint64_t>());
    }
  }
}

}  // namespace ledger
