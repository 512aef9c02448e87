// The two fused kernels behind scaled_dot_product_attention. Operands are cast already.
#pragma once

#include "core/ops/attention.hpp"

namespace ledger::ops {

Tensor flash_attention(Tape& t, Tensor q, Tensor k, Tensor v);
Tensor memory_efficient_attention(Tape& t, Tensor q, Tensor k, Tensor v, Tensor mask,
                                  bool wants_gradient);

}  // namespace ledger::ops
