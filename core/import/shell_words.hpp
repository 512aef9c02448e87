// A shell's way to part a text: lines that go on, quotes, variables, words.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ledger::pasted {

using Variables = std::vector<std::pair<std::string, std::string>>;  // the later one holds

bool is_name(std::string_view text);  // of a variable
std::vector<std::string> lines_of(std::string_view text);
std::vector<std::string> words_of(std::string_view line, const Variables& variables);

}  // namespace ledger::pasted
