// peft's LoRA layers: a low-rank product beside the frozen linear, added to its result.
// Source: peft/tuners/lora/layer.py (Linear), bnb.py (Linear4bit).
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/linear.hpp"

namespace ledger::ops {
namespace {

Tensor low_rank_product(Tape& t, const Adapter& adapter, const Tensor& x) {
  Tensor input = adapter.dropout ? dropout(t, x) : x;
  Tensor down = matrix_product(t.as("times lora_A"), std::move(input), adapter.a, {});
  Tensor up = matrix_product(t.as("times lora_B"), std::move(down), adapter.b, {});
  return mul_constant(t.as("update, scaled"), std::move(up));
}

Tensor beside_packed(Tape& t, const Linear& layer, Tensor x) {
  Tensor result = packed_linear(t, layer, x);
  result = clone(t, result);
  for (const Adapter& adapter : layer.adapters) {
    const bool casts = !t.autocast_enabled();
    Tensor input = casts ? to(t, x, adapter.a.dtype()) : x;
    Tensor update = low_rank_product(t, adapter, input);
    if (casts) update = to(t, update, result.dtype());
    result = add(t.as("output with update"), result, update);
  }
  return result;
}

}  // namespace

Tensor adapted_linear(Tape& t, const Linear& layer, Tensor x) {
  if (layer.packed) return beside_packed(t, layer, std::move(x));
  Tensor result = base_linear(t, layer, x);
  const Dtype dtype = result.dtype();
  for (const Adapter& adapter : layer.adapters) {
    Tensor input = to(t, x, adapter.a.dtype());
    Tensor update = low_rank_product(t, adapter, input);
    Tensor sum = add(t.as("output with update"), result, std::move(update));
    result = std::move(sum);
  }
  return to(t, result, dtype);
}

}  // namespace ledger::ops
