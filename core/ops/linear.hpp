// Matrix products: linear layers and the batched products of attention written out.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

// What a model calls for `x W^T + b`. What kind of linear it is was decided when it was made.
struct Linear {
  Tensor weight;  // [out, in]
  Tensor bias;    // [out], or absent
  std::uint32_t place = 0;
};

Tensor linear(Tape& t, const Linear& layer, Tensor x);

// [B,H,M,K] x [B,H,K,N], or x [B,H,N,K] transposed where `transposed`.
Tensor batched_product(Tape& t, Tensor a, Tensor b, bool transposed);

}  // namespace ledger::ops
