// The program of a training run: build the model, then two steps of a loop. Its record is all that
// the device needs to know.
#pragma once

#include "core/models/decoder.hpp"
#include "core/parallel/fully_shard.hpp"
#include "core/tape.hpp"

namespace ledger::training {

constexpr int kSteps = 2;  // the second is the steady state: optimizer state exists when it begins

struct Run {
  Record record;
  double parameters = 0, trainable = 0;  // logical elements, tied ones once
  bool generation_shortened = false;     // some of its passes are left out
  parallel::Host host;                   // beside the device: offloaded, or in managed memory
};

// Whether some batches of the evaluation are left out.
bool shortens_evaluation(const Scenario& scenario);

// Runs the scenario on a tape, with so many micro-batches a step (the scenario's own number, or
// fewer where the rest would only repeat). The workings must outlive the record.
Run run(const Scenario& scenario, Workings& workings, int micro_batches);

}  // namespace ledger::training
