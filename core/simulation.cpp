// Accumulation of any number of micro-batches costs as much as of a few: once one of them ends in a
// state already seen, the rest is a cycle.
#include "core/simulation.hpp"

#include <algorithm>
#include <optional>

namespace ledger {
namespace {

constexpr int kFirstTry = 4;  // micro-batches; most runs repeat by the third
constexpr int kMost = 64;

struct Cycle {
  int first = 0;   // micro-batch, from 1, after which the state first appears
  int length = 1;  // micro-batches until it appears again
};

std::optional<Cycle> cycle_of(const std::vector<std::uint64_t>& states) {
  for (std::size_t later = 1; later < states.size(); ++later) {
    for (std::size_t before = later; before-- > 0;) {
      if (states[before] == states[later]) {
        return Cycle{static_cast<int>(before) + 1, static_cast<int>(later - before)};
      }
    }
  }
  return {};
}

Simulation attempt(const Scenario& scenario, Workings& workings, int micro_batches) {
  Simulation out;
  out.micro_batches = micro_batches;
  out.run = training::run(scenario, workings, micro_batches);
  out.replay =
      device::replay(out.run.record, scenario.allocator, scenario.device.total_bytes.value_or(0));
  return out;
}

// Where a step generates more than once, as many as show it twice.
int first_try(const Scenario& scenario) {
  if (!scenario.rl || scenario.rl->method != "grpo") return kFirstTry;
  const double every = scenario.rl->steps_per_generation * scenario.rl->num_iterations;
  if (every >= scenario.training.gradient_accumulation_steps) return kFirstTry;
  return static_cast<int>(std::clamp(every + 2, double{kFirstTry}, double{kMost}));
}

}  // namespace

Simulation simulate(const Scenario& scenario, Workings& workings) {
  const int wanted = static_cast<int>(scenario.training.gradient_accumulation_steps);
  for (int n = std::min(wanted, first_try(scenario));; n = std::min({wanted, kMost, 2 * n})) {
    Simulation tried = attempt(scenario, workings, n);
    if (n == wanted) return tried;
    const std::optional<Cycle> one = cycle_of(tried.replay.micro_batch_states[0]);
    const std::optional<Cycle> two = cycle_of(tried.replay.micro_batch_states[1]);
    if (one && two) {
      // The replayed number must stand at the same point of both cycles as the wanted one.
      const int both = one->length * two->length;
      if (n % both == wanted % both) return tried;
      int same = std::max(one->first + one->length, two->first + two->length);
      while (same % both != wanted % both) ++same;
      if (same <= wanted) return attempt(scenario, workings, same);
    }
    if (n == kMost) {
      tried.repeats = false;
      return tried;
    }
  }
}

}  // namespace ledger
