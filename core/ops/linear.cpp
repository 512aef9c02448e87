// Matrix products. Each keeps the operands that the wanted gradients use, before it puts anything
// out; gradients are made in the order of derivatives.yaml's formulas.
#include "core/ops/linear.hpp"

#include "core/ops/cast.hpp"
#include "core/ops/layout.hpp"

namespace ledger::ops {
namespace {

// Operands: x, weight, bias. mm makes the weight's gradient first, addmm the input's.
void of_linear(BackwardCall& call) {
  Tape& t = call.tape;
  Tensor grad = std::move(call.grads[0]);
  if (grad->swapped || (grad->columns_first && grad.dim(0).value() > 1)) {
    Tensor dense = t.output(grad.shape(), grad.dtype(), "gradient in contiguous order");
    grad = std::move(dense);
  }
  auto of_weight = [&] {
    if (!call.needs(1)) return;
    call.results[1] = t.output(call.node.edges[1].shape, grad.dtype(), "gradient of the weight");
    call.results[1]->view = true;
    t.matrix_product_done();
  };
  auto of_input = [&] {
    if (!call.needs(0)) return;
    call.results[0] = t.output(call.node.edges[0].shape, grad.dtype(), "gradient of the input");
    call.results[0]->view = call.node.edges[0].shape.rank() > 2;
    t.matrix_product_done();
  };
  const bool with_bias = call.node.flag;
  if (with_bias) {
    of_input();
    of_weight();
  } else {
    of_weight();
    of_input();
  }
  if (call.needs(2)) call.results[2] = grad;  // the engine sums it to the bias's shape
  call.grads[0] = std::move(grad);
}

void of_batched_product(BackwardCall& call) {
  Tape& t = call.tape;
  Tensor grad = std::move(call.grads[0]);
  if (grad->swapped && grad.dim(0).value() > 1) {
    Tensor dense = t.output(grad.shape(), grad.dtype(), "gradient in contiguous order");
    grad = std::move(dense);
  }
  for (const std::size_t operand : {std::size_t{1}, std::size_t{0}}) {
    if (!call.node.edges[operand].node) continue;
    call.results[operand] =
        t.output(call.node.edges[operand].shape, grad.dtype(), "gradient of a factor");
    call.results[operand]->columns_first = operand == 1 && call.node.flag;
    t.matrix_product_done();
  }
  call.grads[0] = std::move(grad);
}

constexpr Rule kLinear{"matrix product", "derivatives.yaml: mm, addmm", of_linear, true};
constexpr Rule kBatchedProduct{"batched matrix product", "derivatives.yaml: bmm", of_batched_product};

}  // namespace

Tensor linear(Tape& t, const Linear& layer, Tensor x) {
  const Within here(t, layer.place);
  return layer.adapters.empty() ? base_linear(t, layer, std::move(x))
                                : adapted_linear(t, layer, std::move(x));
}

Tensor base_linear(Tape& t, const Linear& layer, Tensor x) {
  if (layer.packed) return packed_linear(t, layer, std::move(x));
  return matrix_product(t, std::move(x), layer.weight, layer.bias);
}

Tensor matrix_product(Tape& t, Tensor x, Tensor w, Tensor b) {
  // Autocast casts an operator's arguments from the last to the first.
  Tensor bias = b ? autocast_operand(t, b) : Tensor();
  Tensor weight = autocast_operand(t, w);
  Tensor input = autocast_operand(t, x);
  Recording recording(t, kLinear, {&input, &weight, &bias});
  if (recording) recording->flag = static_cast<bool>(bias);
  if (weight.needs_grad()) recording.save(input);
  if (input.needs_grad()) recording.save(weight);
  Tensor out = t.output(input.shape().with_last(weight.dim(0)), input.dtype(), "output");
  t.matrix_product_done();
  recording.outputs({&out});
  return out;
}

Tensor batched_product(Tape& t, Tensor a, Tensor b, bool transposed) {
  // Casts live until the product exists, beside copies of them in contiguous order.
  Tensor cast_right = autocast_operand(t, b);
  Tensor cast_left = autocast_operand(t, a);
  Tensor left = fold_heads(t, cast_left);
  Tensor right = fold_heads(t, cast_right);
  Recording recording(t, kBatchedProduct, {&left, &right});
  if (recording) recording->flag = transposed;
  if (right.needs_grad()) recording.save(left);
  if (left.needs_grad()) recording.save(right);
  const Count columns = transposed ? right.dim(2) : right.dim(3);
  Tensor out = t.output(left.shape().with_last(columns), left.dtype(), "batched product");
  t.matrix_product_done();
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
