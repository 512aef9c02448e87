// peft's LoRA on parameters: the updated weight is made for each use and takes the parameter's
// place. Source: peft 0.21.2 tuners/lora/layer.py, ParamWrapper.
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/grouped.hpp"
#include "core/ops/layout.hpp"

namespace ledger::ops {
namespace {

void of_plain_product(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  for (const std::size_t operand : {std::size_t{1}, std::size_t{0}}) {
    if (!call.node.edges[operand].node) continue;
    call.results[operand] = t.output(call.node.edges[operand].shape, dtype, "gradient of a factor");
    t.matrix_product_done();
  }
}

void of_folded_update(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  const Shape left = call.node.edges[0].shape, right = call.node.edges[1].shape;
  {
    Tensor product = t.scratch(left, dtype, "gradient of a factor, not scaled");
    call.results[0] = t.output(left, dtype, "gradient of lora_B");
  }
  Tensor product = t.scratch(right, dtype, "gradient of a factor, not scaled");
  Tensor operand = t.scratch(left, dtype, "operand of a batched product, in contiguous order");
  operand.reset();
  call.results[1] = t.output(right, dtype, "gradient of lora_A");
}

void in_parameter_order(BackwardCall& call) {
  call.results[0] = call.tape.output(call.node.edges[0].shape, call.grads[0].dtype(),
                                     "gradient of lora_B in contiguous order");
}

constexpr Rule kProduct{"matrix product", "derivatives.yaml: mm", of_plain_product};
constexpr Rule kFold{"weight with its update", "derivatives.yaml: baddbmm", of_folded_update};
constexpr Rule kUnstack{"view", "derivatives.yaml: view, permute", in_parameter_order};

// a [m,r] times b [r,n].
Tensor product(Tape& t, const Tensor& a, const Tensor& b) {
  Tensor right = autocast_operand(t, b);
  Tensor left = autocast_operand(t, a);
  Recording recording(t, kProduct, {&left, &right});
  if (right.needs_grad()) recording.save(left);
  if (left.needs_grad()) recording.save(right);
  Tensor out = t.output(t.shape({left.dim(0), right.dim(1)}), left.dtype(), "update of a weight");
  t.matrix_product_done();
  recording.outputs({&out});
  return out;
}

// lora_B [out,r·E] seen as [E,out,r].
Tensor unstack(Tape& t, const Tensor& b, Shape shape) {
  Recording recording(t, kUnstack, {&b});
  Tensor out = t.view(b, shape, false);
  recording.outputs({&out});
  return out;
}

Tensor fold(Tape& t, const Tensor& weight, const Factors& factors) {
  Recording recording(t, kFold, {&factors.left, &factors.right});
  recording.save(factors.left);
  recording.save(factors.right);
  Tensor out = t.output(weight.shape(), weight.dtype(), "weight with its update");
  Tensor operand = t.scratch(factors.left.shape(), factors.left.dtype(),
                             "operand of a batched product, in contiguous order");
  recording.outputs({&out});
  return out;
}

}  // namespace

Tensor weight_update(Tape& t, const Linear& layer) {
  if (layer.adapters.empty() || !t.adapters_enabled()) return {};
  const Adapter& adapter = layer.adapters.front();
  Tensor update = product(t, adapter.b, adapter.a);
  update = mul_constant(t.as("update of a weight, scaled"), update);
  update = to(t, update, layer.weight.dtype());
  // Registering a parametrisation computes it once to see that it fits.
  Tensor tried = add(t.as("weight with its update, tried"), layer.weight, update);
  return update;
}

Tensor updated_weight(Tape& t, const Linear& layer, const Tensor& update) {
  return update ? add(t.as("weight with its update"), layer.weight, update) : layer.weight;
}

Factors update_factors(Tape& t, const Stacked& stacked) {
  if (stacked.adapters.empty() || !t.adapters_enabled()) return {};
  const Within here(t, stacked.place);
  const Adapter& adapter = stacked.adapters.front();
  const Count experts = stacked.shape[0];
  const Count rank = adapter.a.dim(0) / experts;
  Tensor right = reshape(t, adapter.a, t.shape({experts, rank, stacked.shape[2]}));
  Tensor left = unstack(t, adapter.b, t.shape({experts, stacked.shape[1], rank}));
  const Dtype dtype = stacked.weight.dtype();
  Factors factors;
  factors.left = to(t, left, dtype);
  factors.right = to(t, right, dtype);
  Tensor tried = fold(t, stacked.weight, factors);
  return factors;
}

Tensor updated_weight(Tape& t, const Stacked& stacked, const Factors& factors) {
  if (!factors.left) return stacked.weight;
  const Within here(t, stacked.place);
  return fold(t, stacked.weight, factors);
}

}  // namespace ledger::ops
