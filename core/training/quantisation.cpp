// Weights of four and eight bits as bitsandbytes makes them: the 16-bit weight goes to the device
// and is packed there, so construction leaves holes that are used again later.
// Source: bitsandbytes 0.50 functional.py quantize_4bit, nn/modules.py Int8Params,
// peft/utils/other.py prepare_model_for_kbit_training.
#include "core/training/adapters.hpp"

#include "core/training/targets.hpp"

namespace ledger::training {
namespace {

constexpr double kBlock = 64;         // weights that share a scale
constexpr double kScalesBlock = 256;  // scales that share a scale, where nested

// The old weight dies before the new one exists.
Dtype drop_weight(models::Decoder& model, ops::Linear& linear) {
  const Dtype dtype = linear.weight.dtype();
  for (Tensor& p : model.parameters) {
    if (p.get() == linear.weight.get()) p.reset();
  }
  linear.weight.reset();
  return dtype;
}

ops::Packed packed_in_8_bit(Tape& t, Shape shape, Dtype dtype, const Quantization& q) {
  ops::Packed packed;
  packed.in_8_bit = true;
  packed.seeks_outliers = q.llm_int8_threshold > 0;
  packed.dtype = dtype;
  Tensor weight = t.make(shape, Dtype::kFloat16, "weight, to be packed", Role::kWeight);
  Tensor scales = t.make(t.shape({shape[0]}), Dtype::kFloat32, "scales of the rows", Role::kBuffer);
  packed.tensors.push_back(t.make(shape, Dtype::kUint8, "weight in 8 bits", Role::kWeight));
  packed.tensors.push_back(std::move(scales));
  return packed;
}

ops::Packed packed_in_4_bit(Tape& t, Tensor& shared_code, Shape shape, Dtype dtype,
                            const Quantization& q) {
  const Count elements = shape.elements();
  const Count scales = elements / kBlock;
  auto kept = [&](Count bytes, const char* what) {
    return t.make(t.shape({bytes}), Dtype::kUint8, what, Role::kBuffer);
  };
  auto floats = [&](Count count, const char* what) {
    return t.make(t.shape({count}), Dtype::kFloat32, what, Role::kBuffer);
  };
  Tensor absmax = floats(scales, "scales");
  ops::Packed packed;
  packed.nested = q.bnb_4bit_use_double_quant;
  packed.compute_dtype = q.bnb_4bit_compute_dtype;
  packed.dtype = dtype;
  // DoRA copies them by their places in this list (core/ops/dora.cpp).
  packed.tensors.push_back(
      t.make(t.shape({elements / 2}), Dtype::kUint8, "weight in 4 bits", Role::kWeight));
  packed.tensors.push_back(floats(16, "4-bit code"));
  {
    Tensor code = floats(16, "4-bit code");
    Tensor scalar = floats(1, "scalar");
  }
  if (!packed.nested) {
    packed.tensors.push_back(absmax);
    return packed;
  }
  packed.tensors.push_back(floats(1, "offset of the scales"));
  Tensor shifted = floats(scales, "scales without their offset");
  if (!shared_code) {
    const Within nowhere(t, 0, -1);
    shared_code = floats(256, "8-bit code, shared");
  }
  packed.tensors.push_back(floats(ceil_div(scales, kScalesBlock), "scales of the scales"));
  packed.tensors.push_back(kept(scales, "scales in 8 bits"));
  packed.tensors.push_back(floats(256, "8-bit code"));
  return packed;
}

// quantize_(linear, Int8WeightOnlyConfig()): the weight of 16 or 32 bit dies last. The zero points
// are kept, though they are all zero. Source: torchao 0.18.0 quantization/quant_primitives.py
// _choose_qparams_affine, _quantize_affine_no_dtype_cast.
ops::Packed packed_by_torchao(Tape& t, const Tensor& weight) {
  const Dtype dtype = weight.dtype();
  const Shape rows = t.shape({weight.dim(0)});
  const auto of_rows = [&](Dtype type, const char* what) {
    return t.make(rows, type, what, Role::kScratch);
  };
  ops::Packed packed;
  packed.by = ops::Packed::By::kTorchao;
  packed.dtype = dtype;
  Tensor scale, zero_point;
  {
    Tensor least = of_rows(dtype, "smallest of each row"), most = of_rows(dtype, "largest");
    Tensor zeros = of_rows(dtype, "zeros");
    Tensor below = of_rows(dtype, "smallest, not above zero");
    zeros = of_rows(dtype, "zeros");
    Tensor above = of_rows(dtype, "largest, not below zero");
    zeros = of_rows(dtype, "smallest, negated");
    Tensor range = of_rows(dtype, "largest magnitude of each row");
    zeros.reset();
    above.reset();
    Tensor unclamped = of_rows(dtype, "scales of the rows");
    Tensor wide_zeros = of_rows(dtype, "zero points");
    Tensor clamped = of_rows(dtype, "scales of the rows, not zero");
    unclamped.reset();
    scale = dtype == Dtype::kFloat32 ? clamped : of_rows(Dtype::kFloat32, "scales of the rows");
    zero_point = t.make(rows, Dtype::kUint8, "zero points of the rows", Role::kBuffer);
  }
  const auto as_large = [&](const char* what) {
    return t.make(weight.shape(), Dtype::kFloat32, what, Role::kScratch);
  };
  Tensor by_scale;
  {
    Tensor inverse;
    {
      Tensor reciprocal = of_rows(Dtype::kFloat32, "inverse scales");
      inverse = of_rows(Dtype::kFloat32, "inverse scales");
    }
    by_scale = as_large("weight by its scales");
  }
  for (const char* what : {"weight, rounded", "weight, shifted", "weight, clamped"}) {
    by_scale = as_large(what);
  }
  packed.tensors.push_back(
      t.make(weight.shape(), Dtype::kUint8, "weight in 8 bits", Role::kWeight));
  packed.tensors.push_back(std::move(scale));
  packed.tensors.push_back(std::move(zero_point));
  return packed;
}

// As gptqmodel's layers store them: packed into numbers of 32 bit, along the input for GPTQ, along
// the output for AWQ. Source: gptqmodel 7.7.0 nn_modules/qlinear/__init__.py.
ops::Packed packed_in_groups(Tape& t, models::Decoder& model, ops::Linear& linear,
                             const Quantization& q) {
  const bool biased = static_cast<bool>(linear.bias);
  for (Tensor& p : model.parameters) {
    if (biased && p.get() == linear.bias.get()) p.reset();
  }
  linear.bias.reset();
  const Dtype dtype = drop_weight(model, linear);
  const bool gptq = q.quant_method == "gptq";
  const Count out = linear.shape[0], in = linear.shape[1];
  const Count per_number = Count(32 / q.bits);
  const Count groups = q.group_size > 0 ? ceil_div(in, Count(q.group_size)) : Count(1);
  ops::Packed packed;
  packed.by = gptq ? ops::Packed::By::kGptq : ops::Packed::By::kAwq;
  packed.dtype = dtype;
  const auto kept = [&](Shape shape, Dtype type, const char* what, Role role = Role::kBuffer) {
    packed.tensors.push_back(t.make(shape, type, what, role));
  };
  const Shape weight =
      gptq ? t.shape({ceil_div(in, per_number), out}) : t.shape({in, ceil_div(out, per_number)});
  kept(weight, Dtype::kInt32, "qweight", Role::kWeight);
  kept(t.shape({groups, ceil_div(out, per_number)}), Dtype::kInt32, "qzeros");
  kept(t.shape({groups, out}), dtype, "scales");
  if (gptq) kept(t.shape({in}), Dtype::kInt32, "g_idx");
  if (biased) {
    linear.bias = t.make(t.shape({out}), dtype, "bias", Role::kWeight);  // a buffer there
  }
  if (gptq) kept(t.shape({per_number}), Dtype::kInt32, "shifts that unpack numbers");
  return packed;
}

// Eight bits are made of the weight on the host, four of one on the device.
void pack(Tape& t, models::Decoder& model, ops::Linear& linear, const Quantization& q) {
  const Within here(t, linear.place, linear.layer);
  if (q.quant_method == "torchao") {
    linear.packed = packed_by_torchao(t, linear.weight);
    drop_weight(model, linear);
    return;
  }
  if (!q.by_bitsandbytes()) {
    linear.packed = packed_in_groups(t, model, linear, q);
    return;
  }
  const Dtype dtype = drop_weight(model, linear);
  Tensor weight;
  if (!q.load_in_8bit) {
    weight = t.make(linear.shape, dtype, "weight, to be packed", Role::kWeight);
  }
  linear.packed = packed_weight(t, model.shared_code, linear.shape, dtype, q);
}

}  // namespace

ops::Packed packed_weight(Tape& t, Tensor& shared_code, Shape shape, Dtype dtype,
                          const Quantization& q) {
  return q.load_in_8bit ? packed_in_8_bit(t, shape, dtype, q)
                        : packed_in_4_bit(t, shared_code, shape, dtype, q);
}

void quantise(Tape& t, models::Decoder& model, const Quantization& q) {
  for (const Tensor& p : model.parameters) t.freeze(p);
  for (ops::Linear* linear : model.linears) {
    // bitsandbytes replaces torch.nn.Linear and what derives from it, not Conv1D.
    if (linear->kind == ops::Linear::Kind::kConv1D) continue;
    if (is_skipped(t.record().places[linear->place], q)) continue;
    pack(t, model, *linear, q);
  }
  if (!q.prepare_model_for_kbit_training || !q.by_bitsandbytes()) return;
  // Every parameter that is still in 16 bit is raised to 32.
  for (const Tensor& p : model.parameters) {
    if (p && p.dtype() != Dtype::kFloat32) t.replace_data(p, Dtype::kFloat32);
  }
  t.empty_cache();
}

}  // namespace ledger::training
