// The rest of the door: messages, measurements and settings of other programs. Larger than what a
// first estimate needs, hence a module of its own, which holds everything.
#include <emscripten/bind.h>

#include <string>

#include "core/explain/compare.hpp"
#include "core/explain/explain.hpp"
#include "core/import/import.hpp"
#include "wasm/bindings.cpp"  // registers the door's first two functions

namespace {

// `scenario_json` is empty, one scenario or a list of them.
std::string explain(const std::string& text, const std::string& scenario_json) {
  return ledger::explain(text, scenario_json);
}
std::string compare(const std::string& text) { return ledger::compare(text); }
std::string import_files(const std::string& request_json) {
  return ledger::import_files(request_json);
}

}  // namespace

EMSCRIPTEN_BINDINGS(full) {
  emscripten::function("explain", &explain);
  emscripten::function("compare", &compare);
  emscripten::function("import_files", &import_files);
}
