// The door through Embind: four functions from text to text, the same as the program's.
#include <emscripten/bind.h>

#include <string>

#include "core/catalog.hpp"
#include "core/explain/compare.hpp"
#include "core/explain/explain.hpp"
#include "core/report.hpp"

namespace {

std::string estimate(const std::string& scenario_json) { return ledger::estimate(scenario_json); }
// `scenario_json` is empty, one scenario or a list of them.
std::string explain(const std::string& text, const std::string& scenario_json) {
  return ledger::explain(text, scenario_json);
}
std::string compare(const std::string& text) { return ledger::compare(text); }

}  // namespace

EMSCRIPTEN_BINDINGS(ledger) {
  emscripten::function("estimate", &estimate);
  emscripten::function("explain", &explain);
  emscripten::function("compare", &compare);
  emscripten::function("catalog", &ledger::catalog);
}
