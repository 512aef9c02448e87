// Looks up embedded files by name.
#include "core/data/data.hpp"

namespace ledger::data {

std::string_view find(std::span<const File> files, std::string_view name) {
  for (const File& file : files) {
    if (file.name == name) return file.text;
  }
  return {};
}

}  // namespace ledger::data
