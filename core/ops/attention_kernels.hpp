// What runs behind scaled_dot_product_attention: two fused kernels, and plain operators where
// neither can. Operands are cast already.
#pragma once

#include "core/ops/attention.hpp"

namespace ledger::ops {

Tensor flash_attention(Tape& t, Tensor q, Tensor k, Tensor v, bool dropout);
Tensor memory_efficient_attention(Tape& t, Tensor q, Tensor k, Tensor v, Tensor mask,
                                  bool wants_gradient, bool dropout);

Tensor math_attention(Tape& t, Tensor q, Tensor k, Tensor v, Tensor mask);

}  // namespace ledger::ops
