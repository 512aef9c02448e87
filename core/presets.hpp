// The presets: published models of core/data/models, found by what a person would call them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"

namespace ledger {

// Every preset's id, sorted.
std::vector<std::string> preset_ids();

// The preset's file as it stands; null if there is none of exactly this id.
json::Value read_preset(std::string_view id);

struct PresetSearch {
  std::string id;                 // empty if none or several are meant
  std::vector<std::string> near;  // then up to three ids that may be
};

// The preset meant by `given`: its id, its id in any case, or the part after the slash.
PresetSearch find_preset(std::string_view given);

// The configuration of a published model whose parameters can be counted, but no more; an unread
// value if there is none of that id.
json::Value find_counted_preset(std::string_view given);

}  // namespace ledger
