// What was read of all files, and the answer that is written of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/import/settle.hpp"

namespace ledger::pasted {

// What one file turned out to be.
struct Recognised {
  std::string file;
  std::string_view format, name, versions;
  std::string_view sureness;  // "certain", "likely", "said"
};

struct Reading {
  Sheets sheets;
  std::vector<Recognised> formats;
  Problems problems;
  std::vector<std::string> yaml;  // files that a YAML reader has to read first
};

// Settles what was read and writes the answer of docs/contract.md.
std::string answer(Reading& reading, const Value& keep, const Value& with);
std::string format_list();

}  // namespace ledger::pasted
