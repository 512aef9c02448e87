// Products of rows with one of several weights that lie stacked: the experts of a mixture.
#pragma once

#include "core/ops/linear.hpp"

namespace ledger::ops {

// Weights of all experts in one parameter.
struct Stacked {
  Tensor weight;  // [E,out,in], or [E,in,out] where `input_first`
  Shape shape;
  bool input_first = false;
  std::uint32_t place = 0;
  std::int16_t layer = -1;
  std::vector<Adapter> adapters;
};

// peft's ParamWrapper puts a weight with its low-rank update in the place of a parameter: the
// update is made before the module runs, the sum when the module asks for the parameter.
Tensor weight_update(Tape& t, const Linear& layer);  // [out,in]; absent without adapters
Tensor updated_weight(Tape& t, const Linear& layer, const Tensor& update);

// The factors of an update of stacked weights: [E,out,r] and [E,r,in]; absent without adapters.
struct Factors {
  Tensor left, right;
};
Factors update_factors(Tape& t, const Stacked& stacked);
Tensor updated_weight(Tape& t, const Stacked& stacked, const Factors& factors);

// torch.nn.functional.grouped_mm: rows x [S,in], sorted by expert; `offsets` [E] say where each
// expert's rows end. No autocast operator: x takes the weight's type.
Tensor grouped_product(Tape& t, const Tensor& x, const Tensor& weight, bool input_first,
                       const Tensor& offsets);

}  // namespace ledger::ops
