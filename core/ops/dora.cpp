// DoRA: the updated weight is scaled row by row to a learned magnitude. The base weight, the update
// and their sum are written out for each use, only to take the norm of their rows.
// Source: peft 0.21.2 tuners/lora/dora.py DoraLinearLayer, variants.py DoraLinearVariant,
// utils/integrations.py dequantize_module_weight.
#include <array>
#include <vector>

#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/linear.hpp"
#include "core/reduction.hpp"

namespace ledger::ops {
namespace {

constexpr double kBlock = 64;  // 4-bit weights that share a scale

// A frozen weight's values: its own tensor, or a copy out of four or eight bits.
Tensor whole_weight(Tape& t, const Linear& layer) {
  if (!layer.packed) return layer.weight;
  if (layer.packed->in_8_bit) {
    Tensor scaled = t.scratch(layer.shape, Dtype::kFloat32, "weight times its rows' scales");
    return t.scratch(layer.shape, Dtype::kFloat32, "weight, dequantised");
  }
  Tensor absmax;
  if (layer.packed->nested) {
    absmax = t.scratch(t.shape({layer.shape.elements() / kBlock}), Dtype::kFloat32, "scales");
  }
  return t.scratch(layer.shape, layer.packed->dtype, "weight, dequantised");
}

Dtype wider(Dtype a, Dtype b) {
  if (a == b) return a;
  return bytes_of(a) == bytes_of(b) ? Dtype::kFloat32 : bytes_of(a) > bytes_of(b) ? a : b;
}

// torch.linalg.norm(weight + scaling · update, dim=1)
Tensor norm_of_rows(Tape& t, const Linear& layer, const Tensor& weight, const Tensor& update) {
  Tensor sum;
  const Dtype dtype = wider(weight.dtype(), update.dtype());
  {
    Tensor scaled = t.scratch(layer.shape, update.dtype(), "update of a weight, scaled");
    sum = t.scratch(layer.shape, dtype, "weight with its update");
  }
  // Autocast takes norms in 32 bit.
  const Dtype computed = t.autocast_enabled() ? Dtype::kFloat32 : dtype;
  Tensor norm = t.output(t.shape({layer.shape[0]}), computed, "norm of each row");
  // Conv1D's weight lies the other way round.
  const bool contiguous = layer.kind != Linear::Kind::kConv1D;
  allocate_working_space(t, {layer.shape[1], layer.shape[0], contiguous, dtype});
  return to(t, norm, dtype);
}

// lora_B(lora_A(1)): the update, through the modules that make it.
Tensor update_of_weight(Tape& t, const Linear& layer, const Adapter& adapter) {
  const Count in = layer.shape[1];
  Tensor eye = t.output(t.shape({in, in}), adapter.a.dtype(), "identity");
  Tensor down = matrix_product(t.as("identity times lora_A"), eye, adapter.a, {});
  return matrix_product(t.as("update of the weight"), down, adapter.b, {});
}

// copy.deepcopy of a Linear4bit: the state of its weight, the weight, the bias, and the state once
// more, which the module refers to as well. Of each tensor an empty one is made first.
std::vector<Tensor> copied(Tape& t, const Linear& layer) {
  std::vector<Tensor> copies;
  const auto copy = [&](const Tensor& held) {
    copies.push_back(t.scratch(held.shape(), held.dtype(), "copy of a packed weight"));
    Tensor empty = t.scratch(t.shape({1}), held.dtype(), "scalar");
  };
  // As they stand in Packed::tensors: scales, code, offset, scales of the scales, their code.
  constexpr std::array<std::size_t, 5> kNested = {4, 1, 2, 3, 5};
  constexpr std::array<std::size_t, 2> kPlain = {2, 1};
  const std::vector<Tensor>& held = layer.packed->tensors;
  const auto copy_state = [&] {
    if (layer.packed->nested) {
      for (const std::size_t i : kNested) copy(held[i]);
    } else {
      for (const std::size_t i : kPlain) copy(held[i]);
    }
  };
  copy_state();
  copy(held[0]);
  if (layer.bias) {
    copies.push_back(t.scratch(layer.bias.shape(), layer.bias.dtype(), "copy of the bias"));
  }
  copy_state();
  return copies;
}

}  // namespace

Tensor dora_update(Tape& t, const Linear& layer, const Adapter& adapter, const Tensor& result,
                   const Tensor& x) {
  Tensor input = x, base_result;
  if (adapter.dropout && !t.evaluates()) {
    input = dropout(t, x);
  } else {
    base_result = result;
  }
  Tensor update = update_of_weight(t, layer, adapter);
  update = to(t, update, input.dtype());
  Tensor weight = whole_weight(t, layer);
  weight = to(t, weight, input.dtype());
  Tensor norm = norm_of_rows(t, layer, weight, update);
  Tensor quotient = mul(t.as("magnitude by norm"), adapter.magnitude, norm);
  Tensor scale = reshape(t, std::move(quotient), t.shape({1, layer.shape[0]}));
  Tensor down = matrix_product(t.as("times lora_A"), input, adapter.a, {});
  Tensor up = matrix_product(t.as("times lora_B"), std::move(down), adapter.b, {});
  if (base_result && layer.bias) {
    base_result = subtract(t.as("output without bias"), base_result, layer.bias);
  }
  if (!base_result) {
    const bool conv1d = layer.kind == Linear::Kind::kConv1D && !layer.packed;
    base_result =
        matrix_product(t.as("output of the dropped-out input"), input, weight, {}, conv1d);
  }
  Tensor excess = add_constant(t.as("magnitude by norm, less one"), scale);
  Tensor first = mul(t.as("output, scaled"), std::move(excess), base_result);
  Tensor second = mul(t.as("update times magnitude"), scale, up);
  second = mul_constant(t.as("update times magnitude, scaled"), second);
  return add(t.as("update of DoRA"), std::move(first), std::move(second));
}

Tensor dora_magnitude(Tape& t, const Linear& layer, const Adapter& adapter) {
  const bool half = adapter.a.dtype() == Dtype::kFloat16;
  Tensor a = half ? t.scratch(adapter.a.shape(), Dtype::kFloat32, "lora_A in 32 bit") : adapter.a;
  Tensor b = half ? t.scratch(adapter.b.shape(), Dtype::kFloat32, "lora_B in 32 bit") : adapter.b;
  std::vector<Tensor> copies;
  if (layer.packed && !layer.packed->in_8_bit) copies = copied(t, layer);
  Tensor weight = whole_weight(t, layer);
  Tensor update = t.scratch(layer.shape, a.dtype(), "update of the weight");
  t.matrix_product_done();
  if (half) {
    Tensor narrow = t.scratch(layer.shape, Dtype::kFloat16, "update of the weight in float16");
    update = std::move(narrow);
  }
  return norm_of_rows(t, layer, weight, update);
}

}  // namespace ledger::ops
