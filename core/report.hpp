// The door: text in, text out, and the only writer of output.
#pragma once

#include <string>
#include <string_view>

namespace ledger {

// A scenario as JSON gives a report as JSON, or {"problems": [...]} with everything that is wrong
// with it. One line of text. Never throws, aborts or hangs. The contract: docs/contract.md.
std::string estimate(std::string_view scenario_json);

}  // namespace ledger
