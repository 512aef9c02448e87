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
// 16-bit and 32-bit floats are summed in 4 bytes, 64-bit integers in 8.
// Source: aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig.
ReductionScratch reduction_scratch(Tape& tape, Count rows, Count outputs, bool contiguous,
                                   int accumulator_bytes = 4);

// Working space, in bytes, of cub's scan of that many 64-bit numbers; a tile takes so many of them.
Count scan_space(Count items, double tile = 14336);
// The same of a running sum of 32-bit floats.
Count float_scan_space(Count items);
// torch.cumsum along the last dimension: one long row is scanned by cub, several by a kernel that
// needs no space.
Tensor running_sum(Tape& tape, const Tensor& x, const char* what);

// Sums a gradient over the dimensions that were broadcast. The large gradient dies afterwards.
Tensor sum_to(Tape& tape, Tensor large, Shape shape);

}  // namespace ledger
