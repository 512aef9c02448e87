// Turns rows that hold a `case` (standard input, one a line) into scenarios (standard output), for
// tools/accuracy.py.
#include <iostream>

#include "tests/cases.hpp"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto row = ledger::rows::json::parse(line);
    std::cout << ledger::rows::scenario_of(row.at("case")).dump() << '\n';
  }
}
