// Times the allocator and the std::set one on recorded traces: allocator_bench TRACE.json.gz ...
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "bench/allocator_replay.hpp"
#include "bench/set_allocator.hpp"
#include "core/device/allocator.hpp"
#include "tests/device/trace.hpp"

namespace {

using ledger::bench::Request;

struct Work {
  std::vector<Request> requests;
  std::size_t allocations = 0;
};

// On a device without an end nothing fails, so failed requests are left out.
Work work_of(const ledger::trace::Trace& trace) {
  Work work;
  for (const auto& event : trace.events) {
    const auto freed = static_cast<std::uint32_t>(work.allocations - event.a);
    switch (event.op) {
      case ledger::trace::kAllocate:
        work.requests.push_back({Request::Kind::kAllocate, static_cast<std::uint8_t>(event.b),
                                 static_cast<std::uint32_t>(work.allocations++), event.a});
        break;
      case ledger::trace::kFree:
      case ledger::trace::kFreeRequested:
        work.requests.push_back({Request::Kind::kFree, 0, freed, 0});
        break;
      case ledger::trace::kEmptyCache:
        work.requests.push_back({Request::Kind::kEmptyCache, 0, 0, 0});
        break;
      default: break;
    }
  }
  return work;
}

// Processor time, as wall time doubles where other programs want the same core.
template <class Run>
double nanoseconds(const Run& run) {
  const std::clock_t start = std::clock();
  run();
  return static_cast<double>(std::clock() - start) * (1e9 / CLOCKS_PER_SEC);
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  using Ours = ledger::device::CachingAllocator;
  using Plain = ledger::bench::SetAllocator;
  constexpr int kRounds = 31;
  std::printf("%-44s %8s %9s %9s %9s %6s\n", "trace", "events", "set ms", "set ns", "ours ns",
              "ratio");
  for (int i = 1; i < argc; ++i) {
    const ledger::trace::Trace trace = ledger::trace::read_trace(argv[i]);
    const Work work = work_of(trace);
    if (work.requests.empty()) {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 1;
    }
    std::uint64_t ours = 0, plain = 0;
    std::vector<double> our_times, plain_times;
    for (int round = 0; round < kRounds; ++round) {
      our_times.push_back(nanoseconds([&] {
        ours = ledger::bench::replay<Ours, ledger::device::Block>(work.requests, work.allocations,
                                                                  ledger::device::kUnlimited);
      }));
      plain_times.push_back(nanoseconds([&] {
        plain = ledger::bench::replay<Plain, Plain::Block*>(work.requests, work.allocations,
                                                            ledger::device::kUnlimited);
      }));
    }
    if (ours != plain) {
      std::fprintf(stderr, "%s: the allocators differ\n", trace.id.c_str());
      return 1;
    }
    const auto events = static_cast<double>(work.requests.size());
    std::printf("%-44s %8.0f %9.3f %9.1f %9.1f %6.3f\n", trace.id.c_str(), events,
                median(plain_times) * 1e-6, median(plain_times) / events,
                median(our_times) / events, median(our_times) / median(plain_times));
  }
  return 0;
}
