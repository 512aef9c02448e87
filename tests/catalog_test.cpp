// The catalogue: complete, in one order, and made of what a scenario accepts.
#include "core/catalog.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "core/data/data.hpp"
#include "core/data/optimizers.hpp"
#include "core/scenario.hpp"

using namespace ledger;
using Json = nlohmann::json;

// A model type whose configuration has the key that a path names.
std::string type_with(const std::string& path) {
  if (path.rfind("config.", 0) != 0) return "smollm3";
  for (const data::File& file : data::model_types()) {
    if (Json::parse(file.text).at("keys").contains(path.substr(7))) return std::string(file.name);
  }
  return "";
}

TEST_CASE("the catalogue is one line of JSON and the same every time") {
  const std::string text = catalog();
  CHECK(Json::accept(text));
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text == catalog());
}

TEST_CASE("every choice of the catalogue makes a scenario that is accepted") {
  const Json all = Json::parse(catalog());
  const auto accepts = [](const Json& scenario) {
    CAPTURE(scenario.dump());
    CHECK(read_scenario(scenario.dump()).ok());
  };
  for (const Json& model : all["models"]) accepts({{"model", model["id"]}});
  const Json base = {{"model", "Qwen/Qwen3-0.6B"}, {"dtype", "float16"}};
  for (const char* key : {"dtype", "trainer"}) {
    for (const Json& id : all[std::string(key) + "s"]) {
      Json scenario = base;
      scenario[key] = id;
      accepts(scenario);
    }
  }
  for (const Json& method : all["rl_methods"]) {
    Json scenario = base;
    scenario["trainer"] = "trl";
    scenario["rl"] = {{"method", method["id"]}};
    accepts(scenario);
  }
  for (const Json& strategy : all["parallel_strategies"]) {
    const std::string id = strategy["id"];
    CAPTURE(id);
    Json scenario = {{"model", "Qwen/Qwen3-0.6B"}, {"parallel", all["parallel_defaults"][id]}};
    CHECK(scenario["parallel"]["strategy"] == id);
    CHECK(read_scenario(scenario.dump()).ok());
  }
  for (const Json& attention : all["attn_implementations"]) {
    Json scenario = base;
    scenario["attn_implementation"] = attention["id"];
    accepts(scenario);
  }
  CHECK(all["optimizers"].size() == kOptimizers.size());
  for (const Json& row : all["optimizers"]) {
    Json scenario = base;
    scenario["training"] = {{"optim", row["optim"]}, {"optim_args", row["optim_args"]}};
    accepts(scenario);
  }
  for (const Json& card : all["cards"]) {
    Json scenario = base;
    scenario["card"] = card["id"];
    if (card["usable_bytes"].is_null()) scenario["device"] = {{"total_bytes", 8000000000}};
    accepts(scenario);
  }
}

TEST_CASE("losses and packings of the catalogue are accepted under trl") {
  const Json all = Json::parse(catalog());
  for (const Json& loss : all["loss_types"]) {
    const Json scenario = {{"model", "Qwen/Qwen3-0.6B"},
                           {"trainer", "trl"},
                           {"training", {{"loss_type", loss["id"]}}}};
    CHECK(read_scenario(scenario.dump()).ok());
  }
  for (const Json& loss : all["plain_loss_types"]) {
    const Json scenario = {{"model", "Qwen/Qwen3-0.6B"}, {"training", {{"loss_type", loss["id"]}}}};
    CHECK(read_scenario(scenario.dump()).ok());
  }
  for (const Json& packing : all["packing_strategies"]) {
    const Json scenario = {{"model", "Qwen/Qwen3-0.6B"},
                           {"trainer", "trl"},
                           {"training", {{"packing", true}, {"packing_strategy", packing["id"]}}}};
    CHECK(read_scenario(scenario.dump()).ok());
  }
}

// TrainingArguments of transformers 5.18.0, SFTConfig of trl 1.16.0.
TEST_CASE("the defaults of training follow the trainer") {
  const Json defaults = Json::parse(catalog())["training_defaults"];
  CHECK(defaults["torch"]["per_device_train_batch_size"] == 1);
  CHECK(defaults["torch"]["max_grad_norm"] == 0);
  for (const char* trainer : {"transformers", "trl"}) {
    CHECK(defaults[trainer]["per_device_train_batch_size"] == 8);
    CHECK(defaults[trainer]["max_grad_norm"] == 1);
    CHECK(defaults[trainer]["optim"] == "adamw_torch_fused");
  }
  CHECK(defaults["transformers"]["gradient_checkpointing"] == false);
  CHECK(defaults["transformers"]["bf16"] == false);
  CHECK(defaults["trl"]["gradient_checkpointing"] == true);
  CHECK(defaults["trl"]["bf16"] == true);
  CHECK(defaults["trl"]["max_length"] == 1024);
}

TEST_CASE("the defaults are those of a scenario that names its model only") {
  Json scenario = Json::parse(catalog())["defaults"];
  CHECK_FALSE(scenario.contains("model"));
  scenario["model"] = "Qwen/Qwen3-0.6B";
  const auto given = read_scenario(scenario.dump());
  const auto silent = read_scenario(R"({"model":"Qwen/Qwen3-0.6B"})");
  REQUIRE(given.ok());
  REQUIRE(silent.ok());
  CHECK(given.value().normalised == silent.value().normalised);
}

TEST_CASE("what is missing within peft and quantization is what the catalogue says") {
  const Json within = Json::parse(catalog())["defaults_within"];
  const auto normalised = [](Json peft, Json quantization) {
    peft["target_modules"] = "all-linear";
    quantization["load_in_4bit"] = true;
    const Json scenario = {
        {"model", "Qwen/Qwen3-0.6B"}, {"peft", peft}, {"quantization", quantization}};
    const auto read = read_scenario(scenario.dump());
    REQUIRE(read.ok());
    return read.value().normalised;
  };
  CHECK(normalised(within["peft"], within["quantization"]) ==
        normalised(Json::object(), Json::object()));
  CHECK(within["peft"]["r"] == 8);  // peft's LoraConfig
  CHECK(within["peft"]["target_modules"].is_null());
  CHECK(within["quantization"]["load_in_4bit"] == false);
}

TEST_CASE("the linears of the catalogue are accepted as target_modules, and so are peft's own") {
  const Json all = Json::parse(catalog());
  CHECK(all["linears"].size() == all["model_types"].size());
  for (const Json& row : all["linears"]) {
    CAPTURE(row.dump());
    CHECK_FALSE(row["linears"].empty());
    for (const char* key : {"linears", "lora_targets"}) {
      if (row[key].empty()) continue;
      const Json scenario = {{"model", {{"model_type", row["model_type"]}}},
                             {"peft", {{"target_modules", row[key]}}}};
      const auto read = read_scenario(scenario.dump());
      if (read.ok()) continue;
      for (const Problem& problem : read.problems()) CHECK(problem.path.rfind("peft", 0) != 0);
    }
  }
}

TEST_CASE("the limits are those that the reading keeps") {
  const Json all = Json::parse(catalog());
  for (const Json& limit : all["limits"]) {
    const std::string path = limit["path"];
    CAPTURE(path);
    const auto reads = [&](double value) {
      Json scenario = {{"model", {{"model_type", type_with(path)}}}};
      scenario[Json::json_pointer("/" + std::regex_replace(path, std::regex("\\."), "/"))] = value;
      if (path == "quantization.bits" || path == "quantization.group_size") {
        scenario["quantization"]["quant_method"] = "gptq";
      }
      if (path.rfind("rl.", 0) == 0) scenario["rl"]["method"] = "grpo";  // has all of its keys
      const auto result = read_scenario(scenario.dump());
      if (result.ok()) return true;
      for (const Problem& problem : result.problems()) {
        if (problem.path == path && problem.message.find("number from") != std::string::npos)
          return false;
      }
      return true;  // refused for another reason
    };
    CHECK(reads(limit["min"]));
    CHECK(reads(limit["max"]));
    CHECK_FALSE(reads(limit["min"].get<double>() - 1));
    CHECK_FALSE(reads(limit["max"].get<double>() + 1));
  }
}

TEST_CASE("optimizer state per parameter is written with the letter of the legend") {
  const Json all = Json::parse(catalog());
  for (const Json& row : all["optimizers"]) {
    // On the host it takes nothing of the device.
    if (row["optim"] == "adamw_torch_fused")
      CHECK(row["bytes_per_parameter"] == (row["optim_args"].empty() ? "2 e" : "0"));
    if (row["optim"] == "adafactor") CHECK(row["bytes_per_parameter"].is_null());
    if (row["optim"] == "sgd")
      CHECK(row["bytes_per_parameter"] == (row["optim_args"].contains("momentum") ? "e" : "0"));
  }
}

TEST_CASE("worked examples come in the order of their numbers") {
  double before = 0;
  const Json all = Json::parse(catalog());
  for (const Json& example : all["examples"]) {
    CHECK(example["number"].get<double>() > before);
    before = example["number"];
  }
}
