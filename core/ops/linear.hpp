// Matrix products: linear layers and the batched products of attention written out.
#pragma once

#include <optional>
#include <vector>

#include "core/ops/collective.hpp"
#include "core/tape.hpp"

namespace ledger::ops {

// A weight in four or eight bits with what is needed to read it (bitsandbytes Params4bit and
// Int8Params with their states, gptqmodel's layers, torchao's Int8Tensor).
struct Packed {
  enum class By : std::uint8_t { kBitsandbytes, kGptq, kAwq, kTorchao };
  By by = By::kBitsandbytes;
  bool in_8_bit = false;       // a scale for each row; else one for each block of 64
  bool seeks_outliers = true;  // of 8 bit: columns of the input above llm_int8_threshold
  bool nested = false;         // of 4 bit: the scales are quantised themselves
  Dtype compute_dtype = Dtype::kBFloat16;  // of 4 bit
  Dtype dtype = Dtype::kBFloat16;          // of the weight before it was packed
  std::vector<Tensor> tensors;             // packed weight, scales, codes
};

// A low-rank update beside a frozen weight (peft's LoRA layers).
struct Adapter {
  Tensor a;          // [r, in]
  Tensor b;          // [out, r]
  Tensor magnitude;  // [out], of DoRA; else absent
  bool dropout = false;
  int number = 0;  // 0 is trained; others are loaded beside it and do nothing
};

// What a model calls for `x W^T + b`. What kind of linear it is was decided when it was made.
struct Linear {
  // What the weight is to the product: torch.nn.Linear's, transformers' Conv1D's ([in, out], never
  // packed), or falcon's, which multiplies by the transpose and adds the bias afterwards.
  enum class Kind : std::uint8_t { kLinear, kConv1D, kTransposed };
  Kind kind = Kind::kLinear;
  Tensor weight;  // [out, in]; absent where packed
  Tensor bias;    // [out], or absent
  Shape shape;    // [out, in]
  std::uint32_t place = 0;
  std::int16_t layer = -1;
  std::optional<Packed> packed;
  std::vector<Adapter> adapters;
  // Of a tensor-parallel rank, whose weight is a part.
  Exchange before = Exchange::kNone, after = Exchange::kNone;
  Count ranks = 1;
};

// The linear without its adapters.
Tensor base_linear(Tape& t, const Linear& layer, Tensor x);
// The linear of a weight alone, [out, in], with or without a bias. A weight of Conv1D is [in, out].
Tensor matrix_product(Tape& t, Tensor x, Tensor weight, Tensor bias, bool conv1d = false);
Tensor packed_linear(Tape& t, const Linear& layer, Tensor x);
Tensor int8_linear(Tape& t, const Linear& layer, Tensor x);
Tensor dequantised_linear(Tape& t, const Linear& layer, Tensor x);  // GPTQ's and torchao's
Tensor awq_linear(Tape& t, const Linear& layer, Tensor x);
Tensor adapted_linear(Tape& t, const Linear& layer, Tensor x);
// What DoRA adds to the linear's result, and the magnitudes that it starts from.
Tensor dora_update(Tape& t, const Linear& layer, const Adapter& adapter, const Tensor& result,
                   const Tensor& x);
Tensor dora_magnitude(Tape& t, const Linear& layer, const Adapter& adapter);

Tensor linear(Tape& t, const Linear& layer, Tensor x);

// bias.baddbmm(a, b): a product of heads [B,H,T,d] folded into the batch, b transposed, added to a
// bias [B·H,1,T].
Tensor biased_product(Tape& t, Tensor bias, Tensor a, Tensor b);

// [B,H,M,K] x [B,H,K,N], or x [B,H,N,K] transposed where `transposed`.
Tensor batched_product(Tape& t, Tensor a, Tensor b, bool transposed);

}  // namespace ledger::ops
