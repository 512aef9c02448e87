// Serving: the cache's sizes, the engines' accounts, what stands against each other, and the worked
// example of a trainer and an engine on one machine.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/report.hpp"
#include "core/scenario.hpp"

namespace ledger {
namespace {

using nlohmann::json;

constexpr double kGiB = 1073741824;

json answer(const json& scenario) { return json::parse(estimate(scenario.dump())); }

json served(const std::string& model, const json& serving, const json& more = json::object()) {
  json scenario = {{"model", model}, {"training", {{"max_length", 64}}}, {"serving", serving}};
  scenario.update(more);
  const json report = answer(scenario);
  if (!report.contains("serving")) FAIL(report.dump());
  return report.at("serving");
}

double cache_of(const std::string& model) {
  return served(model, {{"engine", "vllm"}}, {{"card", "a100-80gb"}})
      .at("cache")
      .at("bytes_per_token");
}

std::string problem_of(const json& scenario, const std::string& path) {
  const json report = answer(scenario);
  CHECK(report.at("problems").size() == 1);
  for (const json& p : report.at("problems")) {
    if (p.at("path") == path) return p.at("message");
  }
  return "";
}

}  // namespace

TEST_CASE("a token of the cache is two vectors a key/value head and layer, or one latent") {
  CHECK(cache_of("meta-llama/Llama-2-7b-hf") == 2 * 32 * 32 * 128 * 2);
  CHECK(cache_of("meta-llama/Llama-3.1-8B") == 2 * 32 * 8 * 128 * 2);
  CHECK(cache_of("deepseek-ai/DeepSeek-V2-Lite") == 27 * (512 + 64) * 2);
  CHECK(served("meta-llama/Llama-3.1-8B", {{"engine", "vllm"}, {"kv_cache_dtype", "fp8"}},
               {{"card", "a100-80gb"}})
            .at("cache")
            .at("bytes_per_token") == 32 * 8 * 128 * 2);
}

TEST_CASE("windowed layers keep no more than their window, linear ones a state") {
  const json gemma = served("google/gemma-3-1b-pt", {{"engine", "vllm"}, {"prompt_length", 8192}},
                            {{"card", "a100-80gb"}});
  const json& kinds = gemma.at("cache").at("kinds");
  REQUIRE(kinds.size() == 2);
  const double a_layer = 2 * 1 * 256 * 2;
  CHECK(kinds.at(0).at("layers") == 4);
  CHECK(kinds.at(1).at("window") == 512);
  CHECK(gemma.at("cache").at("bytes") == a_layer * (4 * (8192 + 255) + 22 * 512));
}

TEST_CASE("the training's estimate stays what it is, whatever is served") {
  json scenario = {{"model", "Qwen/Qwen3-0.6B"}};
  const json alone = answer(scenario);
  CHECK(alone.at("serving").is_null());
  scenario["serving"] = {{"prompt_length", 512}, {"max_new_tokens", 16}};
  const json beside = answer(scenario);
  CHECK(beside.at("peak") == alone.at("peak"));
  CHECK(beside.at("phases") == alone.at("phases"));
  CHECK(beside.at("serving").at("room").is_null());
}

TEST_CASE("a normalised scenario that serves means the same") {
  for (const char* serving :
       {R"({})", R"({"engine":"vllm","kv_cache_dtype":"fp8","colocated":true,"sleep_level":2})",
        R"({"engine":"sglang","mem_fraction_static":0.4})",
        R"({"prefill_chunk_size":128,"do_sample":true})"}) {
    const json scenario = {
        {"model", "Qwen/Qwen3-0.6B"}, {"card", "a100-80gb"}, {"serving", json::parse(serving)}};
    const Result<Scenario> once = read_scenario(scenario.dump());
    if (!once.ok()) FAIL(once.problems().front().message);
    const Result<Scenario> twice = read_scenario(once.value().normalised);
    if (!twice.ok()) FAIL(twice.problems().front().message);
    CHECK(once.value().normalised == twice.value().normalised);
  }
}

TEST_CASE("the longest context and the most sequences fit, and one more does not") {
  const json scenario = {{"model", "Qwen/Qwen3-0.6B"},
                         {"device", {{"total_bytes", 6e9}}},
                         {"training", {{"max_length", 64}}}};
  const auto room = [&](json serving) {
    json s = scenario;
    s["serving"] = std::move(serving);
    return answer(s).at("serving").at("room");
  };
  const json given = room({{"prompt_length", 1000}, {"max_new_tokens", 8}});
  const double most = given.at("most_sequences").at("low");
  CHECK(room({{"prompt_length", 1000}, {"max_new_tokens", 8}, {"batch_size", most}}).at("fits") ==
        "yes");
  CHECK(
      room({{"prompt_length", 1000}, {"max_new_tokens", 8}, {"batch_size", most + 1}}).at("fits") !=
      "yes");
  const double at_best = given.at("most_sequences").at("high");
  CHECK(room({{"prompt_length", 1000}, {"max_new_tokens", 8}, {"batch_size", at_best + 1}})
            .at("fits") == "no");
  const double longest = given.at("longest_context").at("low");
  CHECK(room({{"prompt_length", longest - 8}, {"max_new_tokens", 8}}).at("fits") == "yes");
  CHECK(room({{"prompt_length", longest - 7}, {"max_new_tokens", 8}}).at("fits") != "yes");
}

// The search replays six chunks only, the estimate of one size as many as there are.
TEST_CASE("what is found by a few chunks of a prompt fits with all of them") {
  const auto served_in = [](double prompt) {
    return served("Qwen/Qwen3-0.6B",
                  {{"prompt_length", prompt}, {"max_new_tokens", 8}, {"prefill_chunk_size", 512}},
                  {{"device", {{"total_bytes", 6e9}}}});
  };
  const json longest = served_in(4096).at("room").at("longest_context");
  const double surely = longest.at("low"), at_best = longest.at("high");
  CHECK(surely > 12 * 512);
  const json fits = served_in(surely - 8);
  CHECK(fits.at("shortened") == false);
  CHECK(fits.at("room").at("fits") == "yes");
  CHECK(served_in(at_best - 8).at("room").at("fits") != "no");
  CHECK(served_in(at_best - 7).at("room").at("fits") == "no");
  // A hundred thousand passes are not replayed one by one.
  CHECK(served("Qwen/Qwen3-0.6B", {{"prompt_length", 100000}, {"prefill_chunk_size", 1}})
            .at("shortened") == true);
}

TEST_CASE("an engine's share is of the card's whole memory, and its cache whole blocks") {
  const json s = served("meta-llama/Llama-3.1-8B", {{"engine", "vllm"}}, {{"card", "a100-80gb"}});
  CHECK(s.at("weights_bytes") == 2 * 8030261248.0);
  CHECK(s.at("block_bytes") == 16 * 131072);
  const double blocks = s.at("blocks").at("low");
  CHECK(blocks * 16 * 131072 <= s.at("cache_bytes").at("low").get<double>());
  CHECK((blocks + 1) * 16 * 131072 > s.at("cache_bytes").at("low").get<double>());
  CHECK(s.at("starts") == "yes");
}

// The log: 39.50 GiB at 0.9, weights 14.96, beside PyTorch 0.10, activations 9.37, cache 11.12 GiB.
TEST_CASE("a published log of vLLM lies within the account") {
  const json s = served("meta-llama/Llama-3.1-8B",
                        {{"engine", "vllm"},
                         {"gpu_memory_utilization", 0.9},
                         {"max_num_batched_tokens", 131072},
                         {"enforce_eager", true}},
                        {{"device", {{"total_bytes", std::floor(39.50 * kGiB)}}}});
  const auto holds = [&](const char* key, double gib) {
    CAPTURE(key);
    CHECK(s.at(key).at("low").get<double>() <= gib * kGiB);
    CHECK(s.at(key).at("high").get<double>() >= gib * kGiB);
  };
  CHECK(std::abs(s.at("weights_bytes").get<double>() / kGiB - 14.96) < 0.005);
  holds("activations", 9.37);
  holds("outside", 0.1);
  holds("cache_bytes", 11.12);
}

TEST_CASE("what of serving contradicts itself gets a sentence") {
  json scenario = {{"model", "Qwen/Qwen3-0.6B"}, {"card", "a100-80gb"}};
  scenario["serving"] = {{"engine", "vllm"}, {"gpu_memory_utilization", 1.2}};
  CHECK(!problem_of(scenario, "serving.gpu_memory_utilization").empty());
  scenario["serving"] = {{"engine", "vllm"}, {"mem_fraction_static", 0.5}};
  CHECK(problem_of(scenario, "serving.mem_fraction_static").find("no meaning") !=
        std::string::npos);
  scenario["serving"] = {{"engine", "sglang"}, {"sleep_level", 1}};
  CHECK(problem_of(scenario, "serving.sleep_level").find("colocated") != std::string::npos);
  scenario["serving"] = {{"engine", "vllm"}};
  scenario["card"] = nullptr;
  CHECK(problem_of(scenario, "serving.engine").find("card") != std::string::npos);
  CHECK(problem_of({{"model", "Qwen/Qwen3-Next-80B-A3B-Instruct"}, {"serving", json::object()}},
                   "serving.engine")
            .find("not modelled yet") != std::string::npos);
}

TEST_CASE("an engine that leaves no room for one sequence says so") {
  const json s =
      served("meta-llama/Llama-3.1-8B", {{"engine", "vllm"}, {"gpu_memory_utilization", 0.15}},
             {{"card", "a100-80gb"}});
  CHECK(s.at("starts") == "no");
  CHECK(s.at("why").get<std::string>().find("no room for one sequence") != std::string::npos);
}

// Seen on a GB10 whose monitor acts at 95 % of 121.69 GiB: Qwen3-1.7B ran with answers of 256
// tokens, Qwen3-4B was ended in its first training phase at fractions of 0.4 and 0.2.
TEST_CASE("a trainer and an engine on one machine: the smaller fits, the larger does not") {
  const auto colocated = [](const char* model, double fraction, double sleep) {
    return served(model,
                  {{"engine", "sglang"},
                   {"mem_fraction_static", fraction},
                   {"colocated", true},
                   {"sleep_level", sleep},
                   {"prompt_length", 256},
                   {"max_new_tokens", 256}},
                  {{"dtype", "float32"},
                   {"trainer", "trl"},
                   {"card", "gb10"},
                   {"training",
                    {{"per_device_train_batch_size", 8},
                     {"gradient_accumulation_steps", 1},
                     {"optim", "adamw_torch"}}},
                   {"rl",
                    {{"method", "grpo"},
                     {"prompt_length", 256},
                     {"max_completion_length", 256},
                     {"beta", 0.001}}}})
        .at("colocated");
  };
  const json small = colocated("Qwen/Qwen3-1.7B", 0.4, 0);
  CHECK(small.at("fits") == "yes");
  CHECK(colocated("Qwen/Qwen3-4B", 0.4, 0).at("fits") == "no");
  CHECK(colocated("Qwen/Qwen3-4B", 0.2, 0).at("fits") == "no");
  CHECK(small.at("state_16P_bytes").get<double>() > 27e9);
  CHECK(colocated("Qwen/Qwen3-4B", 0.2, 0).at("state_16P_bytes").get<double>() > 64e9);
}

}  // namespace ledger
