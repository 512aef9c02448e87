// What PyTorch's reduction kernel needs beside its result, and the sum that undoes a broadcast.
#pragma once

#include "core/tape.hpp"

namespace ledger {

// A sum, mean, norm or extreme over one dimension.
struct Reduction {
  Count rows;       // values for each output
  Count outputs;    // results
  bool contiguous;  // values lie side by side (the last dimension), else a row of outputs apart
  Dtype dtype;      // of values and results
  Count matrices =
      1;  // not contiguous: a leading dimension, each of which has its share of outputs
  int running_bytes = 0;  // of a running result; 0 for what sums of the type take
};

// Allocates and frees what the kernel needs beside its result: partial results and counters where
// it runs in two passes. Values that span 2^31 bytes or more are halved until none does; sums of
// 16-bit floats then lie in 32 bit meanwhile.
// Source: aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig, gpu_reduce_kernel;
// aten/src/ATen/TensorIterator.cpp, can_use_32bit_indexing, get_dim_to_split.
void allocate_working_space(Tape& tape, const Reduction& reduction);

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
