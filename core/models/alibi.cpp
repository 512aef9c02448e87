// Slopes, a power of two a head, times the positions counted along the mask.
// Source: transformers models/bloom/modeling_bloom.py, models/falcon/modeling_falcon.py.
#include "core/models/alibi.hpp"

#include <cmath>

#include "core/ops/cast.hpp"
#include "core/reduction.hpp"

namespace ledger::models {
namespace {

Dtype wider(Dtype a, Dtype b) {
  const bool a_is_integer = a == Dtype::kInt64;
  if (a == b || a_is_integer) return b;
  return b == Dtype::kInt64 || bytes_of(a) > bytes_of(b) ? a : b;
}

}  // namespace

Tensor alibi_of(Tape& t, const Tensor& mask, Count heads, Dtype dtype, bool narrow_slopes) {
  const Within here(t, t.place("alibi"), -1);
  const NoGrad no_grad(t);
  auto numbers = [&](double n, Dtype kind, const char* what) {
    return t.scratch(t.shape({Count(n)}), kind, what);
  };
  const double count = heads.value();
  const double power = std::exp2(std::floor(std::log2(count)));
  Tensor base = numbers(1, Dtype::kFloat32, "base of the slopes");
  Tensor powers = numbers(power, Dtype::kInt32, "powers of the slopes");
  Tensor slopes = numbers(power, Dtype::kFloat32, "slopes");
  Tensor more_base, more_powers;
  if (power != count) {
    more_base = numbers(1, Dtype::kFloat32, "base of further slopes");
    more_powers = numbers(count - power, Dtype::kInt32, "powers of further slopes");
    Tensor more = numbers(count - power, Dtype::kFloat32, "further slopes");
    slopes = t.scratch(t.shape({heads}), Dtype::kFloat32, "slopes of all heads");
  }
  Tensor counted = running_sum(t, mask, "positions counted");
  Tensor shifted = t.scratch(mask.shape(), mask.dtype(), "positions from zero");
  counted.reset();
  Tensor positions = t.scratch(mask.shape(), mask.dtype(), "positions that count");
  shifted.reset();
  Tensor narrow = narrow_slopes ? ops::to(t, slopes, Dtype::kBFloat16) : slopes;
  const Shape shape = t.shape({mask.dim(0), heads, 1, mask.dim(1)});
  Tensor alibi = t.output(shape, wider(narrow.dtype(), mask.dtype()), "bias by distance");
  narrow.reset();
  return ops::to(t.as("bias by distance"), alibi, dtype);
}

}  // namespace ledger::models
