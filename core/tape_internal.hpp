// What the files of the tape share and nobody else needs.
#pragma once

#include "core/tape.hpp"

namespace ledger {

constexpr std::uint32_t kNoStorage = 0xffffffffu;     // of a phantom
constexpr std::uint32_t kLastSequence = 0xffffffffu;  // parameters run as soon as they can

// A checkpointed region: what it needs to run again, and what a second run gave.
struct Frame {
  std::uint32_t refs = 0;
  std::uint32_t count = 0;  // values that the region saves
  bool done = false;        // has been run again
  Region region = nullptr;
  const void* context = nullptr;
  std::vector<Tensor> arguments;
  std::vector<Tensor> values;  // by number; handed out once
  Flags dropped;               // by number: the node that saved it is gone, so nothing is kept
  bool autocast_on = false;
  Dtype autocast_dtype = Dtype::kBFloat16;
  std::uint32_t place = 0;
  std::int16_t layer = -1;
};

extern const Rule kAccumulateGrad;

}  // namespace ledger
