// Liger's kernels of a layer: each keeps its input and little else, and puts gradients in place.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

Tensor liger_rms_norm(Tape& t, Tensor x, const Tensor& weight);
Tensor liger_silu_mul(Tape& t, Tensor gate, Tensor up);

struct LigerRotated {
  Tensor q, k;
};
// In place where heads and positions lie exchanged in memory, as they do after a projection.
LigerRotated liger_rope(Tape& t, Tensor q, Tensor k, const Tensor& cos, const Tensor& sin);

}  // namespace ledger::ops
