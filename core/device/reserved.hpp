// Reserved memory on a real card: the replay is exact for segments at ascending addresses, which no
// driver promises, and for the lengths that the scenario names.
#pragma once

#include "core/device/outside.hpp"
#include "core/device/replay.hpp"

namespace ledger::device {

struct ReservedRange {
  Range on_card;  // never below what is allocated
  const char* source;
  Range varied_lengths;  // where batches differ in length, up to the longest that is replayed
  const char* varied_source;
  bool varies = false;  // the scenario's batches do: on_card then reaches up to varied_lengths
};
ReservedRange reserved_range(const Scenario& scenario, const Replay& replay);

// Whether padding or packing makes batches of several lengths out of samples of several lengths.
bool lengths_vary(const Scenario& scenario);

}  // namespace ledger::device
