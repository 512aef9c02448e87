#include "core/tape.hpp"

#include <doctest/doctest.h>

#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/linear.hpp"

namespace ledger {
namespace {

// A tape on a device of the default kind, and short ways to ask it.
struct Bench {
  Workings workings;
  Device device;
  Tape t{workings, device};

  Tensor weight(double rows, double columns) {
    return t.parameter(t.shape({workings.letter(Letter::d, rows), columns}), Dtype::kBFloat16,
                       "weight");
  }
  Tensor input(double rows, double columns) {
    return t.make(t.shape({1, workings.letter(Letter::T, rows), columns}), Dtype::kBFloat16,
                  "input", Role::kInput);
  }
  Tensor sum_of(const Tensor& x) { return ops::mean_last(t, x); }  // something to differentiate

  // Bytes that live now.
  double live() const {
    double bytes = 0;
    for (const Event& e : t.record().events) {
      if (e.kind == Event::Kind::kAllocate) bytes += t.record().storages[e.id].bytes.value();
      if (e.kind == Event::Kind::kFree) bytes -= t.record().storages[e.id].bytes.value();
    }
    return bytes;
  }
  std::size_t allocations() const { return t.record().storages.size(); }
  std::string last() const { return t.record().storages.back().what; }
};

ops::Linear linear_of(const Tensor& weight, const Tensor& bias = {}) {
  ops::Linear layer;
  layer.weight = weight;
  layer.bias = bias;
  layer.shape = weight.shape();
  return layer;
}

}  // namespace

TEST_CASE("a tensor dies with its last holder") {
  Bench b;
  Tensor x = b.input(4, 8);
  CHECK(b.live() == 4 * 8 * 2);
  Tensor same = x;
  x.reset();
  CHECK(b.live() == 4 * 8 * 2);
  same.reset();
  CHECK(b.live() == 0);
}

TEST_CASE("a tensor saved for backward outlives the variable that held it") {
  Bench b;
  Tensor w = b.weight(8, 8);
  const double weight = b.live();
  Tensor x = b.input(4, 8);
  Tensor y = ops::linear(b.t, linear_of(w), std::move(x));
  const double workspace = 8519680;  // 4096 KiB twice and 16 KiB eight times
  CHECK(b.live() == weight + 2 * (4 * 8 * 2) + workspace);
  y.reset();
  CHECK(b.live() == weight + workspace);
}

TEST_CASE("without a gradient to compute nothing is saved") {
  Bench b;
  Tensor x = b.input(4, 8);
  Tensor y = ops::silu(b.t, std::move(x));
  CHECK(b.live() == 4 * 8 * 2);
  {
    Tensor w = b.weight(8, 8);
    const NoGrad no_grad(b.t);
    Tensor z = ops::linear(b.t, linear_of(w), std::move(y));
    CHECK_FALSE(z.needs_grad());
  }
}

TEST_CASE("the first gradient of a parameter is taken over, a second one is added and dies") {
  Bench b;
  Tensor w = b.weight(8, 8);
  for (int i = 0; i < 2; ++i) {
    Tensor x = b.input(4, 8);
    Tensor y = ops::linear(b.t, linear_of(w), std::move(x));
    Tensor loss = b.sum_of(y);
    y.reset();
    b.t.backward(loss);
    loss.reset();
    const double workspaces = 2 * 8519680;
    CHECK(b.live() == 8 * 8 * 2 + 8 * 8 * 2 + workspaces);
  }
  b.t.detach_gradient(w.get());
  CHECK(b.live() == 8 * 8 * 2 + 2 * 8519680);
}

TEST_CASE("the sum of two gradients is allocated for views and in place for others") {
  Bench b;
  Tensor w = b.weight(8, 8), v = b.weight(8, 8);
  Tensor x = b.input(4, 8);
  b.t.make_leaf(x);
  // Two linears of one 3-D input: their input gradients are views, so the first sum allocates.
  Tensor y = ops::linear(b.t, linear_of(w), x);
  Tensor z = ops::linear(b.t, linear_of(v), x);
  Tensor sum = ops::add(b.t, std::move(y), std::move(z));
  Tensor loss = b.sum_of(sum);
  sum.reset();
  b.t.backward(loss);
  int sums = 0;
  for (const StorageRecord& s : b.t.record().storages)
    sums += std::string(s.what) == "sum of gradients";
  CHECK(sums == 1);
}

TEST_CASE("a gradient of a broadcast operand is summed to its shape") {
  Bench b;
  Tensor g = b.t.parameter(b.t.shape({8}), Dtype::kBFloat16, "weight");
  Tensor x = b.input(4, 8);
  Tensor y = ops::mul(b.t, g, std::move(x));
  Tensor loss = b.sum_of(y);
  y.reset();
  b.t.backward(loss);
  REQUIRE(g->grad);
  CHECK(g->grad->shape == b.t.shape({8}));
}

TEST_CASE("autocast casts a weight once and forgets it with the context") {
  Bench b;
  Tensor w = b.t.parameter(b.t.shape({8, 8}), Dtype::kFloat32, "weight");
  Tensor x = b.input(4, 8);
  {
    const Autocast autocast(b.t, true, Dtype::kBFloat16);
    Tensor y = ops::linear(b.t, linear_of(w), x);
    const std::size_t before = b.allocations();
    Tensor z = ops::linear(b.t, linear_of(w), x);
    CHECK(b.allocations() == before + 1);  // the product only
    y.reset();
    z.reset();
    CHECK(b.live() == 8 * 8 * 4 + 8 * 8 * 2 + 4 * 8 * 2 + 8519680);
  }
  CHECK(b.live() == 8 * 8 * 4 + 4 * 8 * 2 + 8519680);
}

namespace {

// A region of two products and an activation between them.
struct TwoLinears {
  ops::Linear first, second;
};
RegionOutput run_two_linears(Tape& t, const void* context, const std::vector<Tensor>& arguments) {
  const TwoLinears& model = *static_cast<const TwoLinears*>(context);
  Tensor inner = ops::linear(t.as("inner"), model.first, arguments[0]);
  Tensor active = ops::silu(t.as("active"), std::move(inner));
  return {ops::linear(t.as("outer"), model.second, std::move(active))};
}

int made(const Tape& t, const std::string& what) {
  int n = 0;
  for (const StorageRecord& s : t.record().storages) n += s.what == what;
  return n;
}

}  // namespace

TEST_CASE(
    "a checkpointed region keeps only its arguments and stops its replay at the last saved value") {
  Bench b;
  TwoLinears model{linear_of(b.weight(8, 8)), linear_of(b.weight(8, 8))};
  const double weights = b.live();
  Tensor x = b.input(4, 8);
  Tensor y = b.t.checkpoint(run_two_linears, &model, {x}).result;
  x.reset();
  CHECK(b.live() == weights + 2 * (4 * 8 * 2) + 8519680);  // argument and result
  Tensor loss = b.sum_of(y);
  y.reset();
  b.t.backward(loss);
  loss.reset();
  CHECK(made(b.t, "inner") == 2);
  CHECK(made(b.t, "active") == 2);
  CHECK(made(b.t, "outer") == 1);  // its replay never puts anything out
  CHECK(b.live() == 2 * weights + 2 * 8519680);
}

TEST_CASE("a re-entrant region is replayed completely") {
  Bench b;
  TwoLinears model{linear_of(b.weight(8, 8)), linear_of(b.weight(8, 8))};
  const double weights = b.live();
  Tensor x = b.input(4, 8);
  b.t.make_leaf(x);  // without an input that needs a gradient there is nothing to go back through
  Tensor y = b.t.checkpoint_reentrant(run_two_linears, &model, {x}).result;
  Tensor loss = b.sum_of(y);
  y.reset();
  b.t.backward(loss);
  loss.reset();
  x.reset();
  CHECK(made(b.t, "outer") == 2);
  CHECK(b.live() == 2 * weights + 2 * 8519680);
}

TEST_CASE("a graph of a hundred thousand nodes is let go without recursion") {
  Bench b;
  Tensor x = b.weight(8, 8);
  const double weight = b.live();
  for (int i = 0; i < 100000; ++i) x = ops::add_constant(b.t, std::move(x));
  x.reset();
  CHECK(b.live() == 0 * weight);
}

TEST_CASE("every allocation is freed once, and never before it was made") {
  Bench b;
  {
    Tensor w = b.weight(8, 8);
    Tensor x = b.input(4, 8);
    Tensor y = ops::linear(b.t, linear_of(w), std::move(x));
    Tensor z = ops::silu(b.t, std::move(y));
    Tensor loss = b.sum_of(z);
    z.reset();
    b.t.backward(loss);
  }
  std::vector<int> state(b.allocations());
  for (const Event& e : b.t.record().events) {
    if (e.kind == Event::Kind::kAllocate) CHECK(state[e.id]++ == 0);
    if (e.kind == Event::Kind::kFree) CHECK(state[e.id]++ == 1);
  }
}

TEST_CASE("a transposed tensor is a view, and its contiguous form a copy") {
  Bench b;
  Tensor x = b.t.make(b.t.shape({2, 4, 8, 16}), Dtype::kBFloat16, "x", Role::kInput);
  const std::size_t before = b.allocations();
  Tensor y = ops::transpose(b.t, x);
  CHECK(b.allocations() == before);
  CHECK(y->swapped);
  CHECK(y.dim(1).value() == 8);
  Tensor z = ops::contiguous(b.t, y);
  CHECK(b.allocations() == before + 1);
  CHECK_FALSE(z->swapped);
  Tensor one = b.t.make(b.t.shape({2, 1, 8, 16}), Dtype::kBFloat16, "x", Role::kInput);
  CHECK_FALSE(ops::transpose(b.t, one)->swapped);  // nothing changes places where a dimension is 1
}

}  // namespace ledger
