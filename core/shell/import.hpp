// `ledger import`: settings of other programs as a scenario, from a shell.
#pragma once

#include <string_view>
#include <vector>

namespace ledger::shell {

// The exit status: 0 a scenario that can be estimated, 2 problems.
int import_command(const std::vector<std::string_view>& arguments);

}  // namespace ledger::shell
