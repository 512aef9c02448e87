// Shapes by letters: tensors that every model of this kind has, whatever its framework. Beside the
// exact replay they answer for models, trainers and moments that are not replayed.
#pragma once

#include <string_view>
#include <vector>

#include "core/explain/case.hpp"
#include "core/explain/hints.hpp"

namespace ledger::message {

struct ShapeBytes {
  Kind kind = Kind::kOther;
  Moment moment = Moment::kAny;
  const char* what = "";
  const char* where = "";
  const char* names = "";  // under which its parameter is known, each between blanks
  Bytes bytes;
  Bytes per_token;    // where it is so many times the number of tokens; else 0
  bool usual = true;  // false: asked for in special places only
};

// Of everything whose letters are known.
std::vector<ShapeBytes> shapes_of(Case& c);

}  // namespace ledger::message
