// The embedded data files: each folder below core/data is a table of {name, text}, sorted by name.
// To add to it, put a JSON file into the folder; the build embeds it.
#pragma once

#include <span>
#include <string_view>

namespace ledger::data {

struct File {
  std::string_view name;  // file name without ".json"
  std::string_view text;  // JSON, line breaks and indentation removed
};

std::span<const File> models();  // one per preset; its name is the preset's id, "/" written "--"
std::span<const File> model_types();  // one per transformers model_type
std::span<const File> counted();      // one per model_type of which only parameters are counted
std::span<const File> cards();        // several cards a file
std::span<const File> examples();     // one per worked example

// The text of the file of that name, or empty.
std::string_view find(std::span<const File> files, std::string_view name);

}  // namespace ledger::data
