// Weights that come packed: their bytes by the packages' own arithmetic, what is refused, and a
// config.json that carries its quantization_config.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/report.hpp"
#include "core/training/program.hpp"

namespace ledger {
namespace {

using nlohmann::json;

json small_model() {
  return {{"model_type", "llama"},  {"hidden_size", 256},       {"intermediate_size", 512},
          {"num_hidden_layers", 1}, {"num_attention_heads", 4}, {"num_key_value_heads", 4},
          {"head_dim", 64},         {"vocab_size", 1000},       {"tie_word_embeddings", false}};
}

json with(json quantization, const std::string& dtype = "float16") {
  return {{"model", small_model()},
          {"dtype", dtype},
          {"training", {{"max_length", 64}}},
          {"peft", {{"r", 8}, {"target_modules", "all-linear"}}},
          {"quantization", std::move(quantization)}};
}

// Bytes asked for under this name while the model is made.
double bytes_of(const json& scenario_json, const std::string& what) {
  const Result<Scenario> scenario = read_scenario(scenario_json.dump());
  if (!scenario.ok()) FAIL(scenario.problems().front().message);
  Workings workings;
  const training::Run run = training::run(scenario.value(), workings, 1);
  double bytes = 0;
  for (const StorageRecord& s : run.record.storages) {
    if (what == s.what) bytes += s.bytes.value();
  }
  return bytes;
}

std::string problem(const json& scenario, const std::string& path) {
  const Result<Scenario> read = read_scenario(scenario.dump());
  if (read.ok()) return {};
  for (const Problem& p : read.problems()) {
    if (p.path == path) return p.message;
  }
  return {};
}

// Of the layer's linears: four of 256 × 256, three of 256 × 512.
constexpr double kWeights = 4 * 256.0 * 256 + 3 * 256.0 * 512;

}  // namespace

TEST_CASE("GPTQ stores bits of each weight, zeros and scales of each group, and a group by row") {
  const json q = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 64}};
  CHECK(bytes_of(with(q), "qweight") == kWeights / 2);
  CHECK(bytes_of(with(q), "qzeros") == kWeights / 64 / 2);
  CHECK(bytes_of(with(q), "scales") == kWeights / 64 * 2);
  CHECK(bytes_of(with(q), "g_idx") == (6 * 256.0 + 512) * 4);
  const json whole = {{"quant_method", "gptq"}, {"bits", 8}, {"group_size", -1}};
  CHECK(bytes_of(with(whole), "qweight") == kWeights);
  CHECK(bytes_of(with(whole), "scales") == (5 * 256.0 + 2 * 512) * 2);
}

TEST_CASE("AWQ stores bits of each weight along the output, and no groups by row") {
  const json q = {{"quant_method", "awq"}, {"bits", 4}, {"group_size", 128}};
  CHECK(bytes_of(with(q), "qweight") == kWeights / 2);
  CHECK(bytes_of(with(q), "qzeros") == kWeights / 128 / 2);
  CHECK(bytes_of(with(q), "scales") == kWeights / 128 * 2);
  CHECK(bytes_of(with(q), "g_idx") == 0);
}

TEST_CASE(
    "a product with AWQ's weights takes eight parts in 32 bit for few rows, else the weight") {
  json q = with({{"quant_method", "awq"}, {"bits", 4}, {"group_size", 128}});
  CHECK(bytes_of(q, "parts of the product in 32 bit") > 0);
  q["training"]["max_length"] = 1025;
  CHECK(bytes_of(q, "parts of the product in 32 bit") == 0);
}

TEST_CASE("torchao's eight bits are a byte a weight, and a scale and a zero point of each row") {
  const json q = {{"quant_method", "torchao"}, {"quant_type", "int8_weight_only"}};
  CHECK(bytes_of(with(q, "bfloat16"), "weight in 8 bits") == kWeights);
  CHECK(bytes_of(with(q, "bfloat16"), "zero points of the rows") == 5 * 256.0 + 2 * 512);
}

TEST_CASE("what peft or the packages refuse beside packed weights is refused with the reason") {
  const json four = {{"quant_method", "torchao"}, {"quant_type", "int4_weight_only"}};
  CHECK(problem(with(four), "quantization.quant_type").find("peft refuses") != std::string::npos);
  json dora = with({{"quant_method", "gptq"}});
  dora["peft"]["use_dora"] = true;
  CHECK(problem(dora, "peft.use_dora").find("peft refuses") != std::string::npos);
  CHECK(problem(with({{"quant_method", "awq"}}, "float32"), "dtype").find("16-bit") !=
        std::string::npos);
  CHECK(problem(with({{"quant_method", "gptq"}, {"bits", 3}}), "quantization.bits") != "");
  CHECK(problem(with({{"quant_method", "fp8"}}), "quantization.quant_method") != "");
}

TEST_CASE("a config.json's own quantization_config is taken where the scenario has none") {
  json scenario = with(nullptr);
  scenario.erase("quantization");
  scenario["model"]["quantization_config"] = {{"quant_method", "gptq"},
                                              {"bits", 4},
                                              {"group_size", 128},
                                              {"damp_percent", 0.01},
                                              {"desc_act", false},
                                              {"sym", true},
                                              {"static_groups", false},
                                              {"true_sequential", true},
                                              {"model_file_base_name", "model"}};
  CHECK(bytes_of(scenario, "qweight") == kWeights / 2);
  const Result<Scenario> read = read_scenario(scenario.dump());
  REQUIRE(read.ok());
  CHECK(json::parse(read.value().normalised).at("quantization").at("quant_method") == "gptq");
}

TEST_CASE("a type that has no fused attention in transformers is eager, and refuses sdpa") {
  const auto normalised = [](const std::string& more) {
    return read_scenario(R"({"model":"bigscience/bloom-560m")" + more + "}");
  };
  REQUIRE(normalised("").ok());
  CHECK(normalised("").value().attn_implementation == "eager");
  const auto refused = normalised(R"(,"attn_implementation":"sdpa")");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.problems().front().nearest == "eager");
}

TEST_CASE("optimizers that have no row are refused with the reason") {
  for (const char* optim : {"lomo", "galore_adamw_layerwise", "adamw_torch_xla"}) {
    const json scenario = {{"model", small_model()}, {"training", {{"optim", optim}}}};
    CHECK(problem(scenario, "training.optim").find("is not modelled: ") != std::string::npos);
  }
}

TEST_CASE("gradients of 16 bit are refused where a gradient scaler would take them") {
  json scenario = {{"model", small_model()},
                   {"dtype", "bfloat16"},
                   {"trainer", "transformers"},
                   {"training", {{"fp16", true}, {"max_length", 64}}}};
  CHECK(problem(scenario, "training.fp16").find("scaler") != std::string::npos);
  scenario["dtype"] = "float32";
  CHECK(problem(scenario, "training.fp16") == "");
}

}  // namespace ledger
