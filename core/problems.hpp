// Problems with the input as JSON, the same behind every door: a list of {path, message, given,
// nearest}.
#pragma once

#include <string_view>

#include "core/json_writer.hpp"
#include "core/result.hpp"

namespace ledger {

// Adds to a list that is open. `before` stands in front of every path, where the input was a part
// of another.
void add_problems(json::Writer& w, const Problems& problems, std::string_view before = {});
// "problems": the whole list, as a key of an open object.
void write_problems(json::Writer& w, const Problems& problems);

}  // namespace ledger
