// Operators that work element by element: each puts out one tensor, saves what its derivative uses.
#include "core/ops/elementwise.hpp"

#include "core/ops/cast.hpp"

namespace ledger::ops {
namespace {

// One gradient tensor, and as many temporaries before it as the formula of the derivative has.
template <int kTemporaries>
void through_formula(BackwardCall& call) {
  Tensor grad = call.grads[0];
  std::array<Tensor, 3> steps;
  for (std::size_t i = 0; i < kTemporaries; ++i) {
    steps[i] = call.tape.scratch(grad.shape(), grad.dtype(), "step of a derivative's formula");
    steps[i]->swapped = grad->swapped;
  }
  call.results[0] = call.tape.output(grad.shape(), grad.dtype(), "gradient", grad->swapped);
  call.results[0]->columns_first = grad->columns_first;
}

void unchanged(BackwardCall& call) { call.results[0] = call.grads[0]; }

void spread_of_mean(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.shape, call.grads[0].dtype(),
                                     "gradient spread over a row", call.node.swapped);
}

// Gradient of b first, then of a, both in full shape; the engine sums and casts them.
void of_product(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  std::size_t saved = 0;
  const Dtype of_a = call.needs(1) ? call.saved[saved++].dtype() : Dtype::kBool;
  const Dtype of_b = call.needs(0) ? call.saved[saved].dtype() : Dtype::kBool;
  if (call.needs(1)) {
    call.results[1] = call.tape.output(grad.shape(), promoted(grad.dtype(), of_a),
                                       "gradient of a factor", grad->swapped);
  }
  if (call.needs(0)) {
    call.results[0] = call.tape.output(grad.shape(), promoted(grad.dtype(), of_b),
                                       "gradient of a factor", grad->swapped);
  }
  for (Tensor& result : call.results) {
    if (result) result->columns_first = grad->columns_first;
  }
}

void to_both(BackwardCall& call) {
  call.results[0] = call.grads[0];
  call.results[1] = call.grads[0];
}

constexpr Rule kSquare{"square", "derivatives.yaml: pow.Tensor_Scalar", through_formula<2>};
constexpr Rule kRsqrt{"reciprocal square root", "derivatives.yaml: rsqrt", through_formula<2>};
constexpr Rule kMean{"mean", "derivatives.yaml: mean.dim", spread_of_mean};
constexpr Rule kAddConstant{"sum with a constant", "derivatives.yaml: add.Scalar", unchanged};
constexpr Rule kMulConstant{"product with a constant", "derivatives.yaml: mul.Scalar",
                            through_formula<0>};
constexpr Rule kNegate{"negation", "derivatives.yaml: neg", through_formula<0>};
constexpr Rule kSilu{"SiLU", "derivatives.yaml: silu", through_formula<0>};
constexpr Rule kGelu{"GELU", "derivatives.yaml: gelu", through_formula<0>};
constexpr Rule kMish{"Mish", "derivatives.yaml: mish", through_formula<0>};
constexpr Rule kTanh{"tanh", "derivatives.yaml: tanh", through_formula<0>};
constexpr Rule kSigmoid{"sigmoid", "derivatives.yaml: sigmoid", through_formula<0>};
constexpr Rule kExponential{"exponential", "derivatives.yaml: exp", through_formula<0>};
constexpr Rule kSoftplus{"softplus", "derivatives.yaml: softplus", through_formula<0>};
constexpr Rule kRelu{"ReLU", "derivatives.yaml: relu", through_formula<0>};
constexpr Rule kDropout{"dropout", "derivatives.yaml: native_dropout", through_formula<0>};
constexpr Rule kMul{"product", "derivatives.yaml: mul.Tensor", of_product};
void to_both_negated(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  call.results[0] = grad;
  if (call.needs(1)) {
    call.results[1] =
        call.tape.output(grad.shape(), grad.dtype(), "gradient, negated", grad->swapped);
  }
}

// where(inside, gradient, zero); what is inside is compared anew, once for each bound.
template <int kBounds>
void of_clamp(BackwardCall& call) {
  Tape& t = call.tape;
  const Tensor& grad = call.grads[0];
  Tensor zero = t.scratch(t.shape({1}), grad.dtype(), "scalar");
  std::array<Tensor, 2> inside;
  for (std::size_t i = 0; i < kBounds; ++i) {
    inside[i] = t.scratch(grad.shape(), Dtype::kBool, "entries inside the bounds");
  }
  call.results[0] = t.output(grad.shape(), grad.dtype(), "gradient inside the bounds");
}

constexpr Rule kClampAbove{"clamp", "derivatives.yaml: clamp", of_clamp<1>};
constexpr Rule kClamp{"clamp", "derivatives.yaml: clamp", of_clamp<2>};
constexpr Rule kSubtract{"difference", "derivatives.yaml: sub.Tensor", to_both_negated};
constexpr Rule kAdd{"sum", "derivatives.yaml: add.Tensor", to_both};

enum class Keeps { kNothing, kArgument, kResult };

Tensor unary(Tape& t, const Rule& rule, Tensor x, Keeps keeps, const char* what) {
  Recording recording(t, rule, {&x});
  if (keeps == Keeps::kArgument) recording.save(x);
  Tensor out = t.output(x.shape(), x.dtype(), what, x->swapped);
  if (keeps == Keeps::kResult) recording.save(out);
  recording.outputs({&out});
  return out;
}

// The shape and layout of the larger operand, the wider of the two types.
Tensor broadcast(Tape& t, const Tensor& a, const Tensor& b, const char* what) {
  const double of_a = a.shape().elements().value(), of_b = b.shape().elements().value();
  const bool a_is_large = of_a > of_b || (of_a == of_b && a.shape().rank() >= b.shape().rank());
  const Tensor& large = a_is_large ? a : b;
  return t.output(large.shape(), promoted(a.dtype(), b.dtype()), what, large->swapped);
}

}  // namespace

Tensor square(Tape& t, Tensor x) {
  return unary(t, kSquare, std::move(x), Keeps::kArgument, "square");
}
Tensor rsqrt(Tape& t, Tensor x) {
  return unary(t, kRsqrt, std::move(x), Keeps::kResult, "reciprocal square root");
}
Tensor add_constant(Tape& t, Tensor x) {
  return unary(t, kAddConstant, std::move(x), Keeps::kNothing, "sum with a constant");
}
Tensor mul_constant(Tape& t, Tensor x) {
  return unary(t, kMulConstant, std::move(x), Keeps::kNothing, "product with a constant");
}
Tensor negate(Tape& t, Tensor x) {
  return unary(t, kNegate, std::move(x), Keeps::kNothing, "negation");
}
Tensor silu(Tape& t, Tensor x) { return unary(t, kSilu, std::move(x), Keeps::kArgument, "SiLU"); }
Tensor gelu(Tape& t, Tensor x) { return unary(t, kGelu, std::move(x), Keeps::kArgument, "GELU"); }
Tensor relu(Tape& t, Tensor x) { return unary(t, kRelu, std::move(x), Keeps::kResult, "ReLU"); }

Tensor mish(Tape& t, Tensor x) { return unary(t, kMish, std::move(x), Keeps::kArgument, "Mish"); }
Tensor tanh(Tape& t, Tensor x) { return unary(t, kTanh, std::move(x), Keeps::kResult, "tanh"); }
Tensor sigmoid(Tape& t, Tensor x) {
  return unary(t, kSigmoid, std::move(x), Keeps::kResult, "sigmoid");
}

Tensor soft_cap(Tape& t, Tensor x) {
  Tensor scaled = mul_constant(t, std::move(x));
  Tensor bent = tanh(t, std::move(scaled));
  return mul_constant(t.as("capped"), std::move(bent));
}

Tensor exponential(Tape& t, Tensor x) {
  return unary(t, kExponential, std::move(x), Keeps::kResult, "exponential");
}
Tensor softplus(Tape& t, Tensor x) {
  return unary(t, kSoftplus, std::move(x), Keeps::kArgument, "softplus");
}

Tensor clamp_above(Tape& t, Tensor x) {
  return unary(t, kClampAbove, std::move(x), Keeps::kArgument, "clamped");
}
Tensor clamp(Tape& t, Tensor x) {
  return unary(t, kClamp, std::move(x), Keeps::kArgument, "clamped");
}

Tensor mean_last(Tape& t, Tensor x) {
  Recording recording(t, kMean, {&x});
  if (recording) {
    recording->shape = x.shape();
    recording->swapped = x->swapped;
  }
  Tensor out = t.output(x.shape().with_last(1), x.dtype(), "mean of each row");
  recording.outputs({&out});
  return out;
}

Tensor dropout(Tape& t, Tensor x) {
  if (t.evaluates()) {
    t.take_name();
    return x;
  }
  Recording recording(t, kDropout, {&x});
  Tensor mask = t.output(x.shape(), Dtype::kBool, "dropout mask");
  Tensor out = t.output(x.shape(), x.dtype(), "after dropout", x->swapped);
  recording.save(mask);
  recording.outputs({&out});
  return out;
}

Tensor mul(Tape& t, Tensor a, Tensor b) {
  Recording recording(t, kMul, {&a, &b});
  if (b.needs_grad()) recording.save(a);
  if (a.needs_grad()) recording.save(b);
  Tensor out = broadcast(t, a, b, "product");
  recording.outputs({&out});
  return out;
}

// In place nothing is made; the node is there all the same.
Tensor mul_constant_in_place(Tape& t, Tensor x) {
  Recording recording(t, kMulConstant, {&x});
  Tensor out = t.view(x, x.shape(), x->swapped, x->view);
  recording.outputs({&out});
  return out;
}

Tensor add_in_place(Tape& t, Tensor a, Tensor b) {
  Recording recording(t, kAdd, {&a, &b});
  Tensor out = t.view(a, a.shape(), a->swapped, a->view);
  recording.outputs({&out});
  return out;
}

Tensor add(Tape& t, Tensor a, Tensor b) {
  Recording recording(t, kAdd, {&a, &b});
  Tensor out = broadcast(t, a, b, "sum");
  recording.outputs({&out});
  return out;
}

Tensor subtract(Tape& t, Tensor a, Tensor b) {
  Recording recording(t, kSubtract, {&a, &b});
  Tensor out = broadcast(t, a, b, "difference");
  recording.outputs({&out});
  return out;
}

Tensor subtract_each(Tape& t, Tensor a, Tensor b) {
  Recording recording(t, kSubtract, {&a, &b});
  Tensor out = t.output(a.shape().with_last(b.dim(3)), a.dtype(), "difference of each pair");
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
