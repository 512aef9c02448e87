// Looks for presets among the embedded files.
#include "core/presets.hpp"

#include <algorithm>

#include "core/data/data.hpp"
#include "core/nearest.hpp"

namespace ledger {
namespace {

std::string id_of(const data::File& file) {
  std::string id(file.name);
  if (const auto at = id.find("--"); at != id.npos) id.replace(at, 2, "/");
  return id;
}

std::string file_name(std::string_view id) {
  std::string name(id);
  if (const auto at = name.find('/'); at != name.npos) name.replace(at, 1, "--");
  return name;
}

std::string after_slash(std::string_view id) { return std::string(id.substr(id.find('/') + 1)); }

}  // namespace

std::vector<std::string> preset_ids() {
  std::vector<std::string> ids;
  for (const data::File& file : data::models()) ids.push_back(id_of(file));
  return ids;
}

json::Value read_preset(std::string_view id) {
  return json::parse(data::find(data::models(), file_name(id))).value;
}

PresetSearch find_preset(std::string_view given) {
  const std::vector<std::string> ids = preset_ids();
  for (const std::string& id : ids) {
    if (id == given) return {id, {}};
  }
  const std::string wanted = lower(json::shortened(given, 120));
  std::vector<std::string> meant;
  for (const std::string& id : ids) {
    if (lower(id) == wanted) return {id, {}};
    if (lower(after_slash(id)) == wanted) meant.push_back(id);
  }
  if (meant.size() == 1) return {meant.front(), {}};

  // Compare like with like: whole ids if an owner was given, else the parts after the slash.
  const bool whole = wanted.find('/') != wanted.npos;
  std::vector<std::string> parts;
  for (const std::string& id : ids) parts.push_back(whole ? id : after_slash(id));
  PresetSearch search{{}, meant};
  for (const std::string_view near : nearest(wanted, {parts.begin(), parts.end()}, 3)) {
    const auto at =
        static_cast<std::size_t>(std::find(parts.begin(), parts.end(), near) - parts.begin());
    if (search.near.size() < 3) search.near.push_back(ids[at]);
  }
  return search;
}

json::Value find_counted_preset(std::string_view given) {
  const std::string wanted = lower(json::shortened(given, 120));
  for (const data::File& file : data::counted()) {
    const json::Value family = json::parse(file.text).value;
    for (const json::Value& model : family.find("models")->list) {
      const std::string id = lower(model.find("id")->text);
      if (id != wanted && after_slash(id) != wanted) continue;
      json::Value config = json::Value::object();
      config.add("model_type", json::Value::of_text(file.name));
      for (const json::Member& member : model.find("config")->members) {
        config.add(member.key, member.value);
      }
      return config;
    }
  }
  return {};
}

}  // namespace ledger
