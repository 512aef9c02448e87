// Loading by from_pretrained: a program of its own, before everything else.
#pragma once

#include "core/models/decoder.hpp"

namespace ledger::training {

// The record of loading the scenario's model onto the device, quantised or not. The workings must
// outlive it.
Record load(const Scenario& scenario, Workings& workings);

}  // namespace ledger::training
