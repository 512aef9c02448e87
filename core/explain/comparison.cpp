// Runs the scenario, and splits the differences of the tiers.
#include "core/explain/comparison.hpp"

#include "core/device/reserved.hpp"
#include "core/simulation.hpp"

namespace ledger::message {

Estimated estimate_of(const Scenario& s) {
  Workings workings;
  const Simulation simulation = simulate(s, workings);
  const device::Replay& replay = simulation.replay;
  const device::PhaseFigures& peak = replay.phases[replay.peak_phase];
  Estimated out;
  out.allocated = static_cast<double>(peak.peak_bytes);
  out.reserved = static_cast<double>(replay.reserved_peak);
  out.reserved_on_card = device::reserved_range(s, replay).on_card;
  // What the blocks of the peak take beyond the sizes that were asked for.
  std::vector<std::uint8_t> live(simulation.run.record.storages.size());
  for (std::uint32_t i = 0; i <= peak.peak_event; ++i) {
    const Event& e = simulation.run.record.events[i];
    if (e.kind == Event::Kind::kAllocate) live[e.id] = 1;
    if (e.kind == Event::Kind::kFree) live[e.id] = 0;
  }
  for (std::size_t id = 0; id < live.size(); ++id) {
    if (live[id] != 0)
      out.rounded_up += static_cast<double>(replay.block_bytes[id]) -
                        simulation.run.record.storages[id].bytes.value();
  }
  return out;
}

std::vector<Explanation> explain_allocated(const Comparison& c, Range difference) {
  std::vector<Explanation> out;
  out.push_back({"allocator_rounding",
                 "The allocator's blocks take this beyond the tensors' own sizes; estimate and "
                 "measurement both count it.",
                 {c.estimate.rounded_up, c.estimate.rounded_up}});
  if (difference.low > 0)
    out.push_back({"more_alive",
                   "More is alive than the scenario says: longer samples, outputs or losses that "
                   "are kept, a second model, evaluation, other versions of the libraries.",
                   difference});
  if (difference.high < 0)
    out.push_back({"less_alive",
                   "Less is alive than the scenario says: shorter samples, a kernel or a loss that "
                   "keeps less, a step that did not run to its end.",
                   difference});
  return out;
}

std::vector<Explanation> explain_reserved(const Comparison& c) {
  std::vector<Explanation> out;
  const auto& allocated = c.of(Tier::kAllocated);
  const auto& reserved = c.of(Tier::kReserved);
  Range rest = {reserved->range.low - c.estimate.reserved,
                reserved->range.high - c.estimate.reserved};
  if (allocated) {
    const Range by = {allocated->range.low - c.estimate.allocated,
                      allocated->range.high - c.estimate.allocated};
    out.push_back({"allocated", "What the tier below differs by.", by});
    rest = {rest.low - by.high, rest.high - by.low};
    const Range beyond = {reserved->range.low - allocated->range.high,
                          reserved->range.high - allocated->range.low};
    out.push_back({"held_beyond",
                   "Measured: held by the allocator at its most, beyond the most that was "
                   "allocated.",
                   beyond});
  }
  out.push_back({"fragmentation",
                 rest.low > 0
                     ? "The rest is fragmentation: lengths that vary take new segments, "
                       "and a real driver's addresses differ. Expandable segments join them."
                 : rest.high < 0 ? "Less is held than in the replay: the cache was released, by "
                                   "empty_cache or because the device was full, or segments expand."
                                 : "Nothing is left to explain.",
                 rest});
  return out;
}

std::vector<Explanation> explain_device(const Comparison& c, Range measured) {
  std::vector<Explanation> out;
  const Range context = c.context();
  const auto& reserved = c.of(Tier::kReserved);
  const Range below = reserved ? reserved->range : c.estimated(Tier::kReserved);
  const Range beyond = {measured.low - below.high, measured.high - below.low};
  out.push_back({"beyond_reserved",
                 reserved ? "Beyond the measured segments." : "Beyond the estimated segments.",
                 beyond});
  out.push_back({"context",
                 "A CUDA context with kernels and library handles takes this much, as measured on "
                 "cards; NCCL takes more.",
                 context});
  if (beyond.low > context.high)
    out.push_back({"other_processes",
                   "More than a context: other processes, or libraries that allocate outside of "
                   "PyTorch.",
                   {beyond.low - context.high, beyond.high - context.low}});
  if (beyond.high < context.low)
    out.push_back({"another_moment",
                   "Less than a context: the two were not read at the same moment, or not on the "
                   "same device.",
                   beyond});
  return out;
}

}  // namespace ledger::message
