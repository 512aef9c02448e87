// What `parallel` accepts, completes and refuses, and what must hold for any number of ranks.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/report.hpp"
#include "core/scenario.hpp"
#include "core/simulation.hpp"

namespace ledger {
namespace {

using nlohmann::json;

json with(const json& parallel, const json& more = json::object()) {
  json scenario = {{"model", "Qwen/Qwen3-0.6B"}, {"parallel", parallel}};
  scenario.update(more);
  return scenario;
}

json ddp(json more = json::object()) {
  json parallel = {{"strategy", "ddp"}, {"world_size", 8}};
  parallel.update(more);
  return parallel;
}

json fsdp2(json more = json::object()) {
  json parallel = {{"strategy", "fsdp2"}, {"world_size", 8}};
  parallel.update(more);
  return parallel;
}

Problem problem(const json& scenario) {
  const Result<Scenario> read = read_scenario(scenario.dump());
  return read.ok() ? Problem{} : read.problems().front();
}

bool says(const Problem& problem, const char* words) {
  return problem.message.find(words) != std::string::npos;
}

json tp(json more = json::object()) {
  json parallel = {{"strategy", "tp"}, {"world_size", 4}};
  parallel.update(more);
  return parallel;
}

json normalised(const json& scenario) {
  const Result<Scenario> read = read_scenario(scenario.dump());
  return read.ok() ? json::parse(read.value().normalised) : json();
}

// A small model whose sizes divide by eight, and by three with padding.
json small(json parallel) {
  return {{"model",
           {{"model_type", "qwen3"},
            {"hidden_size", 256},
            {"intermediate_size", 704},
            {"num_hidden_layers", 3},
            {"num_attention_heads", 4},
            {"num_key_value_heads", 2},
            {"head_dim", 64},
            {"vocab_size", 3001}}},
          {"dtype", "float32"},
          {"training", {{"max_length", 64}, {"per_device_train_batch_size", 1}}},
          {"parallel", std::move(parallel)}};
}

struct Held {
  double state = 0, weights = 0, peak = 0;
  std::vector<double> of_weights, of_state;
};

// What is requested for weights and state, tensor by tensor.
Held held(const json& scenario) {
  const Result<Scenario> read = read_scenario(scenario.dump());
  REQUIRE(read.ok());
  Workings workings;
  const Simulation s = simulate(read.value(), workings);
  Held out;
  std::vector<bool> live(s.run.record.storages.size());
  for (const Event& e : s.run.record.events) {
    if (e.kind == Event::Kind::kMark && s.run.record.marks[e.id].kind == Mark::Kind::kEnd) break;
    if (e.kind == Event::Kind::kAllocate) live[e.id] = true;
    if (e.kind == Event::Kind::kFree) live[e.id] = false;
  }
  for (std::size_t i = 0; i < live.size(); ++i) {
    const StorageRecord& storage = s.run.record.storages[i];
    const double bytes = storage.bytes.value();
    if (live[i] && storage.role == Role::kWeight) out.of_weights.push_back(bytes);
    if (live[i] && storage.role == Role::kState && std::string(storage.what) != "step") {
      out.of_state.push_back(bytes);
    }
  }
  for (const double bytes : out.of_weights) out.weights += bytes;
  for (const double bytes : out.of_state) out.state += bytes;
  out.peak = static_cast<double>(s.replay.phases.at(s.replay.peak_phase).peak_bytes);
  return out;
}

}  // namespace

TEST_CASE("a normalised scenario with parallel means the same") {
  for (const json& parallel :
       {ddp(), ddp({{"comm_hook", "bf16_compress_hook"}, {"bucket_cap_mb", 100}}), fsdp2(),
        fsdp2({{"param_dtype", "bfloat16"}, {"reshard_after_forward", false}}),
        json{{"strategy", "hsdp"}, {"world_size", 8}, {"dp_replicate_size", 2}},
        tp({{"world_size", 8}}), fsdp2({{"tensor_parallel_size", 2}})}) {
    const json once = normalised(with(parallel));
    CAPTURE(parallel.dump());
    REQUIRE(!once.is_null());
    CHECK(once.at("parallel").at("world_size") == 8);
    CHECK(normalised(once) == once);
  }
}

TEST_CASE("no ranks, no strategy and what is not modelled get sentences") {
  CHECK(says(problem(with({{"strategy", "ddp"}, {"world_size", 0}})), "from 1 to"));
  CHECK(problem(with({{"strategy", "ddp"}})).path == "parallel.world_size");
  CHECK(problem(with({{"world_size", 8}})).path == "parallel.strategy");
  CHECK(problem(with({{"strategy", "fsdp"}, {"world_size", 8}})).nearest == "fsdp2");
  for (const char* strategy : {"zero1", "zero2", "zero3", "fsdp1"}) {
    const Problem p = problem(with({{"strategy", strategy}, {"world_size", 8}}));
    CHECK(p.path == "parallel.strategy");
    CHECK(says(p, "not modelled yet"));
    CHECK(says(p, "ddp"));
  }
  CHECK(says(problem(with({{"strategy", "zero1"}, {"world_size", 8}})), "ZeroRedundancyOptimizer"));
  CHECK(says(problem(with(ddp({{"tensor_parallel_size", 2}}))), "no meaning in ddp"));
  CHECK(problem(with(ddp({{"tensor_parallel_size", 1}}))).message == "");
  CHECK(says(problem(with(ddp({{"context_parallel_size", 2}}))), "not modelled yet"));
  CHECK(says(problem(with(ddp({{"pipeline_parallel_size", 64}}))), "above the model's 28 layers"));
}

TEST_CASE("keys of another strategy, and misspelt ones, get sentences") {
  const Problem zero = problem(with(fsdp2({{"zero_redundancy_optimizer", true}})));
  CHECK(zero.path == "parallel.zero_redundancy_optimizer");
  CHECK(says(zero, "no meaning in fsdp2"));
  CHECK(problem(with(fsdp2({{"stage", 3}}))).path == "parallel.stage");
  CHECK(problem(with(ddp({{"reshard_after_forward", true}}))).path ==
        "parallel.reshard_after_forward");
  CHECK(problem(with(ddp({{"bucket_cap", 25}}))).nearest == "bucket_cap_mb");
  CHECK(problem(with(fsdp2({{"param_dtype", "bf16"}}))).nearest == "bfloat16");
}

TEST_CASE("ranks that cannot be are refused") {
  CHECK(problem(with(ddp({{"rank", 8}}))).path == "parallel.rank");
  CHECK(problem(with(fsdp2({{"world_size", 1}}))).path == "parallel.world_size");
  CHECK(problem(with({{"strategy", "hsdp"}, {"world_size", 8}, {"dp_replicate_size", 3}})).path ==
        "parallel.dp_replicate_size");
  CHECK(problem(with({{"strategy", "hsdp"}, {"world_size", 8}})).path ==
        "parallel.dp_replicate_size");
  CHECK(problem(with({{"strategy", "hsdp"}, {"world_size", 8}, {"dp_replicate_size", 8}})).path ==
        "parallel.world_size");
}

TEST_CASE("parallel refuses what is modelled on one device only") {
  CHECK(problem(with(ddp(), {{"trainer", "trl"}})).path == "trainer");
  CHECK(problem(with(fsdp2(), {{"training", {{"bf16", true}}}})).path == "training.bf16");
  CHECK(problem(with(fsdp2(), {{"training", {{"optim", "adafactor"}}}})).path == "training.optim");
  CHECK(problem(with(fsdp2(), {{"training", {{"max_grad_norm", 1}}}})).path ==
        "training.max_grad_norm");
  CHECK(problem(with(fsdp2(), {{"peft", {{"use_dora", true}}}})).path == "peft");
  const json quantised = {{"peft", json::object()}, {"quantization", {{"load_in_4bit", true}}}};
  CHECK(problem(with(fsdp2(), quantised)).path == "quantization");
  CHECK(problem(with(ddp(), quantised)).message == "");
}

TEST_CASE("tensor-parallel ranks that cannot be get sentences") {
  CHECK(says(problem(with(tp({{"world_size", 1}}))), "nothing to divide"));
  CHECK(says(problem(with(tp({{"world_size", 3}}))), "does not divide the 16 attention heads"));
  CHECK(says(problem(with(tp({{"tensor_parallel_size", 2}}))), "all ranks divide the same"));
  CHECK(says(problem(with(fsdp2({{"tensor_parallel_size", 3}}))), "does not divide parallel"));
  CHECK(problem(with(fsdp2({{"tensor_parallel_size", 8}}))).path == "parallel.world_size");
  CHECK(says(problem(with(tp({{"parallelize_embedding_and_head", true}}))), "needs two tables"));
  CHECK(problem(with(tp({{"sequence_parallel", true}}))).path == "parallel.sequence_parallel");
  CHECK(problem(with(tp({{"loss_parallel", true}}))).path == "parallel.loss_parallel");
  CHECK(problem(with(tp(), {{"peft", json::object()}})).path == "peft");
  CHECK(problem(with(tp(), {{"training", {{"optim", "sgd"}}}})).path == "training.optim");
  CHECK(says(problem({{"model", "google/gemma-2-2b"}, {"parallel", tp({{"world_size", 2}})}}),
             "not yet for gemma2"));
  CHECK(problem(with(json{{"strategy", "hsdp"},
                          {"world_size", 8},
                          {"dp_replicate_size", 2},
                          {"tensor_parallel_size", 2}}))
            .path == "parallel.tensor_parallel_size");
}

// 3,001 rows of a table do not divide by two; 3,008 do by sixteen.
json divisible(json parallel) {
  json scenario = small(std::move(parallel));
  scenario["model"].update(
      {{"num_attention_heads", 8}, {"num_key_value_heads", 8}, {"vocab_size", 3008}});
  return scenario;
}

TEST_CASE("tensor-parallel ranks together hold each divided weight once, and norms as often") {
  json alone = divisible({});
  alone.erase("parallel");
  const Held one = held(alone);
  // What stays whole: seven norms of 256, six of 64, in 32 bit.
  const double norms = 4.0 * (7 * 256 + 6 * 64);
  double before = one.peak;
  for (const int ranks : {2, 4, 8}) {
    CAPTURE(ranks);
    for (const bool sequence : {false, true}) {
      const Held part = held(divisible(tp(
          {{"world_size", ranks}, {"sequence_parallel", sequence}, {"loss_parallel", sequence}})));
      CHECK(ranks * (part.weights - norms) == one.weights - norms);
      CHECK(ranks * (part.state - 2 * norms) == one.state - 2 * norms);
      CHECK(part.peak < before);
      if (sequence) before = part.peak;
    }
    // With two data-parallel groups on top, halves of that.
    const Held both = held(divisible(fsdp2(
        {{"world_size", 2 * ranks}, {"tensor_parallel_size", ranks}, {"loss_parallel", true}})));
    CHECK(2 * ranks * (both.weights - norms / 2) == one.weights - norms);
  }
}

TEST_CASE("more ranks never need more of what is divided, and together hold all of it") {
  json alone = small({});
  alone.erase("parallel");
  const Held one = held(alone);
  Held before = one;
  for (const int ranks : {2, 3, 4, 8, 64}) {
    CAPTURE(ranks);
    const Held part = held(small(fsdp2({{"world_size", ranks}})));
    CHECK(part.weights <= before.weights);
    CHECK(part.state <= before.state);
    CHECK(part.peak <= one.peak * 1.05);  // tables and buffers are new, and small here
    REQUIRE(part.of_weights.size() == one.of_weights.size());
    REQUIRE(part.of_state.size() == one.of_state.size());
    CHECK(part.weights * ranks >= one.weights);
    CHECK(part.state * ranks >= one.state);
    before = part;
  }
  // By hand: rows of a matrix in equal parts, the last ones padded. 3,001 rows of 256 and 704 of
  // 256 in three parts are 1,001 and 235 rows; 256 and 128 rows are 86 and 43; a norm of 64 is 22.
  const Held third = held(small(fsdp2({{"world_size", 3}})));
  const double layer =
      4.0 * ((86 + 43 + 43) * 256 + 86 * 256 + 2 * 235 * 256 + 86 * 704 + 2 * 86 + 2 * 22);
  CHECK(third.weights == 3 * layer + 4.0 * (2 * 1001 * 256 + 86));
  CHECK(third.state == 2 * third.weights);
}

TEST_CASE("ranks of ZeroRedundancyOptimizer hold each state once") {
  json alone = small({});
  alone.erase("parallel");
  const Held one = held(alone);
  double sum = 0, most = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const Held part =
        held(small(ddp({{"world_size", 4}, {"rank", rank}, {"zero_redundancy_optimizer", true}})));
    CHECK(part.weights == one.weights);
    sum += part.state;
    most = std::max(most, part.state);
  }
  CHECK(sum == one.state);
  CHECK(most < one.state);
}

TEST_CASE("a loss that builds no logits has none to copy") {
  json scenario = small(ddp({{"static_graph", true}}));
  scenario["training"]["use_liger_kernel"] = true;
  CHECK(json::parse(estimate(scenario.dump())).at("problems").empty());
}

TEST_CASE("what tensor parallel divides is refused where nothing divides tensors") {
  for (const char* key : {"sequence_parallel", "loss_parallel", "parallelize_embedding_and_head"}) {
    const json report = json::parse(estimate(small(fsdp2({{key, true}})).dump()));
    CAPTURE(key);
    REQUIRE(report.at("problems").size() == 1);
    CHECK(report.at("problems").at(0).at("path") == std::string("parallel.") + key);
  }
}

TEST_CASE("every strategy gives a report whose parts add up") {
  for (const json& parallel : {ddp(), ddp({{"gradient_as_bucket_view", true}}), fsdp2(),
                               fsdp2({{"auto_wrap_policy", "NO_WRAP"}})}) {
    const json report = json::parse(estimate(small(parallel).dump()));
    CAPTURE(parallel.dump());
    REQUIRE(report.at("problems").empty());
    double sum = 0;
    for (const json& part : report.at("parts")) sum += part.at("bytes").get<double>();
    CHECK(sum == report.at("peak").at("allocated_bytes").get<double>());
  }
}

}  // namespace ledger
