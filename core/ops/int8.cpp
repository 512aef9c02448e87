// Products with weights in eight bits, LLM.int8: the input is quantised row by row, multiplied in
// integers and scaled back. Source: bitsandbytes 0.50 autograd/_functions.py MatMul8bitLt,
// backends/cuda/ops.py int8_vectorwise_quant, int8_mm_dequant, nn/modules.py Linear8bitLt.
#include "core/ops/cast.hpp"
#include "core/ops/linear.hpp"

namespace ledger::ops {
namespace {

void of_int8_product(BackwardCall& call) {
  Tape& t = call.tape;
  const Shape weight = call.node.shape;
  const Dtype dtype = static_cast<Dtype>(call.node.number);
  Tensor grad = std::move(call.grads[0]);
  if (grad->swapped) {
    Tensor dense = t.output(grad.shape(), grad.dtype(), "gradient in contiguous order");
    grad = std::move(dense);
  }
  Tensor dequantised = t.scratch(weight, dtype, "weight, dequantised");
  { Tensor scales = t.scratch(t.shape({weight[0]}), Dtype::kFloat32, "scales of the rows"); }
  call.results[0] = t.output(call.node.edges[0].shape, dtype, "gradient of the input");
  call.results[0]->view = true;
  t.matrix_product_done();
}

constexpr Rule kInt8Product{"product with an 8-bit weight", "bitsandbytes: MatMul8bitLt",
                            of_int8_product};

struct Quantised {
  Tensor values, scales;
};

// By rows, from 16 bit. No column is taken for an outlier, but all are looked at.
Quantised quantise_rows(Tape& t, const Tensor& x, Count rows, bool seeks_outliers) {
  const Shape shape = x.shape();
  Tensor half;
  if (x.dtype() != Dtype::kFloat16) half = t.scratch(shape, Dtype::kFloat16, "input in float16");
  Quantised out;
  out.scales = t.scratch(t.shape({rows}), Dtype::kFloat32, "scales of the input's rows");
  out.values = t.scratch(shape, Dtype::kUint8, "input in 8 bits");
  Tensor outliers;
  if (seeks_outliers) {
    {
      Tensor magnitudes = t.scratch(shape, Dtype::kFloat16, "magnitudes of the input");
      outliers = t.scratch(shape, Dtype::kBool, "entries above the threshold");
    }
    { Tensor any = t.scratch(t.shape({1}), Dtype::kBool, "whether there is an outlier"); }
    if (rows.value() > 1) Tensor zero = t.scratch(t.shape({1}), Dtype::kUint8, "scalar");
  }
  return out;
}

}  // namespace

Tensor int8_linear(Tape& t, const Linear& layer, Tensor x) {
  // The bias takes the input's type for good.
  if (layer.bias && layer.bias.dtype() != x.dtype()) t.replace_data(layer.bias, x.dtype());
  const Shape weight = layer.shape;
  Recording recording(t, kInt8Product, {&x});
  if (recording) {
    recording->shape = weight;
    recording->number = static_cast<std::uint8_t>(x.dtype());
  }
  const Count rows = x.shape().elements() / weight[1];
  Quantised input = quantise_rows(t, x, rows, layer.packed->seeks_outliers);
  const Shape shape = x.shape().with_last(weight[0]);
  Tensor sums = t.scratch(shape, Dtype::kInt32, "product in integers");
  Tensor scaled;
  if (x.dtype() != Dtype::kFloat16) {
    scaled = t.scratch(shape, Dtype::kFloat16, "product, scaled back to float16");
  }
  Tensor out = t.output(shape, x.dtype(), "output");
  recording.keep(x);
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
