// The rotary embedding: its tables, made once a forward pass, and its use on queries and keys.
#include "core/models/decoder.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

Tensor rotate_half(Tape& t, Tensor x) {
  const Count half = x.shape().last() / 2;
  Tensor first = ops::narrow_last(t, x, half);
  Tensor second = ops::narrow_last(t, x, half);
  Tensor negated = ops::negate(t, second);
  return ops::concatenate(t.as("rotated halves"), std::move(negated), first);
}

Tensor rotate(Tape& t, Tensor x, const Tensor& cos, const Tensor& sin, const char* what) {
  Tensor straight = ops::mul(t.as("times cos"), x, cos);
  Tensor turned = rotate_half(t, x);
  Tensor crossed = ops::mul(t.as("rotated halves times sin"), std::move(turned), sin);
  return ops::add(t.as(what), std::move(straight), std::move(crossed));
}

}  // namespace

RotaryTables rotary_tables(Tape& t, Count length, Count width, Dtype dtype) {
  const Within here(t, t.place("rotary_emb"), -1);
  const NoGrad no_grad(t);
  Tensor positions = t.scratch(t.shape({1, 1, length}), Dtype::kFloat32, "positions in 32 bit");
  Tensor angles = t.output(t.shape({1, width / 2, length}), Dtype::kFloat32, "angles");
  const Shape shape = t.shape({1, length, width});
  Tensor both = t.output(shape, Dtype::kFloat32, "angles, twice side by side");
  Tensor cos = t.output(shape, Dtype::kFloat32, "cos");
  cos = t.output(shape, Dtype::kFloat32, "cos, scaled");
  Tensor sin = t.output(shape, Dtype::kFloat32, "sin");
  sin = t.output(shape, Dtype::kFloat32, "sin, scaled");
  Tensor cos_table = ops::to(t.as("cos table"), cos, dtype);
  Tensor sin_table = ops::to(t.as("sin table"), sin, dtype);
  return {std::move(cos_table), std::move(sin_table)};
}

Rotated apply_rotary(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin) {
  Tensor rotated_q = rotate(t, q, cos, sin, "query states, rotated");
  Tensor rotated_k = rotate(t, k, cos, sin, "key states, rotated");
  return {std::move(rotated_q), std::move(rotated_k)};
}

}  // namespace ledger::models
