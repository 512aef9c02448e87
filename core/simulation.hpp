// A scenario run and replayed: the whole way from the program to the allocator's counters.
#pragma once

#include "core/device/replay.hpp"
#include "core/training/program.hpp"

namespace ledger {

struct Simulation {
  training::Run run;
  device::Replay replay;
  int micro_batches = 1;  // of a step, that were replayed
  bool repeats = true;    // those left out would only repeat them
};

// With accumulation a step soon leaves the allocator in a state that it was in before; all later
// micro-batches then repeat earlier ones, and are left out. The workings must outlive the result.
Simulation simulate(const Scenario& scenario, Workings& workings);

}  // namespace ledger
