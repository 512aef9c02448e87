// Rotation by complex products: pairs of a head's entries as complex numbers of twice 32 bit.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

// torch.polar(1, angles) times a scale: [1,T,d/2] complex, seen as [1,T,d] in 32 bit.
Tensor complex_rotary_table(Tape& t, Count length, Count width);
// view_as_complex(x.float()): complex numbers are seen as their two 32-bit parts here.
Tensor to_complex(Tape& t, const Tensor& x);
// view_as_real(x * table).flatten(3).type_as(...)
Tensor complex_rotation(Tape& t, const Tensor& x, const Tensor& table, Dtype dtype);

}  // namespace ledger::ops
