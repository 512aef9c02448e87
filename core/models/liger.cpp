// Liger's kernels in the places of a llama-like layer that its patches replace.
// Source: liger_kernel 0.8.5, transformers/monkey_patch.py.
#include "core/models/decoder.hpp"
#include "core/ops/liger_kernels.hpp"

namespace ledger::models {
namespace {

Tensor liger_norm(Tape& t, const Norm& norm, Tensor x) {
  const Within here(t, norm.place);
  return ops::liger_rms_norm(t, std::move(x), norm.weight);
}

Rotated liger_rotary(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin) {
  ops::LigerRotated rotated = ops::liger_rope(t, std::move(q), std::move(k), cos, sin);
  return {std::move(rotated.q), std::move(rotated.k)};
}

Tensor liger_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Mlp& mlp = layer.mlp;
  const Within here(t, mlp.place);
  Tensor gate = ops::linear(t.as("gate"), mlp.gate_proj, x);
  Tensor up = ops::linear(t.as("up"), mlp.up_proj, x);
  Tensor product = ops::liger_silu_mul(t, std::move(gate), std::move(up));
  return ops::linear(t.as("down"), mlp.down_proj, std::move(product));
}

}  // namespace

void apply_liger(DecoderConfig& c, const LigerKernels& kernels) {
  if (kernels.rms_norm) c.blocks.norm = liger_norm;
  if (kernels.rope) c.blocks.rotate = liger_rotary;
  if (kernels.swiglu) c.blocks.feed_forward = liger_feed_forward;
}

}  // namespace ledger::models
