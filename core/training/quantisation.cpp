// Four-bit weights as bitsandbytes makes them: the 16-bit weight goes to the device and is packed
// there, so construction leaves holes that are used again later.
// Source: bitsandbytes 0.50 functional.py quantize_4bit, peft/utils/other.py
// prepare_model_for_kbit_training.
#include "core/training/adapters.hpp"

namespace ledger::training {
namespace {

constexpr double kBlock = 64;         // weights that share a scale
constexpr double kScalesBlock = 256;  // scales that share a scale, where nested

void pack(Tape& t, models::Decoder& model, ops::Linear& linear, const Quantization& q) {
  const Within here(t, linear.place, linear.layer);
  const Dtype dtype = linear.weight.dtype();
  const Count elements = linear.shape.elements();
  const Count scales = elements / kBlock;
  auto kept = [&](Count bytes, const char* what) {
    return t.make(t.shape({bytes}), Dtype::kUint8, what, Role::kBuffer);
  };
  auto floats = [&](Count count, const char* what) {
    return t.make(t.shape({count}), Dtype::kFloat32, what, Role::kBuffer);
  };
  for (Tensor& p : model.parameters) {
    if (p.get() == linear.weight.get()) p.reset();
  }
  linear.weight.reset();
  Tensor weight = t.make(linear.shape, dtype, "weight, to be packed", Role::kWeight);
  Tensor absmax = floats(scales, "scales");
  ops::Packed packed;
  packed.nested = q.bnb_4bit_use_double_quant;
  packed.compute_dtype = q.bnb_4bit_compute_dtype;
  packed.tensors.push_back(
      t.make(t.shape({elements / 2}), Dtype::kUint8, "weight in 4 bits", Role::kWeight));
  packed.tensors.push_back(floats(16, "4-bit code"));
  {
    Tensor code = floats(16, "4-bit code");
    Tensor scalar = floats(1, "scalar");
  }
  if (!packed.nested) {
    packed.tensors.push_back(absmax);
    linear.packed = std::move(packed);
    return;
  }
  packed.tensors.push_back(floats(1, "offset of the scales"));
  Tensor shifted = floats(scales, "scales without their offset");
  if (!model.shared_code) {
    const Within nowhere(t, 0, -1);
    model.shared_code = floats(256, "8-bit code, shared");
  }
  packed.tensors.push_back(floats(ceil_div(scales, kScalesBlock), "scales of the scales"));
  packed.tensors.push_back(kept(scales, "scales in 8 bits"));
  packed.tensors.push_back(floats(256, "8-bit code"));
  linear.packed = std::move(packed);
}

}  // namespace

void quantise(Tape& t, models::Decoder& model, const Quantization& q) {
  for (const Tensor& p : model.parameters) t.freeze(p);
  for (ops::Linear* linear : model.linears) {
    // bitsandbytes replaces torch.nn.Linear and what derives from it, not Conv1D.
    const bool packs = linear != &model.lm_head && linear->kind != ops::Linear::Kind::kConv1D;
    if (packs) pack(t, model, *linear, q);
  }
  std::vector<Tensor> left;
  for (Tensor& p : model.parameters) {
    if (p) left.push_back(std::move(p));
  }
  model.parameters = std::move(left);
  if (!q.prepare_model_for_kbit_training) return;
  // Every parameter that is still in 16 bit is raised to 32.
  for (const Tensor& p : model.parameters) {
    if (p.dtype() != Dtype::kFloat32) t.replace_data(p, Dtype::kFloat32);
  }
  t.empty_cache();
}

}  // namespace ledger::training
