// Those with a kernel put out one tensor; those written out in Python cost one for each operator.
#include "core/ops/activation.hpp"

#include <array>

#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"

namespace ledger::ops {
namespace {

// x.pow(2) after relu; autocast takes the power in 32 bit.
Tensor relu_squared(Tape& t, Tensor x) {
  Tensor positive = relu(t, std::move(x));
  if (t.autocast_enabled()) {
    Tensor wide = to(t, std::move(positive), Dtype::kFloat32);
    return square(t, std::move(wide));
  }
  return square(t, std::move(positive));
}

Tensor quick_gelu(Tape& t, Tensor x) {
  Tensor scaled = mul_constant(t, x);
  Tensor gate = sigmoid(t, std::move(scaled));
  return mul(t.as("activated"), x, std::move(gate));
}

// 0.5 * x * (1 + tanh(c * (x + 0.044715 * x**3))); autocast takes the power in 32 bit.
Tensor gelu_new(Tape& t, Tensor x) {
  Tensor half = mul_constant(t, x);
  Tensor base = t.autocast_enabled() ? to(t, x, Dtype::kFloat32) : x;
  Tensor cube = square(t.as("cube"), std::move(base));
  Tensor scaled = mul_constant(t, std::move(cube));
  Tensor sum = add(t, x, std::move(scaled));
  Tensor inner = mul_constant(t, std::move(sum));
  Tensor bent = tanh(t, std::move(inner));
  Tensor shifted = add_constant(t, std::move(bent));
  return mul(t.as("activated"), std::move(half), std::move(shifted));
}

// 0.5 * x * (1 + tanh(x * c * (1 + 0.044715 * x * x)))
Tensor gelu_fast(Tape& t, Tensor x) {
  Tensor half = mul_constant(t, x);
  Tensor outer = mul_constant(t, x);
  Tensor scaled = mul_constant(t, x);
  Tensor squared = mul(t, std::move(scaled), x);
  Tensor shifted = add_constant(t, std::move(squared));
  Tensor inner = mul(t, std::move(outer), std::move(shifted));
  Tensor bent = tanh(t, std::move(inner));
  Tensor gate = add_constant(t, std::move(bent));
  return mul(t.as("activated"), std::move(half), std::move(gate));
}

// 0.5 * x * (1 + tanh(c * x * (1 + 0.044715 * x * x))), up to the tanh.
Tensor bloom_tanh(Tape& t, const Shape& shape, Dtype dtype) {
  auto step = [&] { return t.scratch(shape, dtype, "step of an activation's formula"); };
  Tensor scaled = step();
  Tensor square = step();
  Tensor times_x = step();
  square = std::move(times_x);
  Tensor shifted = step();
  square.reset();
  Tensor inner = step();
  scaled.reset();
  shifted.reset();
  return step();
}

void of_gelu_bloom(BackwardCall& call) {
  Tape& t = call.tape;
  const Shape shape = call.grads[0].shape();
  const Dtype dtype = call.grads[0].dtype();
  auto step = [&] { return t.scratch(shape, dtype, "step of a derivative's formula"); };
  Tensor bent = bloom_tanh(t, shape, dtype);
  Tensor half = step();
  Tensor square = step();
  Tensor rest = step();
  square.reset();
  Tensor scaled = step();
  Tensor times_x = step();
  scaled.reset();
  Tensor shifted = step();
  times_x.reset();
  Tensor product = step();
  rest.reset();
  shifted.reset();
  Tensor first = step();
  half.reset();
  product.reset();
  Tensor raised = step();
  Tensor second = step();
  raised.reset();
  Tensor sum = step();
  first.reset();
  second.reset();
  call.results[0] = t.output(shape, dtype, "gradient");
}

constexpr Rule kGeluBloom{"GELU", "transformers: modeling_bloom.py GeLUFunction", of_gelu_bloom};

struct Row {
  std::string_view name;
  Activation function;
};

constexpr std::array kActivations = {
    Row{"silu", silu},          Row{"swish", silu},
    Row{"gelu", gelu},          Row{"gelu_pytorch_tanh", gelu},
    Row{"mish", mish},          Row{"relu", relu},
    Row{"tanh", tanh},          Row{"sigmoid", sigmoid},
    Row{"relu2", relu_squared}, Row{"quick_gelu", quick_gelu},
    Row{"gelu_new", gelu_new},  Row{"gelu_fast", gelu_fast},
};

}  // namespace

Tensor gelu_bloom(Tape& t, Tensor x) {
  Recording recording(t, kGeluBloom, {&x});
  Tensor half = t.scratch(x.shape(), x.dtype(), "step of an activation's formula");
  Tensor bent = bloom_tanh(t, x.shape(), x.dtype());
  Tensor raised = t.scratch(x.shape(), x.dtype(), "step of an activation's formula");
  bent.reset();
  Tensor out = t.output(x.shape(), x.dtype(), "activated");
  recording.save(x);
  recording.outputs({&out});
  return out;
}

Activation find_activation(std::string_view name) {
  for (const Row& row : kActivations) {
    if (row.name == name) return row.function;
  }
  return nullptr;
}

}  // namespace ledger::ops
