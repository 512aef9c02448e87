// The embedded data holds together: files, legend, optimizers, presets' parameter counts, examples.
#include "core/data/data.hpp"

#include <doctest/doctest.h>
#include <algorithm>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "core/data/letters.hpp"
#include "core/data/optimizers.hpp"
#include "core/presets.hpp"
#include "core/scenario.hpp"
#include "tests/data_file.hpp"

using namespace ledger;
using Json = nlohmann::json;

TEST_CASE("every embedded file is JSON, under a name of its own, in order") {
  for (const auto& files : {data::models(), data::model_types(), data::cards(), data::examples()}) {
    CHECK_FALSE(files.empty());
    std::string_view before;
    for (const data::File& file : files) {
      CAPTURE(file.name);
      CHECK(file.name > before);
      before = file.name;
      CHECK(Json::accept(file.text));
      CHECK(data::find(files, file.name) == file.text);
    }
    CHECK(data::find(files, "no such file").empty());
  }
}

TEST_CASE("every preset stands under the name of its id") {
  for (const std::string& id : preset_ids()) {
    CAPTURE(id);
    CHECK(read_preset(id).find("id")->text == id);
  }
}

TEST_CASE("a llama-like preset's parameters, added up from its shapes, are the published count") {
  for (const std::string& id : preset_ids()) {
    CAPTURE(id);
    const auto scenario = read_scenario("{\"model\":\"" + id + "\"}");
    REQUIRE(scenario.ok());
    const ModelConfig& m = scenario.value().model;
    const std::string_view alike[] = {"llama", "mistral", "qwen2", "qwen3", "smollm3"};
    if (std::find(std::begin(alike), std::end(alike), m.model_type) == std::end(alike)) continue;
    const double d = m.number("hidden_size"), f = m.number("intermediate_size"),
                 V = m.number("vocab_size");
    const double q = m.number("num_attention_heads") * m.number("head_dim");
    const double kv = m.number("num_key_value_heads") * m.number("head_dim");
    double layer = 2 * d * q + 2 * d * kv + 3 * d * f + 2 * d;
    if (m.model_type == "qwen2") layer += q + 2 * kv;
    if (m.model_type == "qwen3") layer += 2 * m.number("head_dim");
    if (m.flag("attention_bias")) layer += q + 2 * kv + d;
    if (m.flag("mlp_bias")) layer += 2 * f + d;
    const double head = m.flag("tie_word_embeddings") ? 0 : V * d;
    const double total = V * d + m.number("num_hidden_layers") * layer + d + head;
    const auto preset = read_preset(id);
    CHECK(total == preset.find("computed_parameters")->number);
    std::string name = id;
    const Json file = data_file("models", name.replace(name.find('/'), 1, "--"));
    if (!file.contains("note")) CHECK(total == file["published_parameters"]["count"]);
  }
}

TEST_CASE("the legend's rows stand in the order of its letters") {
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    CHECK(kLetters[i].letter == static_cast<Letter>(i));
    CHECK_FALSE(kLetters[i].meaning.empty());
  }
  CHECK(legend(Letter::H_kv).latex == "H_{kv}");
  CHECK(legend(Letter::S).symbol == "S");
}

TEST_CASE("a model type's file gives every key a kind, a default, a meaning and known letters") {
  std::set<std::string> letters;
  for (const LetterRow& row : kLetters) letters.insert(std::string(row.symbol));
  const std::set<std::string> kinds = {"integer", "number", "flag", "text", "texts", "integers"};
  for (const data::File& file : data::model_types()) {
    const Json type = data_file("model_types", file.name);
    CHECK(type["model_type"] == file.name);
    for (const auto& item : type["keys"].items()) {
      const Json& spec = item.value();
      CAPTURE(item.key());
      CHECK(kinds.count(spec["kind"]) == 1);
      CHECK(spec.contains("default"));
      CHECK(spec["nullable"].is_boolean());
      CHECK_FALSE(spec["meaning"].get<std::string>().empty());
      if (spec["default"].is_null() && spec["nullable"]) CHECK(spec.contains("null_is"));
      if (spec["kind"] == "integer" || spec["kind"] == "number") CHECK(spec["min"] <= spec["max"]);
      if (spec.contains("letter")) CHECK(letters.count(spec["letter"]) == 1);
    }
    // What transformers makes of a configuration that names only its type is a model, or refused.
    const auto plain =
        read_scenario("{\"model\":{\"model_type\":\"" + std::string(file.name) + "\"}}");
    if (plain.ok()) continue;
    for (const Problem& problem : plain.problems()) {
      const bool said = problem.message.find("has no default") != std::string::npos ||
                        problem.message.find("not a multiple") != std::string::npos;
      CHECK_MESSAGE(said, problem.message);
    }
  }
}

TEST_CASE(
    "an optimizer's condition is on an argument that it accepts, and every row can be chosen") {
  for (const OptimizerRow& row : kOptimizers) {
    CAPTURE(row.what);
    CHECK_FALSE(row.source.empty());
    std::map<std::string, double, std::less<>> args;
    for (const OptimizerArg& arg : row.args) args[std::string(arg.name)] = arg.otherwise;
    if (row.when.test != OptimizerCondition::Test::kAlways) {
      CHECK(args.count(row.when.arg) == 1);
      args[std::string(row.when.arg)] = row.when.example;
    }
    CHECK(find_optimizer(row.optim,
                         [&](std::string_view name) { return args.find(name)->second; }) == &row);
    const bool states_work = row.work.kind == StepWork::Kind::kForEach ||
                             row.work.kind == StepWork::Kind::kSingle ||
                             row.work.kind == StepWork::Kind::kFunction;
    CHECK(states_work == (row.work.statements.size() > 0));
  }
}

TEST_CASE(
    "worked examples have scenarios that are accepted and placeholders that follow the grammar") {
  const std::string value = R"((inputs\.\w+|(\w+|\*)(\.\w+(\[\w+=[\w. -]+(,\w+=[\w. -]+)*\])?)+))";
  const std::regex placeholder("\\{" + value + "([*/]" + value +
                               R"()*(\|(text|int|gib|gb|gib_gb|percent|times)(:\d)?)?\})");
  for (const data::File& file : data::examples()) {
    CAPTURE(file.name);
    const Json example = Json::parse(file.text);
    CHECK(example["id"] == file.name);
    std::set<std::string> labels = {"inputs"};
    for (const Json& run : example["scenarios"]) {
      CHECK(labels.insert(run["label"]).second);
      CHECK(read_scenario(run["scenario"].dump()).ok());
    }
    std::vector<std::string> sentences = example["story"];
    if (example.contains("table")) {
      for (const Json& column : example["table"]) sentences.push_back(column["cell"]);
    }
    for (const std::string& sentence : sentences) {
      CAPTURE(sentence);
      std::string prose = sentence;
      for (std::smatch match; std::regex_search(prose, match, std::regex(R"(\{[^{}]*\})"));) {
        const std::string found = match.str();
        CAPTURE(found);
        CHECK(std::regex_match(found, placeholder));
        const std::regex label(R"([{*/](\w+)\.)");
        for (std::sregex_iterator name(found.begin(), found.end(), label), end; name != end;
             ++name) {
          CHECK(labels.count((*name)[1]) == 1);
        }
        prose = match.prefix().str() + match.suffix().str();
      }
      // Names like Qwen3-0.6B, BF16 and "32 bit" hold digits; a figure of its own is not allowed.
      prose = std::regex_replace(prose, std::regex("(4|8|16|32) bits?"), "bits");
      CHECK_FALSE(std::regex_search(prose, std::regex(R"((^|\s)\d[\d.,]*(\s|$|[.,;:]))")));
    }
  }
}
