// Measured memory beside the estimate, tier by tier.
#pragma once

#include <string>
#include <string_view>

namespace ledger {

// {"scenario": {...}, "measured": {...}} as JSON gives the comparison of docs/contract.md as JSON.
// One line of text. Never throws, aborts or hangs.
std::string compare(std::string_view text);

}  // namespace ledger
