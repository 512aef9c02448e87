// Changes of type. A cast is an operator of its own: its gradient is cast back.
#include "core/ops/cast.hpp"

namespace ledger::ops {
namespace {

void cast_back(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  call.results[0] = call.tape.cast_copy(grad.shape(), call.node.edges[0].dtype, grad->swapped);
  call.results[0]->columns_first = grad->columns_first;
}

constexpr Rule kCast{"cast", "derivatives.yaml: _to_copy", cast_back};

}  // namespace

Tensor to(Tape& t, Tensor x, Dtype dtype) {
  if (x.dtype() == dtype) {
    t.take_name();  // nothing is made that could bear it
    return x;
  }
  Recording recording(t, kCast, {&x});
  Tensor out = t.cast_copy(x.shape(), dtype, x->swapped);
  recording.outputs({&out});
  return out;
}

Dtype promoted(Dtype a, Dtype b) {
  if (a == b) return a;
  if (bytes_of(a) == bytes_of(b)) return Dtype::kFloat32;
  return bytes_of(a) > bytes_of(b) ? a : b;
}

Tensor autocast_operand(Tape& t, const Tensor& x) {
  const Dtype dtype = x.dtype();
  const bool is_float =
      dtype == Dtype::kFloat32 || dtype == Dtype::kBFloat16 || dtype == Dtype::kFloat16;
  if (!t.autocast_enabled() || !is_float || dtype == t.autocast_dtype()) return x;
  // The operator's own output keeps the name that was given to it.
  const char* name = t.take_name();
  Tensor cast;
  if (Tensor* cached = t.cached_cast(x)) {
    if (!*cached) {
      Tensor made = to(t.as("autocast's copy of the weight"), x, t.autocast_dtype());
      *t.cached_cast(x) = std::move(made);
    }
    cast = *t.cached_cast(x);
  } else {
    cast = to(t.as("autocast's copy of an operand"), x, t.autocast_dtype());
  }
  t.as(name);
  return cast;
}

}  // namespace ledger::ops
