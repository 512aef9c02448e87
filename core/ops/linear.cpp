// Matrix products. Each keeps the operands that the wanted gradients use, before it puts anything
// out; gradients are made in the order of derivatives.yaml's formulas.
#include "core/ops/linear.hpp"

#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
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
    call.results[1]->view = !call.node.nested;  // made as its own transpose, but for Conv1D
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
    call.results[operand]->view = true;  // three dimensions seen as four
    t.matrix_product_done();
  }
  call.grads[0] = std::move(grad);
}

// As of_batched_product, each gradient scaled by alpha afterwards.
void of_biased_product(BackwardCall& call) {
  Tape& t = call.tape;
  const Dtype dtype = call.grads[0].dtype();
  for (const std::size_t operand : {std::size_t{0}, std::size_t{1}}) {
    if (!call.node.edges[operand].node) continue;
    const Shape shape = call.node.edges[operand].shape;
    Tensor product = t.scratch(shape, dtype, "gradient of a factor, unscaled");
    t.matrix_product_done();
    call.results[operand] = t.output(shape, dtype, "gradient of a factor");
  }
}

constexpr Rule kLinear{"matrix product", "derivatives.yaml: mm, addmm", of_linear, true};
constexpr Rule kBiasedProduct{"batched matrix product with a bias", "derivatives.yaml: baddbmm",
                              of_biased_product};
constexpr Rule kBatchedProduct{"batched matrix product", "derivatives.yaml: bmm",
                               of_batched_product};

// x @ weight.T + bias. The transpose is no leaf, so autocast does not cache its cast.
Tensor transposed_product(Tape& t, const Linear& layer, Tensor x) {
  Tensor weight = turned(t, layer.weight);
  Tensor product = matrix_product(t, std::move(x), std::move(weight), {});
  if (!layer.bias) return product;
  return add(t.as("output with bias"), std::move(product), layer.bias);
}

}  // namespace

Tensor linear(Tape& t, const Linear& layer, Tensor x) {
  const Within here(t, layer.place);
  if (layer.before != Exchange::kNone) x = exchanged(t, layer.before, std::move(x), layer.ranks);
  // The module's arguments live until its forward hook has exchanged what it put out.
  const Tensor held = layer.after != Exchange::kNone ? x : Tensor();
  Tensor out = layer.adapters.empty() || !t.adapters_enabled()
                   ? base_linear(t, layer, std::move(x))
                   : adapted_linear(t, layer, std::move(x));
  if (layer.after == Exchange::kNone) return out;
  return exchanged(t, layer.after, std::move(out), layer.ranks);
}

Tensor base_linear(Tape& t, const Linear& layer, Tensor x) {
  if (layer.packed) return packed_linear(t, layer, std::move(x));
  if (layer.kind == Linear::Kind::kTransposed) return transposed_product(t, layer, std::move(x));
  const bool conv1d = layer.kind == Linear::Kind::kConv1D;
  return matrix_product(t, std::move(x), layer.weight, layer.bias, conv1d);
}

Tensor matrix_product(Tape& t, Tensor x, Tensor w, Tensor b, bool conv1d) {
  // Autocast casts an operator's arguments from the last to the first: of linear(x, w, b) or, by
  // Conv1D, of addmm(b, x, w).
  Tensor bias = b && !conv1d ? autocast_operand(t, b) : Tensor();
  Tensor weight = autocast_operand(t, w);
  Tensor input = autocast_operand(t, x);
  if (b && conv1d) bias = autocast_operand(t, b);
  Recording recording(t, kLinear, {&input, &weight, &bias});
  if (recording) {
    recording->flag = static_cast<bool>(bias);
    recording->nested = conv1d;
  }
  if (weight.needs_grad()) recording.save(input);
  if (input.needs_grad()) recording.save(weight);
  Tensor out =
      t.output(input.shape().with_last(weight.dim(conv1d ? 1 : 0)), input.dtype(), "output");
  t.matrix_product_done();
  recording.outputs({&out});
  return out;
}

Tensor batched_product(Tape& t, Tensor a, Tensor b, bool transposed) {
  // Casts live until the product exists, beside copies of them in contiguous order.
  Tensor cast_right = autocast_operand(t, b);
  Tensor cast_left = autocast_operand(t, a);
  Tensor for_all = repeat_heads(t, cast_right, cast_left.dim(1));  // one head is broadcast
  Tensor left = fold_heads(t, cast_left);
  Tensor right = fold_heads(t, for_all);
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

Tensor biased_product(Tape& t, Tensor bias, Tensor a, Tensor b) {
  Tensor right = autocast_operand(t, b);
  Tensor left = autocast_operand(t, a);
  Tensor start = autocast_operand(t, bias);
  Recording recording(t, kBiasedProduct, {&left, &right});
  if (right.needs_grad()) recording.save(left);
  if (left.needs_grad()) recording.save(right);
  Tensor out = t.output(left.shape().with_last(right.dim(2)), left.dtype(), "biased product");
  t.matrix_product_done();
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
