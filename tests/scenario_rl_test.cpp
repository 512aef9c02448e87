// What `rl` accepts, completes and refuses.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/scenario.hpp"

namespace ledger {
namespace {

using nlohmann::json;

json with(json rl, json training = json::object()) {
  return {{"model", "Qwen/Qwen3-0.6B"}, {"trainer", "trl"}, {"training", training}, {"rl", rl}};
}

json normalised(const json& scenario) {
  const Result<Scenario> read = read_scenario(scenario.dump());
  if (!read.ok()) return {{"problem", read.problems().front().message}};
  return json::parse(read.value().normalised);
}

std::string path_of_problem(const json& scenario) {
  const Result<Scenario> read = read_scenario(scenario.dump());
  return read.ok() ? "" : read.problems().front().path;
}

}  // namespace

TEST_CASE("of a sequence, its prompt and its completion two give the third") {
  const auto lengths = [](const json& scenario) {
    const json n = normalised(scenario);
    CAPTURE(n.dump());
    return json::array({n.at("rl").at("prompt_length"), n.at("rl").at("max_completion_length"),
                        n.at("training").at("max_length")});
  };
  const json two = {{"method", "dpo"}, {"prompt_length", 100}, {"max_completion_length", 28}};
  CHECK(lengths(with(two)) == json::array({100, 28, 128}));
  const json prompt = {{"method", "dpo"}, {"prompt_length", 100}};
  CHECK(lengths(with(prompt, {{"max_length", 128}})) == json::array({100, 28, 128}));
  const json completion = {{"method", "kto"}, {"max_completion_length", 28}};
  CHECK(lengths(with(completion, {{"max_length", 128}})) == json::array({100, 28, 128}));
  const json none = {{"method", "dpo"}};
  CHECK(lengths(with(none)) == json::array({512, 512, 1024}));
  const json grpo = {{"method", "grpo"}, {"prompt_length", 100}};
  CHECK(lengths(with(grpo)) == json::array({100, 512, 612}));
}

TEST_CASE("a normalised scenario with rl means the same") {
  for (const char* method : {"dpo", "kto", "reward", "grpo"}) {
    const json once = normalised(with({{"method", method}}));
    CAPTURE(once.dump());
    CHECK(normalised(once) == once);
  }
}

TEST_CASE("rl refuses what does not go together") {
  const json dpo = {{"method", "dpo"}};
  CHECK(path_of_problem(with(dpo)) == "");
  json other = with(dpo);
  other["trainer"] = "torch";
  CHECK(path_of_problem(other) == "trainer");
  CHECK(path_of_problem(with({{"method", "ppo"}})) == "rl.method");
  CHECK(path_of_problem(with(json::object())) == "rl.method");
  CHECK(path_of_problem(with({{"method", "dpo"}, {"num_generations", 8}})) == "rl.num_generations");
  CHECK(path_of_problem(with({{"method", "grpo"}, {"num_generations", 3}})) ==
        "rl.num_generations");
  const json lengths = {{"method", "dpo"}, {"prompt_length", 9}, {"max_completion_length", 9}};
  CHECK(path_of_problem(with(lengths, {{"max_length", 20}})) == "training.max_length");
  CHECK(path_of_problem(with(dpo, {{"max_length", 1}})) == "training.max_length");
  json eager = with({{"method", "grpo"}});
  eager["attn_implementation"] = "eager";
  CHECK(path_of_problem(eager) == "attn_implementation");
  json windows = with({{"method", "grpo"}});
  windows["model"] = "google/gemma-2-2b";
  CHECK(path_of_problem(windows) == "rl.method");
}

}  // namespace ledger
