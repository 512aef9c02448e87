// The door through Embind: two functions from text to text, the same as the program's.
#include <emscripten/bind.h>

#include <string>

#include "core/catalog.hpp"
#include "core/report.hpp"

namespace {

std::string estimate(const std::string& scenario_json) { return ledger::estimate(scenario_json); }

}  // namespace

EMSCRIPTEN_BINDINGS(ledger) {
  emscripten::function("estimate", &estimate);
  emscripten::function("catalog", &ledger::catalog);
}
