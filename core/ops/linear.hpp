// Matrix products: linear layers and the batched products of attention written out.
#pragma once

#include <optional>
#include <vector>

#include "core/tape.hpp"

namespace ledger::ops {

// A weight in four bits with what is needed to read it (bitsandbytes Params4bit and its state).
struct Packed {
  bool nested = false;               // the scales are quantised themselves
  Dtype compute_dtype = Dtype::kBFloat16;
  std::vector<Tensor> tensors;       // packed weight, scales, codes
};

// A low-rank update beside a frozen weight (peft's LoRA layers).
struct Adapter {
  Tensor a;  // [r, in]
  Tensor b;  // [out, r]
  bool dropout = false;
};

// What a model calls for `x W^T + b`. What kind of linear it is was decided when it was made.
struct Linear {
  Tensor weight;  // [out, in]; absent where packed
  Tensor bias;    // [out], or absent
  Shape shape;    // [out, in]
  std::uint32_t place = 0;
  std::int16_t layer = -1;
  std::optional<Packed> packed;
  std::vector<Adapter> adapters;
};

// The linear without its adapters.
Tensor base_linear(Tape& t, const Linear& layer, Tensor x);
// The linear of a weight alone, [out, in], with or without a bias.
Tensor matrix_product(Tape& t, Tensor x, Tensor weight, Tensor bias);
Tensor packed_linear(Tape& t, const Linear& layer, Tensor x);
Tensor adapted_linear(Tape& t, const Linear& layer, Tensor x);

Tensor linear(Tape& t, const Linear& layer, Tensor x);

// [B,H,M,K] x [B,H,K,N], or x [B,H,N,K] transposed where `transposed`.
Tensor batched_product(Tape& t, Tensor a, Tensor b, bool transposed);

}  // namespace ledger::ops
