// Scaled dot-product attention: PyTorch's fused kernels and which of them runs, and the softmax of
// attention written out.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

// Which kernel F.scaled_dot_product_attention takes for these operands.
enum class AttentionKernel { kFlash, kMemoryEfficient, kMath };
AttentionKernel attention_kernel(const Tape& t, const Tensor& q, const Tensor& v, bool masked,
                                 bool wants_gradient);

// q [B,H,T,d], k [B,K,T,d] and v [B,K,T,d] or of another width, causal or with a boolean mask
// [B or 1,1,T,T].
Tensor scaled_dot_product_attention(Tape& t, Tensor q, Tensor k, Tensor v, Tensor mask,
                                    bool dropout = false);

// F.softmax(x, dim=-1) without a type: that of x, but 32 bit under autocast.
Tensor softmax_of_no_type(Tape& t, Tensor x);

// F.softmax(x, dim=-1, dtype=dtype): x is cast first.
Tensor softmax_in(Tape& t, Tensor x, Dtype dtype);

Tensor softmax(Tape& t, Tensor x, const char* what);  // in the type of x
// F.softmax(x, dim=-1, dtype=torch.float32)
Tensor softmax_float32(Tape& t, Tensor x, const char* what = "attention weights in 32 bit");

}  // namespace ledger::ops
