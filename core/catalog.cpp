// Puts the catalogue together from the tables and files of core/data.
#include "core/catalog.hpp"
#include "core/quantity.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/data/data.hpp"
#include "core/data/letters.hpp"
#include "core/data/optimizers.hpp"
#include "core/data/versions.hpp"
#include "core/device/cards.hpp"
#include "core/json.hpp"
#include "core/ledger.hpp"
#include "core/presets.hpp"
#include "core/scenario.hpp"
#include "core/scenario_limits.hpp"
#include "core/scenario_reader.hpp"
#include "core/short_sort.hpp"

#ifndef LEDGER_VERSION
#define LEDGER_VERSION "unversioned"
#endif

namespace ledger {
namespace {

using json::Value;

Value text(std::string_view words) { return Value::of_text(words); }
Value number(double figure) { return Value::of_number(figure); }
Value number(const std::optional<double>& figure) { return figure ? number(*figure) : Value(); }

// What the letters stand for that the model alone decides.
Value letters_of(const ModelConfig& config, double parameters) {
  Value letters = Value::object();
  constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
      {"d", "hidden_size"},         {"L", "num_hidden_layers"},
      {"H", "num_attention_heads"}, {"H_kv", "num_key_value_heads"},
      {"d_h", "head_dim"},          {"f", "intermediate_size"},
      {"V", "vocab_size"}};
  for (const auto& [letter, key] : kKeys) letters.add(letter, number(config.number(key)));
  letters.add("P", number(parameters));
  return letters;
}

Value models() {
  std::vector<Value> models;
  for (const std::string& id : preset_ids()) {
    const Value preset = read_preset(id);
    Value scenario = Value::object();
    scenario.add("model", text(id));
    reading::Findings findings;
    const ModelConfig config = reading::read_model(scenario, findings).config;
    const double parameters = preset.find("computed_parameters")->number;
    const Value* published = preset.find("config");
    const Value* text_part = published->find("text_config");
    const Value* context = (text_part ? text_part : published)->find("max_position_embeddings");
    Value model = Value::object();
    model.add("id", text(id));
    model.add("family", *preset.find("family"));
    model.add("model_type", text(config.model_type));
    model.add("parameters", number(parameters));
    model.add("context", context ? *context : Value());
    model.add("letters", letters_of(config, parameters));
    models.push_back(std::move(model));
  }
  return Value::of_list(std::move(models));
}

Value cards() {
  std::vector<Value> cards;
  for (const device::Card& card : device::all_cards()) {
    Value entry = Value::object();
    entry.add("id", text(card.id));
    entry.add("name", text(card.name));
    entry.add("vendor", text(card.vendor));
    entry.add("generation", text(card.generation));
    entry.add("class", text(card.kind));
    entry.add("nominal_gb", number(card.nominal_gb));
    entry.add("usable_bytes", number(card.usable_bytes));
    entry.add("usable_source", card.usable_bytes ? text(card.usable_source) : Value());
    entry.add("usable_bytes_windows", number(card.usable_bytes_windows));
    entry.add("nvidia_smi_bytes", number(card.nvidia_smi_bytes));
    entry.add("compute_capability", card.compute_major == 0
                                        ? Value()
                                        : text(std::to_string(card.compute_major) + "." +
                                               std::to_string(card.compute_minor)));
    entry.add("multiprocessors", number(card.multiprocessors));
    entry.add("threads_per_multiprocessor", number(card.threads_per_multiprocessor));
    entry.add_flag("kernels_known", device::kernels_known(card));
    entry.add_flag("unified", card.unified);
    cards.push_back(std::move(entry));
  }
  return Value::of_list(std::move(cards));
}

// Elements that such a tensor has for each element of its parameter.
double elements_per_parameter(Elements elements) {
  switch (elements) {
    case Elements::kAsParameter: return 1;
    case Elements::kTwice: return 2;
    case Elements::kHalf: return 0.5;
    case Elements::kPerBlock: return 1.0 / 256;
    case Elements::kTwicePerBlock: return 2.0 / 256;
    case Elements::kOne:
    case Elements::kCodes:
    case Elements::kFewCodes: return 0;
  }
  return 0;
}

// Bytes of state per trainable parameter; e is the size of one of its elements. Null where the
// shapes of the parameters decide.
Value state_per_parameter(const OptimizerRow& row) {
  const bool by_program = row.created == StateCreated::kWithinStep && row.state.size() == 0;
  // GrokAdamW keeps its state on the host.
  if (by_program && row.work.kind != StepWork::Kind::kGrokAdamw) return Value();
  double as_parameter = 0, fixed = 0;
  for (const StateTensor& tensor : row.state) {
    if (tensor.of != Which::kAll && tensor.of != Which::kLarge) continue;
    const bool asked = row.when.arg == tensor.only_if && row.when.example != 0;
    if (!tensor.only_if.empty() && !asked) continue;
    const double share = elements_per_parameter(tensor.elements);
    switch (tensor.type) {
      case ElementType::kAsParameter: as_parameter += share; break;
      case ElementType::kUint8: fixed += share; break;
      case ElementType::kFloat32: fixed += 4 * share; break;
      case ElementType::kInt64: fixed += 8 * share; break;
    }
  }
  std::string out;
  if (as_parameter > 0) out = (as_parameter == 1 ? "" : with_separators(as_parameter) + " ") + "e";
  if (fixed > 0) out += (out.empty() ? "" : " + ") + with_separators(fixed);
  return text(out.empty() ? "0" : out);
}

Value optimizers() {
  std::vector<Value> rows;
  for (const OptimizerRow& row : kOptimizers) {
    Value args = Value::object();
    for (const OptimizerArg& arg : row.args) {
      if (row.when.test == OptimizerCondition::Test::kAlways || arg.name != row.when.arg) continue;
      const double example = row.when.example;
      switch (arg.kind) {
        case OptimizerArg::Kind::kFlag: args.add_flag(arg.name, example != 0); break;
        case OptimizerArg::Kind::kNumber: args.add(arg.name, number(example)); break;
        case OptimizerArg::Kind::kChoice:
          args.add(arg.name, text(arg.choices[static_cast<std::size_t>(example)]));
          break;
      }
    }
    Value entry = Value::object();
    entry.add("optim", text(row.optim));
    entry.add("optim_args", std::move(args));
    entry.add("what", text(row.what));
    entry.add("bytes_per_parameter", state_per_parameter(row));
    rows.push_back(std::move(entry));
  }
  return Value::of_list(std::move(rows));
}

Value choices(std::span<const Choice> table) {
  std::vector<Value> rows;
  for (const Choice& choice : table) {
    Value entry = Value::object();
    entry.add("id", text(choice.id));
    entry.add("what", text(choice.what));
    rows.push_back(std::move(entry));
  }
  return Value::of_list(std::move(rows));
}

Value ids(std::span<const Choice> table) {
  std::vector<Value> rows;
  for (const Choice& choice : table) rows.push_back(text(choice.id));
  return Value::of_list(std::move(rows));
}

Value letters() {
  std::vector<Value> rows;
  for (const LetterRow& letter : kLetters) {
    Value entry = Value::object();
    entry.add("symbol", text(letter.symbol));
    entry.add("mathml", text(letter.mathml));
    entry.add("latex", text(letter.latex));
    entry.add("meaning", text(letter.meaning));
    rows.push_back(std::move(entry));
  }
  return Value::of_list(std::move(rows));
}

Value parts() {
  std::vector<Value> rows;
  for (const PartRow& part : kParts) {
    Value entry = Value::object();
    entry.add("id", text(part.id));
    entry.add("name", text(part.name));
    entry.add("what", text(part.what));
    rows.push_back(std::move(entry));
  }
  return Value::of_list(std::move(rows));
}

// The normalised scenario of any preset, less what the preset decides.
Value defaults() {
  const auto scenario = read_scenario("{\"model\":\"" + preset_ids().front() + "\"}");
  Value all = scenario.ok() ? json::parse(scenario.value().normalised).value : Value::object();
  const auto decided = [](const json::Member& member) { return member.key == "model"; };
  all.members.erase(std::remove_if(all.members.begin(), all.members.end(), decided),
                    all.members.end());
  return all;
}

// What a missing key of `training` means, by trainer.
Value training_defaults() {
  Value out = Value::object();
  for (const Choice& trainer : kTrainers) {
    const auto scenario = read_scenario("{\"model\":\"" + preset_ids().front() +
                                        "\",\"trainer\":\"" + std::string(trainer.id) + "\"}");
    if (!scenario.ok()) continue;
    out.add(trainer.id, *json::parse(scenario.value().normalised).value.find("training"));
  }
  return out;
}

// What a missing key of `peft`, `quantization` and `allocator` means inside an object that is
// given. Which linears peft wraps of itself is the model type's affair: see linears().
Value defaults_within() {
  const auto scenario = read_scenario("{\"model\":\"" + preset_ids().front() +
                                      "\",\"peft\":{\"target_modules\":\"all-linear\"},"
                                      "\"quantization\":{\"load_in_4bit\":true},"
                                      "\"allocator\":{\"expandable_segments\":true}}");
  Value out = Value::object();
  if (!scenario.ok()) return out;
  const Value all = json::parse(scenario.value().normalised).value;
  for (const std::string_view key : {"peft", "quantization", "allocator"}) {
    Value& within = out.add(key, *all.find(key));
    for (json::Member& member : within.members) {
      if (member.key == "target_modules") member.value = Value();
      if (member.key == "load_in_4bit") member.value = Value::of_flag(false);
      if (member.key == "expandable_segments") member.value = Value::of_flag(false);
    }
  }
  return out;
}

// By strategy: the keys of `parallel` with their defaults, of eight ranks.
Value parallel_defaults() {
  Value out = Value::object();
  for (const Choice& strategy : kStrategies) {
    const bool hybrid = strategy.id == "hsdp";
    const auto scenario =
        read_scenario("{\"model\":\"" + preset_ids().front() + "\",\"parallel\":{\"strategy\":\"" +
                      std::string(strategy.id) + "\",\"world_size\":8" +
                      (hybrid ? ",\"dp_replicate_size\":2" : "") + "}}");
    if (!scenario.ok()) continue;
    const Value all = json::parse(scenario.value().normalised).value;
    Value parallel = *all.find("parallel");
    for (auto& member : parallel.members) {  // follows the model: a tied head cannot be divided
      if (member.key == "parallelize_embedding_and_head") member.value = Value();
    }
    out.add(strategy.id, std::move(parallel));
  }
  return out;
}

// By model type: the names of its linear layers, and those that peft adapts where nothing is said.
Value linears() {
  std::vector<Value> rows;
  for (const data::File& file : data::model_types()) {
    const Value type = json::parse(file.text).value;
    Value entry = Value::object();
    entry.add("model_type", text(file.name));
    for (const std::string_view key : {"linears", "lora_targets"}) {
      const Value* names = type.find(key);
      entry.add(key, names ? *names : Value::of_list({}));
    }
    const Value* embedding = type.find("embedding");
    entry.add("embedding", embedding ? *embedding : text("embed_tokens"));
    rows.push_back(std::move(entry));
  }
  return Value::of_list(std::move(rows));
}

Value limit(std::string_view path, double min, double max) {
  Value entry = Value::object();
  entry.add("path", text(path));
  entry.add("min", number(min));
  entry.add("max", number(max));
  return entry;
}

Value limits() {
  std::vector<Value> rows;
  rows.reserve(std::size(kLimits));
  for (const Limit& row : kLimits) rows.push_back(limit(row.path, row.min, row.max));
  std::vector<std::string> listed;
  for (const data::File& file : data::model_types()) {
    const Value type = json::parse(file.text).value;
    for (const json::Member& key : type.find("keys")->members) {
      const Value* min = key.value.find("min");
      const std::string path = "config." + key.key;
      const bool one = key.value.find("kind")->text == "integer";  // and no list of them
      if (!min || !one || std::find(listed.begin(), listed.end(), path) != listed.end()) continue;
      listed.push_back(path);
      rows.push_back(limit(path, min->number, key.value.find("max")->number));
    }
  }
  return Value::of_list(std::move(rows));
}

Value examples() {
  std::vector<Value> all;
  for (const data::File& file : data::examples()) all.push_back(json::parse(file.text).value);
  short_sort(all, [](const Value& a, const Value& b) {
    return a.find("number")->number < b.find("number")->number;
  });
  return Value::of_list(std::move(all));
}

}  // namespace

std::string catalog() {
  Value out = Value::object();
  out.add("version", text(LEDGER_VERSION));
  Value& versions = out.add("versions", Value::object());
  for (const SoftwareVersion& row : kVersions) versions.add(row.name, text(row.version));
  out.add("models", models());
  std::vector<Value> types;
  for (const data::File& file : data::model_types()) types.push_back(text(file.name));
  out.add("model_types", Value::of_list(std::move(types)));
  out.add("cards", cards());
  out.add("optimizers", optimizers());
  out.add("dtypes", ids(kDtypes));
  out.add("attn_implementations", choices(kAttentions));
  out.add("trainers", ids(kTrainers));
  out.add("systems", choices(kSystems));
  out.add("rl_methods", choices(kRlMethods));
  out.add("parallel_strategies", choices(kStrategies));
  out.add("engines", choices(kEngines));
  out.add("loss_types", choices(kLossTypes));
  out.add("plain_loss_types", choices(kPlainLossTypes));
  out.add("packing_strategies", choices(kPackingStrategies));
  std::vector<Value> liger;
  for (const std::string_view type : kLigerModelTypes) liger.push_back(text(type));
  out.add("liger_model_types", Value::of_list(std::move(liger)));
  out.add("letters", letters());
  out.add("parts", parts());
  out.add("defaults", defaults());
  out.add("training_defaults", training_defaults());
  out.add("defaults_within", defaults_within());
  out.add("parallel_defaults", parallel_defaults());
  out.add("linears", linears());
  out.add("limits", limits());
  out.add("examples", examples());
  return json::write(out);
}

}  // namespace ledger
