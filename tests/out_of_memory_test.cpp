// Runs that went out of memory: the same allocation fails, with the same message, word for word.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/device/message.hpp"
#include "core/device/verdict.hpp"
#include "core/simulation.hpp"
#include "tests/device/trace.hpp"

namespace ledger {

TEST_CASE("a run that went out of memory fails where it did, with every word of the message") {
  std::istringstream lines(
      trace::unzipped(std::string(TEST_DATA_DIR) + "/messages/out_of_memory.jsonl.gz"));
  int runs = 0;
  for (std::string line; std::getline(lines, line); ++runs) {
    const auto row = nlohmann::json::parse(line);
    CAPTURE(row.at("id").get<std::string>());
    const auto scenario = read_scenario(row.at("scenario").dump());
    REQUIRE(scenario.ok());
    Workings workings;
    const Simulation simulation = simulate(scenario.value(), workings);
    const AllocatorOptions& options = scenario.value().allocator;
    const device::OnDevice run = device::replay_on_device(
        simulation.run.record, row.at("total_bytes"), row.at("outside_bytes"), options);
    REQUIRE(run.failure.has_value());
    CHECK(device::out_of_memory_message(run.failure->message, options.expandable_segments) ==
          row.at("message").get<std::string>());
  }
  CHECK(runs >= 6);
}

}  // namespace ledger
