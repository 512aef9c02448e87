// The catalogue: everything a scenario can choose from, with defaults, ranges and the legend.
#pragma once

#include <string>

namespace ledger {

// One line of JSON, the same for every call.
std::string catalog();

}  // namespace ledger
