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

Tensor with_dora(Tape& t, const Linear& layer, const Adapter& adapter, const Tensor& result,
                 const Tensor& x) {
  Tensor update = dora_update(t, layer, adapter, result, x);
  return add(t.as("output with update"), result, std::move(update));
}

Tensor beside_packed(Tape& t, const Linear& layer, Tensor x) {
  Tensor result = packed_linear(t, layer, x);
  if (!layer.packed->in_8_bit) result = clone(t, result);
  Tensor input = x;  // a name that lives until the layer returns, as the argument itself does
  for (const Adapter& adapter : layer.adapters) {
    if (adapter.number != 0) continue;
    const bool casts = !t.autocast_enabled();
    const Dtype dtype = result.dtype();
    if (casts) input = to(t, input, adapter.a.dtype());
    if (adapter.magnitude) {
      result = with_dora(t, layer, adapter, result, input);
      if (casts) result = to(t, result, dtype);
      continue;
    }
    Tensor update = low_rank_product(t, adapter, input);
    if (casts) update = to(t, update, dtype);
    result = add(t.as("output with update"), result, update);
  }
  return result;
}

// Source: peft/tuners/lora/awq.py: cast back before it is scaled, and not at the end.
Tensor beside_awq(Tape& t, const Linear& layer, Tensor x) {
  Tensor result = packed_linear(t, layer, x);
  const bool casts = !t.autocast_enabled();
  for (const Adapter& adapter : layer.adapters) {
    if (adapter.number != 0) continue;
    if (casts) x = to(t, x, adapter.a.dtype());
    Tensor input = adapter.dropout ? dropout(t, x) : x;
    Tensor down = matrix_product(t.as("times lora_A"), std::move(input), adapter.a, {});
    Tensor output = matrix_product(t.as("times lora_B"), std::move(down), adapter.b, {});
    if (casts) output = to(t, std::move(output), result.dtype());
    output = mul_constant(t.as("update, scaled"), std::move(output));
    result = add(t.as("output with update"), result, output);
  }
  return result;
}

}  // namespace

Tensor adapted_linear(Tape& t, const Linear& layer, Tensor x) {
  const bool by_bitsandbytes = layer.packed && layer.packed->by == Packed::By::kBitsandbytes;
  if (by_bitsandbytes) return beside_packed(t, layer, std::move(x));
  if (layer.packed && layer.packed->by == Packed::By::kAwq) {
    return beside_awq(t, layer, std::move(x));
  }
  Tensor result = base_linear(t, layer, x);
  const Dtype dtype = result.dtype();
  Tensor input = x;
  for (const Adapter& adapter : layer.adapters) {
    if (adapter.number != 0) continue;
    input = to(t, input, adapter.a.dtype());
    if (adapter.magnitude) {
      result = with_dora(t, layer, adapter, result, input);
      continue;
    }
    Tensor update = low_rank_product(t, adapter, input);
    Tensor sum = add(t.as("output with update"), result, std::move(update));
    result = std::move(sum);
  }
  return to(t, result, dtype);
}

}  // namespace ledger::ops
