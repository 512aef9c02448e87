// Turns rows that hold a `case` (standard input, one a line) into scenarios (standard output), for
// tools/accuracy.py.
#include <iostream>

#include "tests/cases.hpp"
#include "tests/parallel_cases.hpp"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto row = ledger::rows::json::parse(line);
    const auto& settings = row.at("case");
    // Of evaluation and saving: tests/moments_rows_test.cpp knows them, their peak is not the
    // run's.
    // Generation likewise: tests/serving_rows_test.cpp.
    if (settings.contains("kind") || settings.contains("prompt")) return 1;
    const auto scenario = settings.contains("parallel") ? ledger::rows::parallel_scenario(settings)
                                                        : ledger::rows::scenario_of(settings);
    std::cout << scenario.dump() << '\n';
  }
}
