// The door for messages: a pasted text in, its explanation out.
#pragma once

#include <string>
#include <string_view>

namespace ledger {

// Any text that holds an out-of-memory message, and nothing, a scenario, or a list of scenarios
// (guesses) as JSON, gives an explanation as JSON; docs/contract.md. One line of text, within the
// second. Never throws, aborts or hangs.
std::string explain(std::string_view text, std::string_view scenario_json);

// The same as a table for people, from the JSON.
std::string explanation_table(std::string_view explanation_json);

}  // namespace ledger
