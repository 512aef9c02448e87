// Reads how the frequencies of the rotary embedding are computed.
#include <utility>

#include "core/scenario_parts.hpp"

namespace ledger::reading {
namespace {

bool follows_length(std::string_view rope_type) {
  return rope_type == "dynamic" || rope_type == "longrope";
}

// How far positions may go before a type that follows the length computes new frequencies.
const Value* rotary_reach(const Value& config, const Value* overrides, const Value& rotary) {
  for (const std::string_view key :
       {"original_max_position_embeddings", "max_position_embeddings"}) {
    for (const Value* from : {&rotary, overrides, &config}) {
      const Value* reach = from ? from->find(key) : nullptr;
      if (reach && !reach->is_null()) return reach;
    }
  }
  return nullptr;
}

}  // namespace

void keep_rotary(const Value& config, const Value* overrides, bool pasted, ModelReading& reading,
                 Findings& findings) {
  for (const Value* from : {overrides, &config}) {
    for (const std::string_view key : {"rope_parameters", "rope_scaling"}) {
      const Value* rotary = from ? from->find(key) : nullptr;
      if (!rotary || !rotary->is(Kind::kObject)) continue;
      // Types whose layers rotate in two ways have an object for each.
      if (const Value* full = rotary->find("full_attention")) rotary = full;
      const Value* type = rotary->find("rope_type");
      if (!type) type = rotary->find("type");
      if (!type || !type->is(Kind::kText)) continue;
      reading.config.texts["rope_type"] = type->text;
      Value kept = Value::object();
      kept.add("rope_type", *type);
      if (follows_length(type->text)) {
        const std::string path =
            (from == overrides ? "config" : reading.path) + "." + std::string(key);
        const Value* known = reading.type.find("rope_types");
        bool modelled = false;
        for (const Value& one : known ? known->list : std::vector<Value>()) {
          modelled = modelled || one.text == type->text;
        }
        if (!modelled) {
          findings.add(path,
                       path + " is " + as_given(*rotary) + ": rotary type " + quoted(type->text) +
                           " computes new frequencies while it runs, which is not modelled "
                           "for this model type; default, linear, llama3 and yarn are.",
                       *rotary);
        }
        const Value* given = rotary_reach(config, overrides, *rotary);
        if (modelled && !given) {
          findings.add(path,
                       path + " is " + as_given(*rotary) +
                           ": give original_max_position_embeddings as well, the positions "
                           "up to which it keeps its frequencies.",
                       *rotary);
        }
        const auto reach =
            number(given, {path + ".original_max_position_embeddings", 1, 1e9}, findings);
        if (reach) {
          reading.config.numbers["rotary_reach"] = *reach;
          kept.add("original_max_position_embeddings", Value::of_number(*reach));
        }
      }
      if (pasted) {
        reading.model.add(key, std::move(kept));
      } else if (from == overrides) {
        reading.overrides.add(key, std::move(kept));
      }
      return;
    }
  }
}

}  // namespace ledger::reading
