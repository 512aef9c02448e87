// Times bench/scenarios.json natively and prints one JSON object a line: {"name", "events",
// "door_ms", "program_ms", "tape_ms", "replay_ms", "set_ms", "problems"}. door: estimate(), text to
// text. program: the run on the tape and the allocator's replay of it; tape and replay: each of
// them alone. set: the same allocations through an allocator of std::set, as PyTorch's own is
// written. Each the least of its runs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/allocator_replay.hpp"
#include "bench/set_allocator.hpp"
#include "core/report.hpp"
#include "core/simulation.hpp"

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Milliseconds of the fastest of many calls: other work on the machine can only make a call slower.
// `run` returns a number, so that nothing is optimised away.
template <class Run>
double least_ms(const Run& run) {
  double least = 1e300;
  double sum = 0;
  const auto end = Clock::now() + std::chrono::seconds(2);
  for (int i = 0; i < 5 || (i < 500 && Clock::now() < end); ++i) {
    const auto began = Clock::now();
    sum += run();
    const std::chrono::duration<double, std::milli> took = Clock::now() - began;
    least = std::min(least, took.count());
  }
  return sum < 0 ? 0 : least;
}

std::vector<ledger::bench::Request> requests_of(const ledger::Record& record) {
  using Kind = ledger::bench::Request::Kind;
  std::vector<ledger::bench::Request> requests;
  for (const ledger::Event& event : record.events) {
    switch (event.kind) {
      case ledger::Event::Kind::kAllocate: {
        const double bytes = record.storages[event.id].bytes.value();
        requests.push_back({Kind::kAllocate, 0, event.id, static_cast<std::uint64_t>(bytes)});
        break;
      }
      case ledger::Event::Kind::kFree: requests.push_back({Kind::kFree, 0, event.id, 0}); break;
      case ledger::Event::Kind::kEmptyCache: requests.push_back({Kind::kEmptyCache}); break;
      default: break;
    }
  }
  return requests;
}

json time_scenario(const json& entry) {
  const std::string text = entry["scenario"].dump();
  json line = {{"name", entry["name"]}};
  const auto read = ledger::read_scenario(text);
  if (!read.ok()) {
    line["problems"] = read.problems().size();
    return line;
  }
  line["door_ms"] = least_ms([&] { return static_cast<double>(ledger::estimate(text).size()); });
  line["program_ms"] = least_ms([&] {
    ledger::Workings workings;
    return static_cast<double>(ledger::simulate(read.value(), workings).replay.allocated.size());
  });
  ledger::Workings workings;
  const auto simulation = ledger::simulate(read.value(), workings);
  const ledger::Record& record = simulation.run.record;
  line["tape_ms"] = least_ms([&] {
    ledger::Workings again;
    const auto run = ledger::training::run(read.value(), again, simulation.micro_batches);
    return static_cast<double>(run.record.events.size());
  });
  line["replay_ms"] = least_ms(
      [&] { return static_cast<double>(ledger::device::replay(record).allocated.size()); });
  const auto requests = requests_of(record);
  using Plain = ledger::bench::SetAllocator;
  line["set_ms"] = least_ms([&] {
    return static_cast<double>(ledger::bench::replay<Plain, Plain::Block*>(
        requests, record.storages.size(), ~std::uint64_t{0}));
  });
  line["events"] = requests.size();
  return line;
}

}  // namespace

int main(int count, char** values) {
  if (count != 2) {
    std::fprintf(stderr, "usage: estimate_bench bench/scenarios.json\n");
    return 2;
  }
  std::ifstream file(values[1]);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const json entries = json::parse(text, nullptr, false);
  if (!entries.is_array()) return 2;
  for (const json& entry : entries) {
    std::printf("%s\n", time_scenario(entry).dump().c_str());
    std::fflush(stdout);
  }
}
