// What PyTorch's reduction kernel needs beside its result, and the sum that undoes a broadcast.
#pragma once

#include "core/tape.hpp"

namespace ledger {

// Working space of a reduction that runs in two passes: partial results in 32 bit, and counters.
struct ReductionScratch {
  bool any = false;
  Count partials;  // bytes
  Count counters;  // bytes
};

// `rows` values are reduced for each of `outputs`. `contiguous`: they lie side by side (a reduction
// over the last dimension), else they are `outputs` apart.
// Source: aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig, at 4 bytes an accumulator.
ReductionScratch reduction_scratch(Tape& tape, Count rows, Count outputs, bool contiguous);

// Sums a gradient over the dimensions that were broadcast. The large gradient dies afterwards.
Tensor sum_to(Tape& tape, Tensor large, Shape shape);

}  // namespace ledger
