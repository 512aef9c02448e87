// The report's key `serving`.
#pragma once

#include "core/device/outside.hpp"
#include "core/json_writer.hpp"
#include "core/scenario.hpp"

namespace ledger::serving {

// Of the training beside which, or after which, is served.
struct Trained {
  double parameters = 0;         // of the model alone, adapters merged
  device::Range while_training;  // what its process takes
  device::Range between;         // likewise, while an engine generates
};

// A key and its value; the scenario has `serving`.
void write_serving(json::Writer& w, const Scenario& scenario, const Trained& trained);

}  // namespace ledger::serving
