// Operators of phimoe's router, which draws its experts and estimates the draw's gradient.
#pragma once

#include "core/ops/routing.hpp"

namespace ledger::ops {

TopK maximum(Tape& t, Tensor x);                    // x.max(-1, keepdim=True)
Tensor fill_at(Tape& t, Tensor x, Tensor indices);  // x.scatter(-1, indices, c)
Tensor perturbed(Tape& t, Tensor x);                // x - log of exponential noise
// PhimoeMultiplier: multiplier times a factor that is not saved; the gradient goes to the scores.
Tensor estimated_product(Tape& t, Tensor scores, Tensor multiplier, Tensor chosen, Tensor gates);

}  // namespace ledger::ops
