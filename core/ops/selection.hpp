// Rows picked out by a mask of truth values, and put back: what TRL's losses score.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

Tensor without_last_token(Tape& t, Tensor x);  // x[:, :-1] of [B,T,...], a view

// x[mask]: the rows of x [B,T,d] where the mask [B,T] holds, n of them: [n,d]. The indices are
// found anew in the backward pass, and sorted there.
Tensor rows_where(Tape& t, Tensor x, const Tensor& mask, Count n);
// The same of whole numbers [B,T]: [n], without a gradient.
Tensor entries_where(Tape& t, Dtype dtype, const Tensor& mask, Count n, const char* what);

// zeros.masked_scatter(mask, x): n values [n] in the mask's shape, zeros elsewhere.
Tensor scatter_where(Tape& t, Tensor x, const Tensor& mask, const char* what);

}  // namespace ledger::ops
