// Attention by plain operators in 32 bit, where no fused kernel takes the operands: head widths
// that fill no whole lines, bfloat16 before compute capability 8.0. Source:
// aten/src/ATen/native/transformers/attention.cpp, _scaled_dot_product_attention_math.
#include "core/ops/attention_kernels.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/linear.hpp"

namespace ledger::ops {
namespace {

void of_safe_softmax(BackwardCall& call) {
  const Tensor& grad = call.grads[0];
  call.results[0] = call.tape.output(grad.shape(), Dtype::kFloat32, "gradient of the scores");
  Tensor product = call.tape.scratch(grad.shape(), Dtype::kFloat32, "gradient times output");
}

constexpr Rule kSafeSoftmax{"softmax", "aten: _safe_softmax", of_safe_softmax};

// Rows that are masked as a whole give zeros, which takes a test of all scores.
Tensor safe_softmax(Tape& t, Tensor scores) {
  Recording recording(t, kSafeSoftmax, {&scores});
  Tensor out = t.output(scores.shape(), Dtype::kFloat32, "attention weights in 32 bit");
  {
    Tensor masked = t.scratch(scores.shape(), Dtype::kBool, "scores that are masked");
    const Shape rows = t.shape({scores.dim(0), scores.dim(1), scores.dim(2)});
    Tensor whole = t.scratch(rows, Dtype::kBool, "rows that are masked");
    Tensor zero = t.scratch(t.shape({1}), Dtype::kFloat32, "scalar");
  }
  recording.save(out);
  recording.outputs({&out});
  return out;
}

// The mask as something to add to the scores; none where there is a single token.
Tensor additive_mask(Tape& t, const Tensor& q, const Tensor& mask) {
  const Count batch = q.dim(0), length = q.dim(2);
  if (mask) {
    Tensor zero = t.scratch(t.shape({1}), q.dtype(), "scalar");
    Tensor minus_infinity = t.scratch(t.shape({1}), q.dtype(), "scalar");
    return t.output(t.shape({batch, 1, length, length}), q.dtype(), "mask as a bias of the scores");
  }
  return Tensor();
}

Tensor causal_bias(Tape& t, Count length) {
  const Shape square = t.shape({length, length});
  Tensor ones = t.scratch(square, Dtype::kBool, "all true");
  Tensor lower = t.scratch(square, Dtype::kBool, "lower triangle");
  ones.reset();
  Tensor zero = t.scratch(t.shape({1}), Dtype::kFloat32, "scalar");
  Tensor minus_infinity = t.scratch(t.shape({1}), Dtype::kFloat32, "scalar");
  return t.output(square, Dtype::kFloat32, "causal mask as a bias of the scores");
}

}  // namespace

Tensor math_attention(Tape& t, Tensor q, Tensor k, Tensor v, Tensor mask) {
  const Autocast off(t, false, t.autocast_dtype());
  const Dtype dtype = q.dtype();
  Tensor bias = additive_mask(t, q, mask);
  Tensor query = to(t.as("query states in 32 bit"), q, Dtype::kFloat32);
  Tensor key = to(t.as("key states in 32 bit"), k, Dtype::kFloat32);
  Tensor value = to(t.as("value states in 32 bit"), v, Dtype::kFloat32);
  Tensor scaled_query = mul_constant(t.as("query states, scaled"), query);
  if (!mask && q.dim(2).value() > 1) bias = causal_bias(t, q.dim(2));
  Tensor keys = repeat_interleave(t, key, q.dim(1));
  Tensor values = repeat_interleave(t, value, q.dim(1));
  Tensor scaled_keys = mul_constant(t.as("key states, scaled"), keys);
  Tensor scores =
      batched_product(t.as("attention scores"), scaled_query, std::move(scaled_keys), true);
  Tensor weights = safe_softmax(t, std::move(scores));
  Tensor narrow;
  if (dtype != Dtype::kFloat32)
    narrow = t.scratch(weights.shape(), dtype, "attention weights, handed back");
  Tensor attended = batched_product(t.as("attention output in 32 bit"), weights, values, false);
  return to(t.as("attention output"), std::move(attended), dtype);
}

}  // namespace ledger::ops
