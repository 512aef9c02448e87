// Finds the preset that a model's name in settings means.
#include "core/import/model_names.hpp"

#include <algorithm>

#include "core/json.hpp"
#include "core/nearest.hpp"
#include "core/presets.hpp"

namespace ledger::pasted {
namespace {

void remove_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part)) {
    text.erase(at, part.size());
  }
}

// What versions of one model share: tuning changes no shape.
std::string core_of(std::string_view name) {
  std::string out = lower(name.substr(name.rfind('/') + 1));
  for (const std::string_view part :
       {"-unsloth-bnb-4bit", "-bnb-4bit", "-instruct", "-chat", "-base", "-hf"})
    remove_all(out, part);
  if (out.starts_with("meta-")) out = out.substr(5);
  for (const std::string_view end : {"-it", "-pt"}) {
    if (out.ends_with(end)) out.resize(out.size() - end.size());
  }
  return out;
}

}  // namespace

Meant meant_model(std::string_view given) {
  Meant meant;
  std::string name = json::shortened(given, 160);
  while (!name.empty() && name.back() == '/') name.pop_back();
  const PresetSearch search = find_preset(name);
  meant.near = search.near;
  if (!search.id.empty()) {
    meant.id = search.id;
    if (search.id != name) meant.why = "the preset of that name";
    return meant;
  }
  meant.packed = lower(name).find("bnb-4bit") != std::string::npos;
  const std::string_view last = std::string_view(name).substr(name.rfind('/') + 1);
  const PresetSearch by_name = find_preset(last);
  if (!by_name.id.empty()) {
    meant.id = by_name.id;
    meant.why =
        "the preset of the same name under its first owner; another copy has the same shapes";
    return meant;
  }
  const std::string wanted = core_of(name);
  if (wanted.size() > 2) {
    for (const std::string& id : preset_ids()) {
      if (core_of(id) != wanted) continue;
      meant.id = id;
      meant.why =
          "the preset of the same model; tuned and packed versions of it have the same shapes";
      return meant;
    }
  }
  for (const std::string& id : by_name.near) {
    if (meant.near.size() < 3 &&
        std::find(meant.near.begin(), meant.near.end(), id) == meant.near.end())
      meant.near.push_back(id);
  }
  return meant;
}

}  // namespace ledger::pasted
