// What samples a batch of trl's SFTTrainer consists of.
#pragma once

#include "core/scenario.hpp"

namespace ledger::training {

struct Samples {
  double sequences = 0;    // of the batch
  double tokens = 0;       // of all of them, without padding
  double longest = 0;      // tokens of the longest one
  bool flattened = false;  // laid into one row, one after the other
};

Samples samples_of(const Training& training);

}  // namespace ledger::training
