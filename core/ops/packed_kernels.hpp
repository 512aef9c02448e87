// When bitsandbytes multiplies with a 4-bit weight as it is, and when it dequantises it first.
#pragma once

#include "core/scenario.hpp"

namespace ledger::ops {

// `rows` of x [rows, in] times the weight's transpose, the weight [out, in] with blocks of `block`
// weights that share a scale; x in `dtype`. The table is bitsandbytes 0.50.2's own, measured by its
// authors card by card.
// Source: bitsandbytes/backends/cuda/ops.py, gemm_4bit and _gemm_4bit_use_custom_cuda.
bool multiplies_packed(const Device& device, Dtype dtype, double rows, double out, double in,
                       double block);

}  // namespace ledger::ops
