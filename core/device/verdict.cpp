// The run is played again on a device of the given size, once with the smallest and once with the
// largest context that was seen: between the two answers lies what is not known.
#include "core/device/verdict.hpp"

#include <algorithm>
#include <cmath>

namespace ledger::device {

OnDevice replay_on_device(const Record& record, double total, double outside,
                          const AllocatorOptions& options) {
  OnDevice out;
  std::vector<Block> blocks(record.storages.size(), kNone);
  CachingAllocator allocator(static_cast<std::uint64_t>(total), options);
  allocator.set_outside(static_cast<std::uint64_t>(outside < total ? outside : total));
  for (std::uint32_t i = 0; i < record.events.size(); ++i) {
    const Event& event = record.events[i];
    switch (event.kind) {
      case Event::Kind::kAllocate:
        blocks[event.id] = allocator.allocate(requested(record.storages[event.id]),
                                              record.storages[event.id].stream);
        if (blocks[event.id] == kNone) {
          out.failure = Failure{i, *allocator.out_of_memory()};
          out.retries = allocator.retries();
          return out;
        }
        break;
      case Event::Kind::kFree: allocator.free(blocks[event.id]); break;
      case Event::Kind::kEmptyCache: allocator.empty_cache(); break;
      case Event::Kind::kMark:
      case Event::Kind::kSave:
      case Event::Kind::kUnsave:
      case Event::Kind::kAccumulate: break;
    }
  }
  out.retries = allocator.retries();
  return out;
}

namespace {

// The message tells of this process alone: others' bytes are not its own.
void leave_out(OnDevice& run, double others) {
  if (!run.failure) return;
  std::uint64_t& in_use = run.failure->message.in_use;
  in_use -= std::min(in_use, static_cast<std::uint64_t>(others));
}

}  // namespace

Verdict judge(const Scenario& scenario, const Record& record, const Replay& replay) {
  const Device& device = scenario.device;
  const double total = *device.total_bytes;
  const Range process = sum(process_parts(scenario)), system = system_part(device).bytes;
  const ReservedRange reserved = reserved_range(scenario, replay);
  const auto replayed = static_cast<double>(replay.reserved_peak);
  Verdict verdict;
  verdict.headroom = std::floor(device.headroom * total);
  verdict.outside = {process.low + system.low + device.other_bytes,
                     process.high + system.high + device.other_bytes};
  verdict.needed = {reserved.on_card.low + verdict.outside.low,
                    reserved.on_card.high + verdict.outside.high};
  // A memory fraction limits what is reserved, whatever is free.
  const auto& fraction = scenario.allocator.per_process_memory_fraction;
  const double allowed = fraction ? std::floor(*fraction * total) : total;
  verdict.spare = {std::min(total - verdict.needed.high, allowed - reserved.on_card.high),
                   std::min(total - verdict.needed.low, allowed - reserved.on_card.low)};
  if (verdict.spare.low >= 0) {
    const bool room = verdict.spare.low >= verdict.headroom;
    verdict.fit = room ? Fit::kYes : Fit::kClose;
    verdict.reason = room ? Reason::kRoom : Reason::kHeadroom;
    return verdict;
  }

  OnDevice with_most = replay_on_device(record, total, verdict.outside.high, scenario.allocator);
  leave_out(with_most, verdict.outside.high - process.high);
  if (!with_most.failure) {
    verdict.fit = Fit::kClose;
    verdict.reason = with_most.retries > 0 ? Reason::kCache
                     : reserved.varies     ? Reason::kLengths
                                           : Reason::kReserved;
    return verdict;
  }
  OnDevice with_least = replay_on_device(record, total, verdict.outside.low, scenario.allocator);
  leave_out(with_least, verdict.outside.low - process.low);
  verdict.fit = Fit::kClose;
  verdict.reason = Reason::kOutside;
  verdict.failure = with_most.failure;
  if (!with_least.failure) return verdict;
  verdict.failure = with_least.failure;
  const auto allocated = static_cast<double>(replay.phases[replay.peak_phase].peak_bytes);
  if (allocated > std::min(total - verdict.outside.low, allowed)) {
    verdict.fit = Fit::kNo;
    verdict.reason = Reason::kTensors;
    return verdict;
  }
  // On a card the allocator may do with less than in the replay, as far as that was seen.
  const double less = std::max(0.0, replayed - reserved.on_card.low);
  const bool fails = replay_on_device(record, total + less, verdict.outside.low, scenario.allocator)
                         .failure.has_value();
  if (fails) verdict.fit = Fit::kNo;
  verdict.reason = fails ? Reason::kPieces : Reason::kReserved;
  return verdict;
}

std::string verdict_sentence(const Verdict& v) {
  switch (v.reason) {
    case Reason::kRoom:
      return "Everything that the allocator reserves fits beside the largest context that was "
             "seen, and the headroom stays free.";
    case Reason::kHeadroom:
      return "It fits beside the largest context that was seen, with less to spare than the "
             "headroom.";
    case Reason::kReserved:
      return "It is so close that the order in which a driver hands out addresses decides: on "
             "real cards the allocator reserved somewhat less or more than in this replay.";
    case Reason::kLengths:
      return "It fits as replayed, but with lengths that vary the allocator reserves more, until "
             "the device is full and it gives cached memory back; each time costs time.";
    case Reason::kCache:
      return "It fits because the allocator gives cached memory back when the device is full; "
             "each time costs time.";
    case Reason::kOutside:
      return "It fits beside the smallest context that was seen, not beside the largest.";
    case Reason::kPieces:
      return "An allocation fails even beside the smallest context that was seen: there would be "
             "room for the tensors, but what is free lies in pieces.";
    case Reason::kTensors:
      return "An allocation fails even beside the smallest context that was seen.";
  }
  return {};
}

}  // namespace ledger::device
