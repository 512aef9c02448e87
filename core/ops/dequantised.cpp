// Products with weights of GPTQ, torchao and AWQ.
//
// gptqmodel's trainable kernel for GPTQ and torchao's eight bits write the weight out and multiply
// by it as by any other: the copy is kept for the backward pass, one for each product. AWQ's makes
// it anew. Source: gptqmodel 7.7.0 nn_modules/qlinear/torch.py (which tritonv2.py calls while
// training), gemm_awq.py AwqGemmFn, gptqmodel_ext/awq/quantization/gemm_cuda_gen.cu; torchao 0.18.0
// quantization/quantize_/workflows/int8/int8_tensor.py.
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/linear.hpp"

namespace ledger::ops {
namespace {

constexpr double kSplits = 8;               // of the inner dimension, by AWQ's kernel
constexpr double kMostRowsOfKernel = 1024;  // of the input; for more the weight is written out

Shape transposed(Tape& t, Shape weight) { return t.shape({weight[1], weight[0]}); }

Tensor written_out(Tape& t, const Linear& layer, Dtype dtype) {
  return t.as("weight, dequantised").output(transposed(t, layer.shape), dtype, "weight");
}

void of_awq_product(BackwardCall& call) {
  Tape& t = call.tape;
  Tensor grad = std::move(call.grads[0]);
  const auto stored = static_cast<Dtype>(call.node.number);
  Tensor weight = t.scratch(transposed(t, call.node.shape), stored, "weight, dequantised");
  if (stored != grad.dtype()) {
    Tensor converted = t.scratch(weight.shape(), grad.dtype(), "weight, dequantised and converted");
    weight = std::move(converted);
  }
  call.results[0] = t.output(call.node.edges[0].shape, grad.dtype(), "gradient of the input");
  call.results[0]->view = true;
  t.matrix_product_done();
}

constexpr Rule kAwqProduct{"product with a weight of AWQ", "gptqmodel: AwqGemmFn", of_awq_product};

Tensor awq_product(Tape& t, const Linear& layer, const Tensor& x) {
  const Shape weight = layer.shape;
  Recording recording(t, kAwqProduct, {&x});
  if (recording) {
    recording->shape = weight;
    recording->number = static_cast<std::uint8_t>(layer.packed->dtype);
  }
  const Shape shape = x.shape().with_last(weight[0]);
  const Count rows = x.shape().elements() / weight[1];
  Tensor out;
  const char* name = t.take_name();
  if (rows.value() > kMostRowsOfKernel) {
    Tensor whole = t.scratch(transposed(t, weight), layer.packed->dtype, "weight, dequantised");
    Tensor used = to(t, whole, x.dtype());
    out = t.as(name).output(shape, x.dtype(), "output");
    t.matrix_product_done();
  } else {
    const Shape parts = t.shape({Count(kSplits), rows, weight[0]});
    Tensor partial = t.scratch(parts, Dtype::kFloat32, "parts of the product in 32 bit");
    out = t.as(name).output(shape, x.dtype(), "output");
  }
  if (layer.bias) out = t.output(shape, x.dtype(), "output with bias");
  recording.outputs({&out});
  return out;
}

}  // namespace

Tensor dequantised_linear(Tape& t, const Linear& layer, Tensor x) {
  const bool torchao = layer.packed->by == Packed::By::kTorchao;
  const char* name = t.take_name();
  Tensor weight = written_out(t, layer, torchao ? x.dtype() : layer.packed->dtype);
  if (weight.dtype() != x.dtype()) weight = to(t, std::move(weight), x.dtype());
  // Seen by rows: what autocast makes of the weight is kept with this product only.
  Tensor out = matrix_product(t.as(name), x, std::move(weight), {}, true);
  if (!torchao) return out;  // a bias is added in place
  const Tensor& stored = layer.packed->tensors[1];
  Tensor scale = stored;
  if (stored.dtype() != out.dtype()) {
    scale = t.output(t.shape({layer.shape[0]}), out.dtype(), "scales of the rows");
  }
  out = mul(t.as("output, scaled"), std::move(out), std::move(scale));
  return to(t, std::move(out), x.dtype());
}

Tensor awq_linear(Tape& t, const Linear& layer, Tensor x) {
  const Dtype dtype = x.dtype();
  Tensor input = dtype == Dtype::kFloat32 ? to(t, x, Dtype::kFloat16) : x;
  Tensor out = awq_product(t, layer, input);
  return to(t, std::move(out), dtype);
}

}  // namespace ledger::ops
