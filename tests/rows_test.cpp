// The core against PyTorch's own allocator: every figure of every measured row.
#include "tests/rows.hpp"

#include <doctest/doctest.h>

namespace ledger {
namespace {

void check_rows(const std::string& name, std::size_t at_least) {
  std::size_t equal = 0;
  for (const rows::json& row : rows::read(name)) {
    const std::string id = row.at("id");
    const Result<Scenario> scenario = read_scenario(row.at("scenario").dump());
    CAPTURE(id);
    if (!scenario.ok()) {
      FAIL_CHECK(scenario.problems().front().message);
      continue;
    }
    const std::string differences = rows::differences(scenario.value(), row.at("measured"));
    CHECK(differences == "");
    equal += differences.empty();
  }
  CHECK(equal >= at_least);
}

}  // namespace

TEST_CASE("every measured row on compute capability 8.0 is equal in every figure") {
  check_rows("steps.jsonl.gz", 1);
}
TEST_CASE("every measured row on other devices is equal in every figure") {
  check_rows("devices.jsonl.gz", 1);
}
TEST_CASE("every measured row of an architecture is equal in every figure") {
  check_rows("families.jsonl.gz", 1);
}
TEST_CASE("every row that was chosen to be unlike the others is equal in every figure") {
  check_rows("more.jsonl.gz", 1);
}

}  // namespace ledger
