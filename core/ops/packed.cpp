// Products with weights in four bits: a copy in the compute type is made for each product, forward
// and backward. Source: bitsandbytes 0.50 autograd/_functions.py MatMul4Bit, backends/cuda/ops.py.
#include "core/ops/cast.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/packed_kernels.hpp"

namespace ledger::ops {
namespace {

constexpr double kBlock = 64;  // weights that share a scale

// Scales of a weight in 32 bit.
Shape scales(Tape& t, Shape weight) { return t.shape({weight.elements() / kBlock}); }

void of_packed_product(BackwardCall& call) {
  Tape& t = call.tape;
  const Shape weight = call.node.shape;
  const Dtype dtype = call.grads[0].dtype();
  Tensor absmax;
  if (call.node.nested) absmax = t.scratch(scales(t, weight), Dtype::kFloat32, "scales");
  // To the type that the weight had before it was packed, then to the gradient's.
  Tensor dequantised =
      t.scratch(weight, static_cast<Dtype>(call.node.number), "weight, dequantised");
  absmax.reset();
  if (dequantised.dtype() != dtype) {
    Tensor converted = t.scratch(weight, dtype, "weight, dequantised and converted");
    dequantised = std::move(converted);
  }
  call.results[0] = t.output(call.node.edges[0].shape, dtype, "gradient of the input");
  call.results[0]->view = true;
  t.matrix_product_done();
}

constexpr Rule kPackedProduct{"product with a 4-bit weight", "bitsandbytes: MatMul4Bit",
                              of_packed_product};

Tensor packed_product(Tape& t, const Linear& layer, Tensor x) {
  const Shape weight = layer.shape;
  const Count out_width = weight[0], in_width = weight[1];
  Recording recording(t, kPackedProduct, {&x});
  if (recording) {
    recording->shape = weight;
    recording->nested = layer.packed->nested;
    recording->number = static_cast<std::uint8_t>(layer.packed->dtype);
  }
  const Shape shape = x.shape().with_last(out_width);
  Tensor out;
  const double rows = x.shape().elements().value() / in_width.value();
  if (multiplies_packed(t.device(), x.dtype(), rows, out_width.value(), in_width.value(), kBlock)) {
    out = t.output(shape, x.dtype(), "output");
  } else {
    Tensor absmax, with_offset;
    if (layer.packed->nested) {
      absmax = t.scratch(scales(t, weight), Dtype::kFloat32, "scales");
      with_offset = t.scratch(scales(t, weight), Dtype::kFloat32, "scales with their offset");
    }
    Tensor dequantised = t.scratch(weight, x.dtype(), "weight, dequantised");
    // The product is an operator of autocast's like any other, where the compute type is another.
    const NoGrad within_function(t);
    const char* name = t.take_name();
    Tensor bias = layer.bias ? autocast_operand(t, layer.bias) : Tensor();
    Tensor matrix = autocast_operand(t, dequantised);
    Tensor input = autocast_operand(t, x);
    out = t.as(name).output(shape, input.dtype(), "output");
    t.matrix_product_done();
  }
  recording.outputs({&out});
  return out;
}

}  // namespace

Tensor packed_linear(Tape& t, const Linear& layer, Tensor x) {
  switch (layer.packed->by) {
    case Packed::By::kGptq:
    case Packed::By::kTorchao: return dequantised_linear(t, layer, std::move(x));
    case Packed::By::kAwq: return awq_linear(t, layer, std::move(x));
    case Packed::By::kBitsandbytes: break;
  }
  if (layer.packed->in_8_bit) return int8_linear(t, layer, std::move(x));
  const Dtype dtype = layer.packed->compute_dtype;
  Tensor input = to(t, x, dtype);
  // The bias takes the compute type for good when first used.
  if (layer.bias && layer.bias.dtype() != dtype) t.replace_data(layer.bias, dtype);
  Tensor out = packed_product(t, layer, input);
  return to(t, std::move(out), x.dtype());
}

}  // namespace ledger::ops
