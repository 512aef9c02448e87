// What settings become: values as people write them, formats by their keys, several files, what is
// refused.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/import/import.hpp"
#include "core/import/sheet.hpp"
#include "core/report.hpp"
#include "tests/chance.hpp"

namespace ledger {
namespace {

using nlohmann::json;

json answer_to(const json& request) { return json::parse(import_files(request.dump())); }

// Every tree is a file of its own; strings are given as texts.
json imported(const std::vector<json>& files, const json& rest = json::object()) {
  json request = rest;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = "file" + std::to_string(i);
    request["files"].push_back(files[i].is_string() ? json{{"name", name}, {"text", files[i]}}
                                                    : json{{"name", name}, {"tree", files[i]}});
  }
  return answer_to(request);
}

json key(const json& answer, const std::string& path) {
  for (const json& one : answer.at("keys")) {
    if (one.at("path") == path) return one;
  }
  return {{"status", "absent"}, {"why", ""}};
}

const json kAxolotl = {{"base_model", "Qwen/Qwen3-0.6B"},
                       {"micro_batch_size", 2},
                       {"gradient_accumulation_steps", 1},
                       {"sequence_len", 512}};

json with(json base, const json& more) {
  base.update(more);
  return base;
}

TEST_CASE("arguments that any script takes imply no adapter") {
  const json answer =
      imported({"accelerate launch sft.py --model_name_or_path Qwen/Qwen3-0.6B --bf16 True"});
  CHECK(answer.at("formats").at(0).at("id") == "trainer");
  CHECK(answer.at("scenario").find("peft") == answer.at("scenario").end());
}

TEST_CASE("a program, and prose that names one, are not taken for a command line") {
  for (const char* text :
       {"from trl import SFTConfig\nargs = SFTConfig(\n  bf16=True,\n)\n", "I use trl for it."}) {
    const json answer = imported({text});
    CAPTURE(text);
    CHECK(answer.at("whole") == false);
    REQUIRE(answer.at("problems").size() == 1);
    CHECK(answer.at("problems").at(0).at("message").get<std::string>().find("no option") !=
          std::string::npos);
  }
}

TEST_CASE("of several documents in one file the first is read, and that is said") {
  json request = {{"files", {{{"name", "run.yml"}, {"tree", kAxolotl}, {"documents", 2}}}}};
  CHECK(answer_to(request).at("notes").dump().find("several documents") != std::string::npos);
  request["files"][0].erase("documents");
  CHECK(answer_to(request).at("notes").dump().find("several documents") == std::string::npos);
}

TEST_CASE("booleans and numbers are read as people write them") {
  const json answer = imported({with(kAxolotl, {{"micro_batch_size", "4"},
                                                {"gradient_checkpointing", "True"},
                                                {"bf16", "no"},
                                                {"fp16", "yes"}})});
  const json& training = answer.at("scenario").at("training");
  CHECK(training.at("per_device_train_batch_size") == 4);
  CHECK(training.at("gradient_checkpointing") == true);
  CHECK(training.at("fp16") == true);
  CHECK(training.at("bf16") == false);
  CHECK(answer.at("scenario").at("dtype") == "float16");
}

TEST_CASE("a value that cannot be read is said, and the default taken") {
  const json answer = imported({with(kAxolotl, {{"micro_batch_size", "a few"}})});
  CHECK(key(answer, "micro_batch_size").at("status") == "unsupported");
  CHECK(key(answer, "micro_batch_size").at("given") == "a few");
}

TEST_CASE("Axolotl's bf16 is auto unless said, and weights have autocast's type") {
  const json answer = imported({kAxolotl});
  CHECK(answer.at("scenario").at("training").at("bf16") == true);
  CHECK(answer.at("scenario").at("dtype") == "bfloat16");
  bool told = false;
  for (const json& one : answer.at("implied")) told = told || one.at("path") == "training.bf16";
  CHECK(told);
}

TEST_CASE("LLaMA-Factory casts what is trained to 32 bit unless pure_bf16 is given") {
  const json base = {{"model_name_or_path", "Qwen/Qwen3-0.6B"},
                     {"stage", "sft"},
                     {"finetuning_type", "full"},
                     {"cutoff_len", 512},
                     {"bf16", true}};
  CHECK(imported({base}).at("scenario").at("dtype") == "float32");
  CHECK(imported({with(base, {{"pure_bf16", true}})}).at("scenario").at("dtype") == "bfloat16");
}

TEST_CASE("DeepSpeed's global batch is divided by micro-batch and processes") {
  const json accelerate = {{"distributed_type", "DEEPSPEED"}, {"num_processes", 4}};
  const json deepspeed = {{"train_batch_size", 64},
                          {"train_micro_batch_size_per_gpu", 2},
                          {"zero_optimization", {{"stage", 2}}}};
  const json answer = imported({accelerate, deepspeed}, {{"with", {{"model", "Qwen/Qwen3-0.6B"}}}});
  // 64 sequences of 4 processes with 2 each are 8 micro-batches.
  CHECK(answer.at("scenario").at("training").at("gradient_accumulation_steps") == 8);
  CHECK(key(answer, "train_batch_size").at("status") == "became");
  CHECK(key(answer, "zero_optimization.stage").at("status") != "ignored");
}

TEST_CASE("\"auto\" leaves a key to the other files") {
  const json deepspeed = {{"train_micro_batch_size_per_gpu", "auto"},
                          {"gradient_accumulation_steps", "auto"},
                          {"bf16", {{"enabled", "auto"}}},
                          {"zero_optimization", {{"stage", 3}}}};
  const json arguments = {{"output_dir", "x"}, {"per_device_train_batch_size", 3}, {"fp16", true}};
  const json answer = imported({deepspeed, arguments}, {{"with", {{"model", "Qwen/Qwen3-0.6B"}}}});
  CHECK(key(answer, "train_micro_batch_size_per_gpu").at("status") == "ignored");
  CHECK(answer.at("scenario").at("training").at("per_device_train_batch_size") == 3);
  CHECK(key(answer, "zero_optimization.stage").at("status") == "unsupported");
}

TEST_CASE("of two files that contradict each other the later is taken, and the earlier told") {
  const json one = {{"output_dir", "x"}, {"per_device_train_batch_size", 3}};
  const json other = {{"train_micro_batch_size_per_gpu", 5}, {"gradient_clipping", 1}};
  const json answer = imported({one, other}, {{"with", {{"model", "Qwen/Qwen3-0.6B"}}}});
  CHECK(answer.at("scenario").at("training").at("per_device_train_batch_size") == 5);
  CHECK(key(answer, "per_device_train_batch_size").at("status") == "ignored");
  CHECK(key(answer, "per_device_train_batch_size").at("why").get<std::string>().find("5") !=
        std::string::npos);
}

TEST_CASE("what the estimate refuses is left out, and its sentence stands beside the key") {
  const json answer = imported({with(kAxolotl, {{"optimizer", "adalomo"}})});
  CHECK(key(answer, "optimizer").at("status") == "unsupported");
  CHECK(key(answer, "optimizer").at("why").get<std::string>().find("backward") !=
        std::string::npos);
  CHECK(answer.at("whole") == true);
  CHECK_FALSE(answer.at("scenario").at("training").contains("optim"));
}

TEST_CASE("a model by another owner's name, an instruct version, or a folder is its preset") {
  for (const char* name : {"NousResearch/Meta-Llama-3.1-8B-Instruct", "/models/Llama-3.1-8B/",
                           "unsloth/Meta-Llama-3.1-8B-bnb-4bit"}) {
    const json answer = imported({with(
        kAxolotl, {{"base_model", name}, {"adapter", "lora"}, {"lora_target_linear", true}})});
    CHECK_MESSAGE(answer.at("scenario").value("model", "") == "meta-llama/Llama-3.1-8B", name);
    CHECK_FALSE(key(answer, "base_model").at("why").get<std::string>().empty());
  }
  const json packed =
      imported({with(kAxolotl, {{"base_model", "unsloth/Llama-3.2-1B-unsloth-bnb-4bit"},
                                {"adapter", "lora"},
                                {"lora_target_linear", true}})});
  CHECK(packed.at("scenario").at("quantization").at("load_in_4bit") == true);
}

TEST_CASE("a model that is no preset asks for its config.json and names the nearest") {
  const json answer = imported({with(kAxolotl, {{"base_model", "Qwen/Qwen3-0.6C"}})});
  CHECK(answer.at("whole") == false);
  CHECK(answer.at("problems").at(0).at("path") == "model");
  CHECK(answer.at("problems").at(0).at("message").get<std::string>().find("config.json") !=
        std::string::npos);
  CHECK_FALSE(answer.at("near").empty());
  // Another version is another model: no silent guess.
  CHECK(imported({with(kAxolotl, {{"base_model", "Qwen/Qwen3-4B-Instruct-2507"}})}).at("whole") ==
        false);
}

TEST_CASE("the card that is chosen stays, and what is asked for wins") {
  const json answer = imported(
      {kAxolotl}, {{"keep", {{"card", "rtx-4090"}}}, {"with", {{"model", "Qwen/Qwen3-1.7B"}}}});
  CHECK(answer.at("scenario").at("card") == "rtx-4090");
  CHECK(answer.at("scenario").at("model") == "Qwen/Qwen3-1.7B");
}

TEST_CASE("the format can be said where the keys do not tell") {
  const json text = {{"gradient_accumulation_steps", 4}, {"bf16", true}};
  const json answer = imported({text}, {{"format", "axolotl"}});
  CHECK(answer.at("formats").at(0).at("id") == "axolotl");
  CHECK(answer.at("formats").at(0).at("sureness") == "said");
}

TEST_CASE("YAML is asked for as a tree") {
  const json answer = imported({"base_model: a/b\nmicro_batch_size: 1\n"});
  CHECK(answer.at("yaml") == json::array({"file0"}));
  CHECK(answer.at("whole") == false);
}

TEST_CASE("a scenario of Memory Ledger is taken as it is") {
  const json scenario = {{"model", "Qwen/Qwen3-0.6B"}, {"training", {{"max_length", 256}}}};
  CHECK(imported({scenario.dump()}).at("scenario") == scenario);
}

TEST_CASE("every row of every format leads somewhere, or says why not") {
  const json scenario = json::parse(R"({"model": 0, "config": 0, "dtype": 0, "rl": 0, "training": 0,
    "peft": 0, "quantization": 0, "parallel": 0, "attn_implementation": 0})");
  for (const json& format : json::parse(import_formats())) {
    for (const json& row : format.at("keys")) {
      const std::string name =
          format.at("id").get<std::string>() + " " + row.at("key").get<std::string>();
      const std::string to = row.at("to"), why = row.at("why"), act = row.at("act");
      const bool silent = (act == "ignored" || act == "unsupported") && why.empty();
      CHECK_FALSE_MESSAGE(silent, name);
      if (act == "became") CHECK_MESSAGE(scenario.contains(to.substr(0, to.find('.'))), name);
      CHECK_FALSE_MESSAGE(why.ends_with('.'), name);
    }
  }
}

TEST_CASE("nonsense has an answer") {
  for (
      const char* text :
      {"", "[]", "{}", "null", R"({"files": 3})", R"({"files": [3]})", R"({"files": []})",
       R"({"files": [{"name": 3, "text": 4}]})", R"({"files": [{"tree": null}]})",
       R"({"files": [{"tree": {"base_model": {"a": [1]}, "micro_batch_size": [], "adapter": 3}}]})",
       R"({"files": [{"tree": {"a": 1}}], "keep": 3, "with": [], "format": "nonsense"})",
       R"({"files": [{"tree": {"batch_size": 1e300, "micro_batch_size": 1e-300}}]})"}) {
    const json answer = json::parse(import_files(text), nullptr, false);
    CHECK_MESSAGE(answer.is_object(), text);
    const bool silent = import_table(answer.dump()).empty() && answer.at("problems").empty();
    CHECK_FALSE_MESSAGE(silent, text);
  }
}

std::string read(const std::string& name) {
  std::ifstream file(std::string(TEST_DATA_DIR) + "/imports/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE(
    "mutations of command lines and JSON have an answer that says of every key what it became") {
  const std::vector<std::string> texts = {
      read("verl-grpo.sh"),         read("command-accelerate.sh"),
      read("command-torchrun.txt"), read("zero2.json"),
      read("training_args.json"),   read("adapter_config.json"),
      read("dpo_config.json"),      read("config.json")};
  Chance chance;
  for (int round = 0; round < 400; ++round) {
    std::string text = texts[chance.below(texts.size())];
    for (std::size_t n = chance.below(6); n-- > 0;) {
      const std::string& other = texts[chance.below(texts.size())];
      const std::size_t at = chance.below(text.size() + 1);
      switch (chance.below(5)) {
        case 0: text.insert(at, 1, static_cast<char>(chance.below(256))); break;
        case 1: text.erase(at, chance.below(30)); break;
        case 2: text.insert(at, other.substr(chance.below(other.size()), chance.below(80))); break;
        case 3: text.insert(at, std::string(1 + chance.below(30), '9')); break;
        default: text += "\n" + other; break;
      }
    }
    pasted::Value request = pasted::Value::object(), file = pasted::Value::object();
    file.add_text("text", text);
    request.add("files", pasted::Value::of_list({file}));
    const json answer = json::parse(import_files(ledger::json::write(request)), nullptr, false);
    REQUIRE_MESSAGE(answer.is_object(), text);
    for (const json& one : answer.at("keys")) {
      const bool said = one.at("status") == "became" || !one.at("why").get<std::string>().empty();
      CHECK_MESSAGE(said, one.dump());
    }
    // What is called whole is taken.
    if (answer.at("whole") == true && round % 20 == 0)
      CHECK(json::parse(estimate(answer.at("scenario").dump())).at("problems").empty());
  }
}

}  // namespace
}  // namespace ledger
