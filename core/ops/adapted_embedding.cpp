// Source: peft 0.21.2 tuners/trainable_tokens/layer.py get_merged_weights, tuners/lora/layer.py
// Embedding.
#include "core/ops/adapted_embedding.hpp"

#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/embedding.hpp"
#include "core/ops/layout.hpp"

namespace ledger::ops {
namespace {

void of_with_rows(BackwardCall& call) {
  call.results[1] = call.tape.output(call.node.edges[1].shape, call.grads[0].dtype(),
                                     "gradient of the trained rows");
}

// lora_A is written [r,V] and used as [V,r]: its gradient must be copied into that order.
void in_written_order(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient of lora_A in the order it is written in");
}

constexpr Rule kWithRows{"table with trained rows", "derivatives.yaml: index_copy", of_with_rows};
constexpr Rule kAsTable{"view", "derivatives.yaml: t", in_written_order};

Tensor as_table(Tape& t, const Tensor& a) {
  Recording recording(t, kAsTable, {&a});
  Tensor out = t.view(a, t.shape({a.dim(1), a.dim(0)}), false);
  recording.outputs({&out});
  return out;
}

}  // namespace

Tensor with_rows(Tape& t, const Tensor& weight, const Tensor& rows) {
  Tensor index =
      t.make(t.shape({rows.dim(0)}), Dtype::kInt64, "indices of the trained rows", Role::kInput);
  Tensor deltas = to(t.as("trained rows in the table's type"), rows, weight.dtype());
  Recording recording(t, kWithRows, {&weight, &deltas});
  recording.save(index);
  recording.save(deltas);
  Tensor out = t.output(weight.shape(), weight.dtype(), "embedding with trained rows");
  recording.outputs({&out});
  return out;
}

Tensor adapted_embedding(Tape& t, const std::vector<Adapter>& adapters, const Tensor& ids,
                         Tensor result, const Tensor& scale) {
  const Dtype dtype = result.dtype();
  for (const Adapter& adapter : adapters) {
    if (adapter.number != 0) continue;
    Tensor table = as_table(t, adapter.a);
    Tensor right = turned(t, adapter.b);
    Tensor down = embedding(t.as("rows of lora_A"), ids, table);
    Tensor product = matrix_product(t.as("times lora_B"), down, right, {});
    Tensor update = mul_constant(t.as("update, scaled"), std::move(product));
    if (scale) {
      Tensor factor = to(t, scale, update.dtype());
      update = mul(t.as("update, scaled as the embedding"), update, std::move(factor));
    }
    Tensor sum = add(t.as("embedded tokens with update"), result, update);
    result = std::move(sum);
  }
  return to(t, result, dtype);
}

}  // namespace ledger::ops
