// Normalisation by one kernel. (RMS norms are written out in the models, operator by operator.)
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

// F.layer_norm over the last dimension; weight and bias may be absent.
Tensor layer_norm(Tape& t, Tensor x, Tensor weight, Tensor bias);

}  // namespace ledger::ops
