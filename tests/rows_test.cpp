// The core against PyTorch's own allocator: every figure of every measured row.
#include "tests/rows.hpp"

#include <doctest/doctest.h>

namespace ledger {
namespace {

// Rows of architectures that have no program yet may be refused, so many at most.
void check_rows(const std::string& name, std::size_t refused = 0) {
  for (const rows::json& row : rows::read(name)) {
    const std::string id = row.at("id");
    const Result<Scenario> scenario = read_scenario(row.at("scenario").dump());
    CAPTURE(id);
    if (!scenario.ok()) {
      const Problem& problem = scenario.problems().front();
      const bool unknown = problem.path == "model" || problem.path == "model.model_type";
      if (unknown && refused > 0) {
        --refused;
      } else {
        FAIL_CHECK(problem.message);
      }
      continue;
    }
    const std::string differences = rows::differences(scenario.value(), row.at("measured"));
    CHECK(differences == "");
  }
}

}  // namespace

TEST_CASE("every measured row on compute capability 8.0 is equal in every figure") {
  check_rows("steps.jsonl.gz");
}
TEST_CASE("every measured row on other devices is equal in every figure") {
  check_rows("devices.jsonl.gz");
}
TEST_CASE("every measured row of an architecture is equal in every figure") {
  check_rows("families.jsonl.gz");
}
TEST_CASE("every measured row of a way to fine-tune is equal in every figure") {
  check_rows("methods.jsonl.gz");
}
TEST_CASE("every measured row of weights that come packed is equal in every figure") {
  check_rows("stored.jsonl.gz");
}
TEST_CASE("every measured row of an optimizer on the host is equal in every figure") {
  check_rows("offload.jsonl.gz");
}
TEST_CASE("every measured row of torchtune's loss in chunks is equal in every figure") {
  check_rows("chunked.jsonl.gz");
}
TEST_CASE("every row that was chosen to be unlike the others is equal in every figure") {
  check_rows("more.jsonl.gz");
}
TEST_CASE("every row that was drawn at random is equal in every figure") {
  check_rows("random.jsonl.gz");
}
TEST_CASE("every row that other calculators are compared on is equal in every figure") {
  check_rows("peers.jsonl.gz");
}

TEST_CASE(
    "every row of experts on older devices and of longer rotations is equal in every figure") {
  check_rows("corners.jsonl.gz");
}

TEST_CASE("every measured row with options of the allocator is equal in every figure") {
  check_rows("allocator.jsonl.gz");
}

}  // namespace ledger
