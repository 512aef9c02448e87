// Reads a config.json of several parts, of which the one for text is trained, and those of models
// that are counted only.
#include "core/scenario_parts.hpp"

#include <utility>

namespace ledger::reading {

void count_only(const counts::CountedType& type, const Value& config, const Value* overrides,
                Findings& findings) {
  const std::size_t before = findings.size();
  Value all = overrides ? *overrides : Value::object();  // the first of a key is the one found
  for (const json::Member& member : config.members) all.add(member.key, member.value);
  counts::Sizes sizes(&all, "model", findings);
  const counts::Count count = type.count(sizes);
  if (findings.size() > before) return;
  if (!(count.parameters <= kMaxTotalBytes)) {
    findings.add("model", "model is too large: its parameters cannot be counted exactly.");
    return;
  }
  findings.add_counted("model",
                       "model is of type " + std::string(type.model_type) + ", " +
                           std::string(type.what) + ". As " + std::string(count.as) + " it has " +
                           grouped(count.parameters) +
                           " parameters. Its training step is not modelled: " +
                           (type.in_transformers ? "only decoders trained on the next token are."
                                                 : "its code is not part of transformers."),
                       count.parameters);
}

TextPart text_part(const Value& config) {
  const Value* type = config.find("model_type");
  const Value* text = config.find("text_config");
  TextPart part{type ? counts::find_composite(type->text) : nullptr, Value::object()};
  if (!part.of || !text || !text->is(Kind::kObject)) return {};
  const Value* said = text->find("model_type");
  std::string name(said && said->is(Kind::kText) ? std::string_view(said->text)
                                                 : part.of->text_type);
  if (name == part.of->text_type && !part.of->same_as.empty()) name = part.of->same_as;
  part.config.add("model_type", Value::of_text(name));
  for (const json::Member& member : text->members) {
    if (member.key != "model_type") part.config.add(member.key, member.value);
  }
  const Value* tied = config.find("tie_word_embeddings");
  if (tied && !text->find("tie_word_embeddings")) part.config.add("tie_word_embeddings", *tied);
  return part;
}

void check_whole(const Value& config, Findings& findings) {
  Value rest = Value::object();
  for (const json::Member& member : config.members) {
    const bool other = member.key == "architectures" || member.key == "tie_word_embeddings" ||
                       member.key == "text_config" || member.key == "vision_config";
    if (!other) rest.add(member.key, member.value);
  }
  check_other_keys(rest, "model", Value::object(), true, findings);
}

void leave_out_towers(const counts::Composite& of, const Value& config, bool pasted,
                      ModelReading& reading, Findings& findings) {
  counts::Sizes whole(&config, "model", findings);
  counts::Sizes vision(object(config.find("vision_config"), "model.vision_config", findings),
                       "model.vision_config", findings);
  counts::Sizes text(config.find("text_config"), "model.text_config", findings);
  const double tower = of.tower(whole, vision, reading.config);
  const double more = counts::prediction_layers(reading.config, text("mtp_num_hidden_layers", 0));
  std::vector<std::string>& notes = reading.config.notes;
  notes.push_back("The text part of the " + std::string(of.model_type) +
                  " is trained alone. Its tower for images and what joins it to the text part, " +
                  grouped(tower) + " parameters, are left out. " + std::string(of.loading));
  if (of.same_as == reading.config.model_type) {
    notes.push_back("The text part is estimated as " + std::string(of.same_as) +
                    ", which has the same weights and layers.");
  }
  if (more > 0) {
    notes.push_back("Its layers that predict further tokens, " + grouped(more) +
                    " parameters, are left out: transformers does not load them.");
  }
  if (!pasted) return;
  Value parts = Value::object();
  parts.add("model_type", Value::of_text(of.model_type));
  for (const json::Member& member : whole.read().members) parts.add(member.key, member.value);
  Value& inner = parts.add("text_config", std::move(reading.model));
  for (const json::Member& member : text.read().members) inner.add(member.key, member.value);
  parts.add("vision_config", vision.read());
  reading.model = std::move(parts);
}

}  // namespace ledger::reading
