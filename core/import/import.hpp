// The door for settings of other programs: files and command lines in, a scenario and what every
// key became out.
#pragma once

#include <string>
#include <string_view>

namespace ledger {

// Takes {"files": [{"name", "text"} or {"name", "tree"}], "format", "keep", "with"} and gives the
// answer of docs/contract.md, both as JSON. A text is JSON or a command line; YAML comes as the
// tree that a YAML reader made of it, and the answer says where one is needed. Never throws, aborts
// or hangs.
std::string import_files(std::string_view request_json);

// The same as a table for people, from the JSON.
std::string import_table(std::string_view answer_json);

// The formats that are read, with every key and what it comes to, as JSON.
std::string import_formats();

}  // namespace ledger
