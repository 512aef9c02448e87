// Which fused kernel runs, and the softmax of attention written out.
#include "core/ops/attention.hpp"

#include <cmath>

#include "core/ops/attention_kernels.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/layout.hpp"

namespace ledger::ops {
namespace {

void of_softmax(BackwardCall& call) {
  Tape& t = call.tape;
  const Tensor& grad = call.grads[0];
  call.results[0] = t.output(grad.shape(), call.node.edges[0].dtype, "gradient of the scores");
  Tensor product = t.scratch(grad.shape(), call.saved[0].dtype(), "gradient times output");
}

// The kernel takes widths that are multiples of eight; others are padded and cut again.
Tensor flash_of_any_width(Tape& t, Tensor q, Tensor k, Tensor v, bool dropout) {
  const Count width = q.dim(3);
  if (std::fmod(width.value(), 8) == 0) {
    return flash_attention(t, std::move(q), std::move(k), std::move(v), dropout);
  }
  const Count padded = round_up(width, 8);
  Tensor query = pad_last(t.as("query states, padded"), std::move(q), padded);
  Tensor key = pad_last(t.as("key states, padded"), std::move(k), padded);
  Tensor value = pad_last(t.as("value states, padded"), std::move(v), padded);
  Tensor out = flash_attention(t, std::move(query), std::move(key), std::move(value), dropout);
  return narrow_last(t, std::move(out), width);
}

constexpr Rule kSoftmax{"softmax", "derivatives.yaml: _softmax", of_softmax};

}  // namespace

AttentionKernel attention_kernel(const Tape& t, const Tensor& q, const Tensor& v, bool masked,
                                 bool wants_gradient) {
  const int cc = t.device().compute_major * 10 + t.device().compute_minor;
  const double width = q.dim(3).value();
  const double value_width = v.dim(3).value();
  const bool whole_lines = std::fmod(width, 8) == 0 && std::fmod(value_width, 8) == 0;
  if (q.dtype() == Dtype::kFloat32) {
    return cc >= 80 && std::fmod(width, 4) != 0 ? AttentionKernel::kMath
                                                : AttentionKernel::kMemoryEfficient;
  }
  if (cc < 80) {
    return whole_lines && q.dtype() == Dtype::kFloat16 ? AttentionKernel::kMemoryEfficient
                                                       : AttentionKernel::kMath;
  }
  if (masked || width != value_width)
    return whole_lines ? AttentionKernel::kMemoryEfficient : AttentionKernel::kMath;
  const bool small_shared_memory = cc == 86 || cc == 89 || cc >= 120;
  const bool flash = width <= 256 && width == value_width &&
                     !(width > 192 && width <= 224 && small_shared_memory && wants_gradient);
  return flash ? AttentionKernel::kFlash : AttentionKernel::kMemoryEfficient;
}

Tensor scaled_dot_product_attention(Tape& t, Tensor q, Tensor k, Tensor v, Tensor mask,
                                    bool dropout) {
  dropout = dropout && !t.evaluates();
  Tensor bias = mask ? autocast_operand(t, mask) : Tensor();
  Tensor value = autocast_operand(t, v);
  Tensor key = autocast_operand(t, k);
  Tensor query = autocast_operand(t, q);
  const bool wants_gradient =
      t.grad_enabled() && (query.needs_grad() || key.needs_grad() || value.needs_grad());
  const bool masked = static_cast<bool>(bias);
  switch (attention_kernel(t, query, value, masked, wants_gradient)) {
    case AttentionKernel::kFlash:
      return flash_of_any_width(t, query, key, value, dropout);  // casts live as long as the call
    case AttentionKernel::kMath: return math_attention(t, query, key, value, bias);
    case AttentionKernel::kMemoryEfficient: break;
  }
  return memory_efficient_attention(t, std::move(query), std::move(key), std::move(value),
                                    std::move(bias), wants_gradient, dropout);
}

Tensor softmax_in(Tape& t, Tensor x, Dtype dtype) {
  if (dtype == Dtype::kFloat32) return softmax_float32(t, std::move(x));
  Tensor scores = to(t, std::move(x), dtype);
  return softmax(t, std::move(scores), "attention weights");
}

Tensor softmax_of_no_type(Tape& t, Tensor x) {
  const Dtype dtype = t.autocast_enabled() ? Dtype::kFloat32 : x.dtype();
  return softmax_in(t, std::move(x), dtype);
}

Tensor softmax(Tape& t, Tensor x, const char* what) {
  Recording recording(t, kSoftmax, {&x});
  Tensor out = t.output(x.shape(), x.dtype(), what);
  recording.save(out);
  recording.outputs({&out});
  return out;
}

Tensor softmax_float32(Tape& t, Tensor x, const char* what) {
  // Half goes straight to a 32-bit result; bfloat16 is cast first.
  Tensor scores = x.dtype() == Dtype::kFloat16 ? x : to(t, x, Dtype::kFloat32);
  x.reset();
  Recording recording(t, kSoftmax, {&scores});
  Tensor out = t.output(scores.shape(), Dtype::kFloat32, what);
  recording.save(out);
  recording.outputs({&out});
  return out;
}

}  // namespace ledger::ops
