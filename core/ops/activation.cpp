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

struct Row {
  std::string_view name;
  Activation function;
};

constexpr std::array kActivations = {
    Row{"silu", silu},           Row{"swish", silu},         Row{"gelu", gelu},
    Row{"gelu_pytorch_tanh", gelu}, Row{"mish", mish},       Row{"relu", relu},
    Row{"tanh", tanh},           Row{"sigmoid", sigmoid},    Row{"relu2", relu_squared},
    Row{"quick_gelu", quick_gelu}, Row{"gelu_new", gelu_new}, Row{"gelu_fast", gelu_fast},
};

}  // namespace

Activation find_activation(std::string_view name) {
  for (const Row& row : kActivations) {
    if (row.name == name) return row.function;
  }
  return nullptr;
}

}  // namespace ledger::ops
