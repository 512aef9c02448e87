// Makes one scenario of all that was read, and finds out what of it the estimate takes.
#pragma once

#include <string>
#include <vector>

#include "core/import/sheet.hpp"
#include "core/result.hpp"

namespace ledger::pasted {

struct Settled {
  Value scenario = Value::object();
  bool whole = false;  // it has a model, and the estimate takes it
  Problems problems;
  std::vector<std::string> near;  // presets that may be meant where the model is none
};

// `keep` has the lowest rank (the card that is chosen on the page), `with` the highest.
Settled settle(Sheets& sheets, const Value& keep, const Value& with);

}  // namespace ledger::pasted
