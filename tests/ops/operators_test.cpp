// What each operator puts out, keeps and uses meanwhile: docs/rules/operators.md and the formulas
// of PyTorch's derivatives.yaml, as arithmetic.
#include <doctest/doctest.h>

#include "core/ops/activation.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/embedding.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/loss.hpp"
#include "core/reduction.hpp"
#include "tests/ops/bench.hpp"

namespace ledger {
namespace {

constexpr Dtype kHalf = Dtype::kBFloat16;
constexpr Dtype kFull = Dtype::kFloat32;

ops::Linear linear_of(Tensor weight, Tensor bias = {}) {
  ops::Linear layer;
  layer.shape = weight.shape();
  layer.weight = std::move(weight);
  layer.bias = std::move(bias);
  return layer;
}

}  // namespace

TEST_CASE(
    "a reduction of 1,024 rows to 1,024 sums takes 8 MiB and 32 bytes on 108 multiprocessors") {
  OpBench b;
  allocate_working_space(b.t, {1024, 1024, false, kFull});
  CHECK(b.made() == Sizes{8 * 1048576, 32});
  allocate_working_space(b.t, {8, 1024, false, kFull});
  CHECK(b.made().empty());
}

TEST_CASE("values that span 2^31 bytes are reduced in halves, 16-bit sums in 32 bit meanwhile") {
  OpBench b;
  allocate_working_space(b.t, {Count(1 << 28), 1, true, kFull});
  const Sizes pass = b.made();
  REQUIRE(pass.size() == 2);
  allocate_working_space(b.t, {Count(1 << 29), 1, true, kFull});  // 2^31 bytes, so two halves
  Sizes twice = pass;
  twice.insert(twice.end(), pass.begin(), pass.end());
  CHECK(b.made() == twice);
  allocate_working_space(b.t, {Count(1 << 20), 1024, true, kHalf});  // no pass has partial sums
  CHECK(b.made() == Sizes{4 * 1024});
}

TEST_CASE("a linear without a bias makes the weight's gradient first, with one the input's") {
  for (const bool with_bias : {false, true}) {
    OpBench b;
    const ops::Linear layer =
        linear_of(b.parameter({16, 8}, kHalf), with_bias ? b.parameter({16}, kHalf) : Tensor());
    Tensor x = b.leaf({1, 4, 8}, kHalf);
    Tensor y = ops::linear(b.t, layer, x);
    Tensor loss = ops::mean_last(b.t, y);
    y.reset();
    b.made();
    b.t.backward(loss);
    const double seed = 4 * 2, spread = 4 * 16 * 2, weight = 16 * 8 * 2, input = 4 * 8 * 2,
                 bias = 16 * 2;
    CHECK(b.made() == (with_bias ? Sizes{seed, spread, input, weight, bias}
                                 : Sizes{seed, spread, weight, input}));
  }
}

TEST_CASE("square and reciprocal root have three tensors at once in backward, SiLU one") {
  OpBench b;
  Tensor x = b.leaf({1, 4, 8}, kFull);
  Tensor y = ops::square(b.t, x);
  b.made();
  b.t.backward(y);
  CHECK(b.made() == Sizes{128, 128, 128, 128});  // the seed, two steps, the gradient
  OpBench c;
  Tensor u = c.leaf({1, 4, 8}, kFull);
  Tensor v = ops::silu(c.t, u);
  c.made();
  c.t.backward(v);
  CHECK(c.made() == Sizes{128, 128});
}

TEST_CASE(
    "an embedding's gradient is as large as its table; beyond 3,072 tokens it is made by sorting") {
  for (const double tokens : {3072.0, 3073.0}) {
    OpBench b;
    Tensor weight = b.parameter({1000, 64}, kHalf);
    Tensor ids = b.t.make(b.t.shape({1, tokens}), Dtype::kInt64, "ids", Role::kInput);
    Tensor y = ops::embedding(b.t, ids, weight);
    b.made();
    b.t.backward(y);
    const Sizes made = b.made();
    if (tokens == 3072) {
      CHECK(made == Sizes{tokens * 64 * 2, 1000 * 64 * 2});
      continue;
    }
    // Sort of keys of two bytes: 2 · 2,048 + 1,024 · ⌈3,073 / 3,840⌉ + two rounded copies + 511.
    const double sort = 2 * 2048 + 1024 + 2 * 24832 + 511;
    const double partials = 307 + 1000;
    CHECK(made == Sizes{tokens * 64 * 2, 8 * tokens, 8 * tokens, 8 * tokens, sort, 1000 * 64 * 2,
                        8 * tokens, 8, 8 * tokens, 1279, 8000, 8000, 1279, 8, 8 * partials,
                        4 * partials * 64});
  }
}

TEST_CASE("the loss holds the logits three times in 32 bit in its backward pass") {
  OpBench b;
  Tensor logits = b.leaf({1, 16, 1000}, kHalf);
  const double tokens = 16, wide = 4 * tokens * 1000;
  b.made();
  Tensor loss = ops::causal_lm_loss(b.t, logits);
  CHECK(b.made() == Sizes{wide, 8 * (tokens + 1), wide, 4, 4});
  b.t.backward(loss);
  CHECK(b.made() == Sizes{4, wide, wide, wide / 2});
}

TEST_CASE("softmax of float16 scores is made in 32 bit at once, of bfloat16 after a cast") {
  for (const bool half : {true, false}) {
    OpBench b;
    Tensor scores = b.leaf({1, 2, 8, 8}, half ? Dtype::kFloat16 : kHalf);
    b.made();
    Tensor weights = ops::softmax_float32(b.t, scores);
    const double n = 2 * 8 * 8;
    CHECK(b.made() == (half ? Sizes{4 * n} : Sizes{4 * n, 4 * n}));
  }
}

TEST_CASE("flash attention keeps one number a row and no square") {
  OpBench b;
  const double heads = 32, groups = 8, length = 2048, width = 128;
  Tensor q = b.leaf({1, heads, length, width}, kHalf);
  Tensor k = b.leaf({1, groups, length, width}, kHalf);
  Tensor v = b.leaf({1, groups, length, width}, kHalf);
  b.made();
  Tensor y = ops::scaled_dot_product_attention(b.t, q, k, v, {});
  // 32 heads of 32 blocks of rows are more than 0.8 · 216 slots: the keys are not split.
  CHECK(b.made() == Sizes{heads * length * width * 2, heads * length * 4, 16, 8});
  b.t.backward(y);
  const double out = heads * length * width * 2, grouped = groups * length * width * 2;
  CHECK(b.made() == Sizes{out, out, out, out, grouped, grouped, heads * length * 4,
                          heads * length * width * 4, out, out});
}

TEST_CASE("short sequences with few heads split the keys, which takes room for a moment") {
  OpBench b;
  Tensor q = b.leaf({1, 4, 512, 64}, kHalf), k = b.leaf({1, 4, 512, 64}, kHalf),
         v = b.leaf({1, 4, 512, 64}, kHalf);
  b.made();
  Tensor y = ops::scaled_dot_product_attention(b.t, q, k, v, {});
  // 4 · 8 blocks for 216 slots, and 2 blocks of 256 keys: one slot's worth more fills 64 of 216.
  const double rows = 4 * 512, pieces = 2;
  CHECK(b.made() ==
        Sizes{rows * 64 * 2, rows * 4, pieces * rows * 4, pieces * rows * 64 * 4, 16, 8});
}

TEST_CASE("32-bit operands take the memory-efficient kernel, with its workspace of 32-bit sums") {
  OpBench b;
  Tensor q = b.leaf({1, 2, 128, 64}, kFull), k = b.leaf({1, 2, 128, 64}, kFull),
         v = b.leaf({1, 2, 128, 64}, kFull);
  b.made();
  Tensor y = ops::scaled_dot_product_attention(b.t, q, k, v, {});
  const double out = 2 * 128 * 64 * 4, rows = 2 * 128 * 4;
  CHECK(b.made() == Sizes{8, 8, out, rows});
  b.t.backward(y);
  // Two blocks of 64 rows by one of 64 columns, each with its lock of four floats.
  const double workspace = 2 * 4 * (2 * 1 * (4 + 64 * 64));
  CHECK(b.made() == Sizes{out, out, out, out, out, rows, rows, workspace});
}

TEST_CASE("repeated heads are a copy, one head alone only a view") {
  OpBench b;
  Tensor two = b.leaf({1, 2, 8, 16}, kHalf), one = b.leaf({1, 1, 8, 16}, kHalf);
  b.made();
  Tensor copied = ops::repeat_heads(b.t, two, 8);
  CHECK(b.made() == Sizes{8 * 8 * 16 * 2});
  Tensor seen = ops::repeat_heads(b.t, one, 8);
  CHECK(b.made().empty());
  CHECK(seen->broadcast);
}

TEST_CASE("16-bit floats of different kinds meet in 32 bit") {
  OpBench b;
  Tensor a = b.leaf({1, 4, 8}, Dtype::kFloat16), c = b.leaf({1, 4, 8}, kHalf);
  CHECK(ops::add(b.t, a, c).dtype() == kFull);
  CHECK(ops::mul(b.t, a, a).dtype() == Dtype::kFloat16);
}

TEST_CASE("an adapter beside a linear adds a product of low rank") {
  OpBench b;
  ops::Linear layer = linear_of(b.t.parameter(b.t.shape({32, 16}), kHalf, "weight", false));
  layer.adapters.push_back({b.parameter({4, 16}, kFull), b.parameter({32, 4}, kFull), {}, false});
  Tensor x = b.leaf({1, 8, 16}, kHalf);
  b.made();
  Tensor y = ops::linear(b.t, layer, x);
  const double base = 8 * 32 * 2, cast = 8 * 16 * 4, down = 8 * 4 * 4, up = 8 * 32 * 4;
  CHECK(b.made() == Sizes{base, cast, down, up, up, up, base});
  CHECK(y.dtype() == kHalf);
}

TEST_CASE("every activation that is offered is found, and nothing else") {
  for (const char* name :
       {"silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "relu2", "quick_gelu", "mish"}) {
    CHECK(static_cast<bool>(ops::find_activation(name)));
  }
  CHECK_FALSE(static_cast<bool>(ops::find_activation("sofplus")));
}

}  // namespace ledger
