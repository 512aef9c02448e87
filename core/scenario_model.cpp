// Reads the model of a scenario: a preset or a pasted config.json, with the keys that override it,
// checked against core/data/model_types/<model_type>.json.
#include <algorithm>
#include <utility>

#include "core/counts/counts.hpp"
#include "core/data/data.hpp"
#include "core/nearest.hpp"
#include "core/presets.hpp"
#include "core/scenario_parts.hpp"

namespace ledger::reading {
namespace {

// The preset that is meant; an unread value, and a problem, if none can be estimated.
Value read_preset_named(const std::string& given, const Value* overrides, Findings& findings) {
  const auto [id, near] = find_preset(given);
  if (!id.empty()) return read_preset(id);
  if (const Value config = find_counted_preset(given); config.is(Kind::kObject)) {
    count_only(*counts::find_counted(config.find("model_type")->text), config, overrides, findings);
    return {};
  }
  findings.add("model",
               "model is " + quoted(given) + ", which is not among the presets." +
                   (near.empty() ? "" : " Nearest: " + listed({near.begin(), near.end()}) + ".") +
                   " Any other model of a known type can be given as its config.json, an object.",
               quoted(given), near.empty() ? "" : near.front());
  return {};
}

// The file of the config's model_type, or an unread value if there is none.
Value read_type(const Value& config, const std::string& path, Findings& findings) {
  std::vector<std::string_view> types;
  for (const data::File& file : data::model_types()) types.push_back(file.name);
  const Value* type = config.find("model_type");
  if (type && type->is(Kind::kText)) {
    const std::string_view text = data::find(data::model_types(), type->text);
    if (!text.empty()) return json::parse(text).value;
  }
  std::string near;
  std::string given = "missing";
  if (type) {
    given = as_given(*type);
    const auto found = nearest(type->text, types, 1);
    if (!found.empty()) near = found.front();
  } else if (const Value* names = config.find("architectures")) {
    for (const std::string_view known : types) {
      if (!names->list.empty() &&
          lower(names->list.front().text) == std::string(known) + "forcausallm") {
        near = known;
      }
    }
  }
  const bool parts = config.find("text_config") != nullptr;
  findings.add(path + ".model_type",
               path + ".model_type is " + given + "; the types that can be estimated are " +
                   listed(types, "and") + "." + (near.empty() ? "" : " Nearest: " + near + ".") +
                   (parts ? " This config.json describes several parts; its text_config may be one "
                            "of these types."
                          : ""),
               type ? given : "", near);
  return {};
}

// A list of whole numbers, each within the range.
bool numbers_fit(const Value& spec, const Value& value, const std::string& path,
                 Findings& findings) {
  if (!value.is(Kind::kList)) {
    findings.add(path, path + " is " + as_given(value) + "; it must be a list of numbers.", value);
    return false;
  }
  const Limit limit{path, spec.find("min")->number, spec.find("max")->number};
  for (const Value& item : value.list) {
    if (!number(&item, limit, findings)) return false;
  }
  return true;
}

// The value of one key: its kind and range hold. Null stands for a null that is allowed.
bool fits(const Value& spec, const Value& value, const std::string& path, Findings& findings) {
  const std::string& kind = spec.find("kind")->text;
  if (value.is_null()) {
    if (spec.find("nullable")->flag) return true;
    findings.add(path,
                 path +
                     " is null, which transformers refuses for this model type; leave the "
                     "key out for its default.",
                 value);
    return false;
  }
  const Value* one_of = spec.find("one_of");
  if (kind == "integer") {
    const Limit limit{path, spec.find("min")->number, spec.find("max")->number};
    return number(&value, limit, findings).has_value();
  }
  if (kind == "number") {
    const Limit limit{path, spec.find("min")->number, spec.find("max")->number, false};
    return number(&value, limit, findings).has_value();
  }
  if (kind == "flag") return flag(&value, path, findings).has_value();
  if (kind == "text") {
    std::vector<std::string_view> accepted;
    for (const Value& item : one_of->list) accepted.push_back(item.text);
    return choice(&value, path, accepted, findings).has_value();
  }
  if (!one_of) return numbers_fit(spec, value, path, findings);
  std::vector<std::string> accepted;
  for (const Value& item : one_of->list) accepted.push_back(json::write(item));
  bool right = value.is(Kind::kList);
  for (const Value& item : value.list) {
    right =
        right && std::find(accepted.begin(), accepted.end(), json::write(item)) != accepted.end();
  }
  if (!right) {
    findings.add(path,
                 path + " is " + as_given(value) + "; it must be a list with one of " +
                     listed({accepted.begin(), accepted.end()}) + " for each layer.",
                 value);
  }
  return right;
}

void keep(std::string_view key, const Value& value, ModelConfig& config) {
  const std::string name(key);
  switch (value.kind) {
    case Kind::kNumber: config.numbers[name] = value.number; return;
    case Kind::kFlag: config.flags[name] = value.flag; return;
    case Kind::kText: config.texts[name] = value.text; return;
    case Kind::kList: {
      std::vector<std::string>& list = config.lists[name];
      for (const Value& item : value.list) {
        list.push_back(item.is(Kind::kText) ? item.text : json::write(item));
      }
      return;
    }
    case Kind::kNull:
    case Kind::kObject: return;
  }
}

}  // namespace

ModelReading read_model(const Value& scenario, Findings& findings) {
  ModelReading reading;
  const Value* given = scenario.find("model");
  const Value* overrides = object(scenario.find("config"), "config", findings);
  if (!given || given->is_null()) {
    findings.add(
        "model",
        "model is missing; it must be a preset's id, for example \"Qwen/Qwen3-0.6B\", or a "
        "config.json as an object.");
    return reading;
  }
  const bool pasted = given->is(Kind::kObject);
  if (!pasted && !given->is(Kind::kText)) {
    findings.add("model",
                 "model is " + as_given(*given) +
                     "; it must be a preset's id as text, or a config.json as an object.",
                 *given);
    return reading;
  }
  Value preset;
  const Value* config = given;
  if (!pasted) {
    preset = read_preset_named(given->text, overrides, findings);
    config = preset.find("config");
    if (!config) return reading;
    reading.config.id = preset.find("id")->text;
    reading.config.source = preset.find("source")->text;
    reading.model = Value::of_text(reading.config.id);
  } else {
    reading.config.source = "a pasted config.json";
    reading.model = Value::object();
  }
  reading.overrides = Value::object();

  if (const Value* said = config->find("model_type")) {
    if (const counts::CountedType* counted = counts::find_counted(said->text)) {
      count_only(*counted, *config, overrides, findings);
      return reading;
    }
  }
  const Value* whole = config;
  const TextPart part = text_part(*whole);
  if (part.of) {
    if (pasted) check_whole(*whole, findings);
    config = &part.config;
    reading.path = "model.text_config";
  }
  const Value type = read_type(*config, reading.path, findings);
  const Value* keys = type.find("keys");
  if (!keys) return reading;
  reading.config.model_type = type.find("model_type")->text;
  reading.type = type;
  keep_rotary(*config, overrides, pasted, reading, findings);
  if (pasted) reading.model.add_text("model_type", reading.config.model_type);

  if (pasted) {
    const Value* quantization = config->find("quantization_config");
    if (quantization && quantization->is(Kind::kObject)) reading.quantization = quantization;
  }
  if (pasted) check_other_keys(*config, reading.path, *keys, true, findings);
  if (overrides) check_other_keys(*overrides, "config", *keys, false, findings);
  bool all = true;
  for (const json::Member& member : keys->members) {
    const Value* value = overrides ? overrides->find(member.key) : nullptr;
    const std::string path = value ? "config." : reading.path + ".";
    if (value) reading.overridden.push_back(member.key);
    if (value && !pasted) reading.overrides.add(member.key, *value);
    if (!value) value = config->find(member.key);
    const bool is_given = value != nullptr;
    if (is_given) {
      all = fits(member.value, *value, path + member.key, findings) && all;
    } else {
      value = member.value.find("default");
      if (value->is_null() && !member.value.find("nullable")->flag &&
          !member.value.find("null_is")) {
        findings.add(path + member.key,
                     path + member.key + " is missing; transformers has no default for it.");
        all = false;
      }
    }
    if (pasted && (is_given || !value->is_null())) reading.model.add(member.key, *value);
    keep(member.key, *value, reading.config);
    // The name that most types have for it, under which programs and checks look for it.
    if (const Value* name = member.value.find("is")) keep(name->text, *value, reading.config);
  }
  if (!all) return reading;
  reading = complete_model(*keys, std::move(reading), findings);
  if (part.of && reading.read) leave_out_towers(*part.of, *whole, pasted, reading, findings);
  return reading;
}

}  // namespace ledger::reading
