// Changes of type, by the program and by autocast.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

Tensor to(Tape& t, Tensor x, Dtype dtype);  // nothing happens if the type is that already

// The type that holds both: two different 16-bit floats meet in 32 bit.
Dtype promoted(Dtype a, Dtype b);

// What autocast hands to an operator in place of `x`: a copy in the context's type where x is a
// 32-bit float, from the cache where x is a weight.
Tensor autocast_operand(Tape& t, const Tensor& x);

}  // namespace ledger::ops
