// The program of a training run: build the model, then two steps of a loop. Its record is all that
// the device needs to know.
#pragma once

#include "core/models/decoder.hpp"
#include "core/tape.hpp"

namespace ledger::training {

struct Run {
  Record record;
  double parameters = 0, trainable = 0;  // logical elements, tied ones once
};

// Runs the scenario on a tape. The workings must outlive the record.
Run run(const Scenario& scenario, Workings& workings);

}  // namespace ledger::training
