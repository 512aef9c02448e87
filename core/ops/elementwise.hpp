// Operators that work element by element, and the mean that norms are made of.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

Tensor square(Tape& t, Tensor x);  // x.pow(2)
Tensor rsqrt(Tape& t, Tensor x);
Tensor mean_last(Tape& t, Tensor x);     // x.mean(-1, keepdim=True)
Tensor add_constant(Tape& t, Tensor x);  // x + 1e-6
Tensor mul_constant(Tape& t, Tensor x);  // x * 0.5, also x / n
Tensor soft_cap(Tape& t, Tensor x);      // cap * tanh(x / cap)
Tensor negate(Tape& t, Tensor x);

// An activation function of one argument: one tensor out, its argument saved.
Tensor silu(Tape& t, Tensor x);
Tensor gelu(Tape& t, Tensor x);  // either form, as one kernel
Tensor mish(Tape& t, Tensor x);
Tensor softplus(Tape& t, Tensor x);
Tensor relu(Tape& t, Tensor x);  // this and the next two save their result
Tensor tanh(Tape& t, Tensor x);
Tensor exponential(Tape& t, Tensor x);
Tensor sigmoid(Tape& t, Tensor x);

// x.clamp(max=c), and x.clamp(min=c, max=c).
Tensor clamp_above(Tape& t, Tensor x);
Tensor clamp(Tape& t, Tensor x);

Tensor dropout(Tape& t, Tensor x);  // of a probability above 0; saves a mask of one byte an element

// With broadcasting of the smaller operand and promotion to the wider type.
Tensor mul(Tape& t, Tensor a, Tensor b);
Tensor add(Tape& t, Tensor a, Tensor b);
Tensor subtract(Tape& t, Tensor a, Tensor b);
Tensor subtract_each(Tape& t, Tensor a, Tensor b);  // [·,·,m,1] - [·,·,1,n]

// x *= 0.5 and a += b: the result takes the place of the first operand.
Tensor mul_constant_in_place(Tape& t, Tensor x);
Tensor add_in_place(Tape& t, Tensor a, Tensor b);

}  // namespace ledger::ops
