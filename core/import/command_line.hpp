// Command lines of training scripts, as they are pasted: launchers, options, overrides, variables,
// continued lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"

namespace ledger::pasted {

// A part of a command line with the settings that it gives.
struct Piece {
  std::string format;   // id; empty where the keys have to tell
  std::string program;  // the script's or module's name
  json::Value tree = json::Value::object();
};

struct CommandLine {
  std::vector<Piece> pieces;
  std::vector<std::string> files;  // that it names beside its options
  std::size_t commands = 0;        // that the text holds; the first is read
};

// Whether a text reads like a command line, or a script that holds one.
bool is_command_line(std::string_view text);
CommandLine read_command_line(std::string_view text);

}  // namespace ledger::pasted
