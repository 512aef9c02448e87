// Public runs that went out of memory: where the verdict says that such a run fits, the docs say
// why.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/report.hpp"
#include "tests/device/trace.hpp"

namespace ledger {

TEST_CASE("no public run that went out of memory is said to fit without a reason in the docs") {
  using nlohmann::json;
  std::ifstream file(std::string(TEST_DATA_DIR) + "/../../docs/rules/allocator.md");
  const std::string docs((std::istreambuf_iterator<char>(file)), {});
  std::istringstream lines(trace::unzipped(std::string(TEST_DATA_DIR) + "/oom/rows.jsonl.gz"));
  int judged = 0, stopped = 0;
  for (std::string line; std::getline(lines, line);) {
    const json row = json::parse(line);
    json scenario = row.value("scenario", json());
    if (!scenario.is_object() || !row.contains("numbers")) continue;
    for (const json& number : row.at("numbers")) {
      if (number.at(1) == "total") scenario["device"]["total_bytes"] = number.at(2);
    }
    if (!scenario.contains("device")) continue;
    const json report = json::parse(estimate(scenario.dump()));
    if (!report.at("problems").empty()) continue;  // not modelled
    ++judged;
    const bool fits = report.at("verdict").at("fits") == "yes";
    stopped += fits ? 0 : 1;
    const std::string ref = row.at("ref");
    const std::string thread = ref.substr(0, ref.find(' '));
    CHECK_MESSAGE((!fits || docs.find("| " + thread + " |") != docs.npos), ref);
  }
  CHECK(judged >= 15);
  CHECK(stopped >= 12);
}

}  // namespace ledger
