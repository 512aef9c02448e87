// A report as a table for people, every size in GiB and GB.
#pragma once

#include <string>
#include <string_view>

namespace ledger {

// Renders what estimate() answered: the peak, its parts and the phases, or one line per problem.
// Sizes are right-aligned.
std::string table(std::string_view report_json);

}  // namespace ledger
