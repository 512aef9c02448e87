// Optimizers: what they keep, what they make for a moment, against measurements and arithmetic.
#include "core/training/optimizers.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/rows.hpp"

namespace ledger {
namespace {

// A llama of two layers. Its parameters have 384,000 elements (embedding, head), 147,456 (q, o),
// 49,152 (k, v), 245,760 (gate, up, down) and 384 (norms).
Scenario small(const std::string& training, const std::string& dtype = "bfloat16") {
  const Result<Scenario> scenario = read_scenario(
      R"({"model": {"model_type": "llama", "hidden_size": 384, "intermediate_size": 640,
          "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2,
          "head_dim": 64, "vocab_size": 1000, "tie_word_embeddings": false},
          "dtype": ")" +
      dtype + R"(", "training": {"max_length": 64, )" + training + "}}");
  REQUIRE(scenario.ok());
  return scenario.value();
}

constexpr double kMatrices = 2 * 384000 + 4 * 147456 + 4 * 49152 + 6 * 245760;
constexpr double kMatrixBlocks = kMatrices / 256;
constexpr double kNorms = 5 * 384;

// Bytes of state, as they were asked for, and the most that a step makes beside it.
struct Kept {
  double state = 0;
  double work = 0;
};

Kept kept(const Scenario& scenario) {
  Workings workings;
  const training::Run run = training::run(scenario, workings, 1);
  Kept out;
  double now = 0;
  bool inside = false;
  for (const Event& e : run.record.events) {
    if (e.kind == Event::Kind::kMark) {
      inside = run.record.marks[e.id].kind == Mark::Kind::kStep;
      now = 0;
    }
    if (e.kind != Event::Kind::kAllocate && e.kind != Event::Kind::kFree) continue;
    const StorageRecord& s = run.record.storages[e.id];
    if (s.role == Role::kState && e.kind == Event::Kind::kAllocate) out.state += s.bytes.value();
    if (!inside || s.role != Role::kScratch) continue;
    now += (e.kind == Event::Kind::kAllocate ? 1 : -1) * s.bytes.value();
    out.work = std::max(out.work, now);
  }
  return out;
}

// Frees between two allocations in the order of their sizes: they change nothing by their order.
std::vector<double> settled(std::vector<double> events) {
  for (auto first = events.begin(); first != events.end();) {
    const auto last = std::find_if(first, events.end(), [](double bytes) { return bytes > 0; });
    std::sort(first, last);
    first = last == events.end() ? last : last + 1;
  }
  return events;
}

// What the second step allocates (positive) and frees, the first so many, settled.
std::vector<double> second_step(const Scenario& scenario, std::size_t events) {
  Workings workings;
  const training::Run run = training::run(scenario, workings, 1);
  std::vector<double> out;
  bool inside = false;
  for (const Event& e : run.record.events) {
    if (e.kind == Event::Kind::kMark) {
      const Mark& mark = run.record.marks[e.id];
      inside = mark.kind == Mark::Kind::kStep && mark.step == 2;
    } else if (inside && out.size() < events) {
      const double bytes = run.record.storages[e.id].bytes.value();
      if (e.kind == Event::Kind::kAllocate) out.push_back(bytes);
      if (e.kind == Event::Kind::kFree) out.push_back(-bytes);
    }
  }
  return settled(std::move(out));
}

bool accepts(const OptimizerRow& row, std::string_view arg) {
  return std::any_of(row.args.begin(), row.args.end(),
                     [&](const OptimizerArg& a) { return a.name == arg; });
}

}  // namespace

TEST_CASE("every measured row of an optimizer is equal in every figure") {
  const std::vector<rows::json> all = rows::read("optimizers.jsonl.gz");
  CHECK(all.size() == 207);
  for (const rows::json& row : all) {
    const std::string id = row.at("id");
    CAPTURE(id);
    const Result<Scenario> scenario = read_scenario(row.at("scenario").dump());
    REQUIRE(scenario.ok());
    CHECK(rows::differences(scenario.value(), row.at("measured")) == "");
  }
}

TEST_CASE("state in eight bits is a byte, a scale for each block, and one map for all") {
  const double scales = 4 * kMatrixBlocks;
  CHECK(kept(small(R"("optim": "adamw_8bit")")).state ==
        2 * (kMatrices + scales + 4 * kNorms) + 2 * 1024);
  CHECK(kept(small(R"("optim": "lion_8bit")")).state == kMatrices + scales + 4 * kNorms + 1024);
  CHECK(kept(small(R"("optim": "ademamix_8bit")")).state ==
        3 * (kMatrices + scales + 4 * kNorms) + 2 * 1024);
}

TEST_CASE("torchao keeps a map with every tensor, and small tensors in the weights' type") {
  const double matrices = 16;
  CHECK(kept(small(R"("optim": "adamw_torch_8bit")")).state ==
        2 * (kMatrices + 4 * kMatrixBlocks + 1024 * matrices + 2 * kNorms));
  CHECK(kept(small(R"("optim": "adamw_torch_4bit")")).state ==
        2 * (kMatrices / 2 + 4 * kMatrixBlocks + 64 * matrices + 2 * kNorms));
}

TEST_CASE("paged state of large tensors is outside the allocator, its scales are not") {
  const double paged = kMatrices - 4 * 49152;  // below 100,000 elements: k and v, and the norms
  CHECK(kept(small(R"("optim": "paged_adamw_32bit")")).state == 2 * 4 * (4 * 49152 + kNorms));
  CHECK(kept(small(R"("optim": "paged_lion_8bit")")).state ==
        kMatrices - paged + 4 * kMatrixBlocks + 4 * kNorms + 1024);
  const Scenario scenario = small(R"("optim": "paged_lion_8bit")");
  Workings workings;
  Tape t(workings, scenario.device);
  {
    const Tensor large = t.parameter(t.shape({400, 250}), Dtype::kBFloat16, "weight");
    const Tensor smaller = t.parameter(t.shape({400, 249}), Dtype::kBFloat16, "weight");
    training::Optimizer optimizer(t, scenario.training, training::one_group({large, smaller}));
    optimizer.step();
    CHECK(optimizer.paged_bytes() == 100000);
  }
}

TEST_CASE("Adafactor keeps rows and columns of matrices") {
  const double vectors = 2 * (1000 + 384) + 4 * (384 + 384) + 4 * (128 + 384) + 6 * (640 + 384);
  CHECK(kept(small(R"("optim": "adafactor", "optim_args": {"implementation": "torch"})")).state ==
        2 * (vectors + kNorms));    // in the weights' type
  const double times = 2 * 21 * 4;  // transformers' makes the RMS of each tensor anew in each step
  CHECK(kept(small(R"("optim": "adafactor")")).state == 4 * (vectors + kNorms) + times);
}

TEST_CASE("for-each kernels make a tensor for all parameters at once, single ones do not") {
  const double all = 2 * (kMatrices + kNorms);
  CHECK(kept(small(R"("optim": "adamw_torch")")).work == all);
  CHECK(kept(small(R"("optim": "adagrad")")).work == 2 * all);
  CHECK(kept(small(R"("optim": "sgd")")).work == 0);
  CHECK(kept(small(R"("optim": "sgd", "optim_args": {"weight_decay": 0.1})")).work == all);
  CHECK(kept(small(R"("optim": "adamw_torch_fused")")).work == 0);
  CHECK(kept(small(R"("optim": "adamw_8bit")")).work == 0);
}

// Measured: PyTorch 2.14.1, torch.optim.AdamW(foreach=False).step() of this model in bfloat16.
TEST_CASE("a name lets go of its tensor only once the next one exists") {
  CHECK(second_step(small(R"("optim": "adamw_torch", "optim_args": {"foreach": false})"), 12) ==
        settled({768000, 768000, -768000, 294912, 294912, -294912, -768000, 98304, 98304, -98304,
                 -294912, 98304}));
}

// Measured: torchao 0.18.0 compiled by PyTorch 2.14.1, second step of this model in bfloat16: its
// rows of 384 are not whole blocks, so one kernel does not do all.
TEST_CASE("torchao's compiled step keeps magnitudes and scaled moments where rows are ragged") {
  CHECK(second_step(small(R"("optim": "adamw_torch_8bit")"), 5) ==
        settled({6000, 6000, 1536000, 1536000, -6000}));
  CHECK(second_step(small(R"("optim": "adamw_torch_4bit")"), 10) ==
        settled({12000, 12000, 6000, -12000, 6000, -12000, 1536000, 1536000, 3072000, 3072000}));
}

// Measured: PyTorch 2.14.1, torch.optim.Adafactor.step() of this model in bfloat16: the norm with
// its partial sums, means of rows and columns, the update, a mean, the update's norm.
TEST_CASE("Adafactor's step holds rows, columns and one update at a time") {
  CHECK(second_step(small(R"("optim": "adafactor", "optim_args": {"implementation": "torch"})"),
                    17) ==
        settled({2, 188, 4, -4, -188, -2, 2000, 768, 768000, 2, -2, 2, 188, 4, -4, -188, -2}));
}

TEST_CASE("arguments and names that a row mentions exist in it") {
  for (const OptimizerRow& row : kOptimizers) {
    CAPTURE(row.optim);
    CAPTURE(row.what);
    for (const StateTensor& tensor : row.state) {
      CHECK((tensor.only_if.empty() || accepts(row, tensor.only_if)));
      CHECK((!tensor.paged || tensor.elements != Elements::kPerBlock));
    }
    for (const OptimizerArg& arg : row.args) CHECK((arg.needs.empty() || accepts(row, arg.needs)));
    std::vector<std::string_view> bound;
    for (const Statement& statement : row.work.statements) {
      CHECK((statement.only_if.empty() || accepts(row, statement.only_if)));
      for (const std::string_view arg : statement.unless) CHECK(accepts(row, arg));
      if (statement.kind == Statement::Kind::kMake) bound.push_back(statement.name);
      if (!statement.uses_up.empty()) {
        CHECK(std::count(bound.begin(), bound.end(), statement.uses_up) == 1);
      }
    }
  }
}

TEST_CASE("an optimizer whose kernels refuse bfloat16 is refused with it, not with float16") {
  const char* model =
      R"({"model": "HuggingFaceTB/SmolLM2-135M", "training": {"optim": "rmsprop_bnb"})";
  CHECK_FALSE(read_scenario(std::string(model) + R"(, "dtype": "bfloat16"})").ok());
  CHECK(read_scenario(std::string(model) + R"(, "dtype": "float16"})").ok());
}

}  // namespace ledger
