#include "core/simulation.hpp"

#include <doctest/doctest.h>

namespace ledger {
namespace {

Scenario scenario_of(const std::string& training) {
  const std::string model =
      R"({"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,)"
      R"( "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 5000})";
  const Result<Scenario> read =
      read_scenario(R"({"model": )" + model + R"(, "training": )" + training + "}");
  REQUIRE(read.ok());
  return read.value();
}

// Every micro-batch replayed, as the real program runs them.
Simulation the_long_way(const Scenario& scenario, Workings& workings) {
  const int n = static_cast<int>(scenario.training.gradient_accumulation_steps);
  Simulation out;
  out.run = training::run(scenario, workings, n);
  out.replay = device::replay(out.run.record);
  return out;
}

void check_equal(const std::string& training) {
  const Scenario scenario = scenario_of(training);
  Workings workings;
  const Simulation quick = simulate(scenario, workings);
  const Simulation full = the_long_way(scenario, workings);
  CAPTURE(training);
  CHECK(quick.repeats);
  CHECK(quick.micro_batches < scenario.training.gradient_accumulation_steps);
  CHECK(quick.replay.reserved_peak == full.replay.reserved_peak);
  CHECK(quick.replay.segments == full.replay.segments);
  REQUIRE(quick.replay.phases.size() == full.replay.phases.size());
  for (std::size_t i = 0; i < full.replay.phases.size(); ++i) {
    CHECK(quick.replay.phases[i].peak_bytes == full.replay.phases[i].peak_bytes);
    CHECK(quick.replay.phases[i].start_bytes == full.replay.phases[i].start_bytes);
    CHECK(quick.replay.phases[i].end_bytes == full.replay.phases[i].end_bytes);
    CHECK(quick.replay.phases[i].reserved_bytes == full.replay.phases[i].reserved_bytes);
  }
}

}  // namespace

TEST_CASE("many micro-batches, of which most are left out, equal the long way") {
  check_equal(R"({"max_length": 96, "gradient_accumulation_steps": 50})");
  check_equal(
      R"({"max_length": 300, "gradient_accumulation_steps": 33, "gradient_checkpointing": true})");
  check_equal(
      R"({"max_length": 128, "gradient_accumulation_steps": 64, "bf16": true, "optim": "adamw_torch"})");
  check_equal(
      R"({"max_length": 77, "per_device_train_batch_size": 3, "gradient_accumulation_steps": 41, "optim": "sgd"})");
}

TEST_CASE("a million micro-batches are answered as quickly as a few") {
  const Scenario scenario =
      scenario_of(R"({"max_length": 64, "gradient_accumulation_steps": 1000000})");
  Workings workings;
  const Simulation simulation = simulate(scenario, workings);
  CHECK(simulation.repeats);
  CHECK(simulation.micro_batches <= 64);
}

}  // namespace ledger
