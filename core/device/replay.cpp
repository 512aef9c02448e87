// Plays the events of a record in order and notes the allocator's counters at each of them.
#include "core/device/replay.hpp"

#include <algorithm>
#include <cmath>

namespace ledger::device {
namespace {

// Opens and closes phases at the marks of the program.
struct Phases {
  std::vector<PhaseFigures> closed;
  PhaseFigures open;
  bool is_open = false;
  std::uint64_t begin_bytes = 0;
  bool first = false;  // the next phase is the first of its step
  std::uint64_t clip_peak = 0;
  bool clipping = false;

  PhaseFigures* of(int step, Phase phase) {
    for (PhaseFigures& p : closed) {
      if (p.step == step && p.phase == phase) return &p;
    }
    return nullptr;
  }

  void start(const Mark& mark, Phase phase, std::uint32_t event, std::uint64_t now,
             std::uint64_t reserved) {
    open = {};
    open.step = mark.step;
    open.phase = phase;
    open.start_bytes = first ? begin_bytes : now;
    first = false;
    open.peak_bytes = now;
    open.peak_event = open.first_event = event;
    open.reserved_bytes = reserved;
    open.clip_peak_bytes = phase == Phase::kStep ? clip_peak : 0;
    is_open = true;
  }

  void stop(std::uint32_t event, std::uint64_t now) {
    if (!is_open) return;
    is_open = false;
    open.end_bytes = now;
    open.last_event = event;
    PhaseFigures* before = of(open.step, open.phase);
    if (!before) {
      closed.push_back(open);
      return;
    }
    before->end_bytes = now;
    before->last_event = event;
    before->reserved_bytes = std::max(before->reserved_bytes, open.reserved_bytes);
    if (open.peak_bytes > before->peak_bytes) {
      before->peak_bytes = open.peak_bytes;
      before->peak_event = open.peak_event;
    }
  }

  void at_mark(const Mark& mark, std::uint32_t event, std::uint64_t now, std::uint64_t reserved) {
    stop(event, now);
    clipping = false;
    switch (mark.kind) {
      case Mark::Kind::kBegin:
        begin_bytes = now;
        first = true;
        clip_peak = 0;
        break;
      case Mark::Kind::kGenerate: start(mark, Phase::kGenerate, event, now, reserved); break;
      case Mark::Kind::kLogProbabilities:
        start(mark, Phase::kLogProbabilities, event, now, reserved);
        break;
      case Mark::Kind::kForward: start(mark, Phase::kForward, event, now, reserved); break;
      case Mark::Kind::kBackward: start(mark, Phase::kBackward, event, now, reserved); break;
      case Mark::Kind::kClip:
        clipping = true;
        clip_peak = now;
        break;
      case Mark::Kind::kStep: start(mark, Phase::kStep, event, now, reserved); break;
      case Mark::Kind::kEvaluate: start(mark, Phase::kEvaluate, event, now, reserved); break;
      case Mark::Kind::kSave: start(mark, Phase::kSave, event, now, reserved); break;
      case Mark::Kind::kLoaded:
      case Mark::Kind::kBackwardEnd:
      case Mark::Kind::kZeroGrad:
      case Mark::Kind::kEnd: break;
    }
  }

  void at_allocation(std::uint32_t event, std::uint64_t now, std::uint64_t reserved) {
    if (clipping) clip_peak = std::max(clip_peak, now);
    if (!is_open) return;
    open.reserved_bytes = std::max(open.reserved_bytes, reserved);
    if (now > open.peak_bytes) {
      open.peak_bytes = now;
      open.peak_event = event;
    }
  }
};

// Reserved bytes above which garbage is collected on a device of that size.
std::uint64_t collecting(const AllocatorOptions& options, double device_bytes) {
  if (options.garbage_collection_threshold <= 0 || !options.per_process_memory_fraction ||
      device_bytes <= 0) {
    return kUnlimited;
  }
  const double allowed = std::floor(*options.per_process_memory_fraction * device_bytes);
  return static_cast<std::uint64_t>(options.garbage_collection_threshold * allowed);
}

}  // namespace

std::uint64_t requested(const StorageRecord& storage) {
  constexpr double kMost = 9007199254740992;  // 2^53
  const double bytes = storage.bytes.value();
  return bytes > 0 && bytes <= kMost ? static_cast<std::uint64_t>(bytes) : 1;
}

Replay replay(const Record& record, const AllocatorOptions& options, double device_bytes) {
  Replay out;
  out.allocated.resize(record.events.size());
  out.reserved.resize(record.events.size());
  out.block_bytes.resize(record.storages.size());
  std::vector<Block> blocks(record.storages.size(), kNone);
  AllocatorOptions endless = options;
  endless.per_process_memory_fraction.reset();  // nothing fails here
  CachingAllocator allocator(kUnlimited, endless);
  allocator.set_collect_above(collecting(options, device_bytes));
  FreeSpace space;
  std::uint64_t highest = 0;
  std::uint32_t highest_event = 0;
  bool loaded = false;
  Phases phases;
  bool ended = false;
  bool accumulates = false;
  for (const Mark& mark : record.marks) accumulates = accumulates || mark.micro_batch > 0;
  std::uint32_t i = 0;
  for (; i < record.events.size(); ++i) {
    const Event& event = record.events[i];
    switch (event.kind) {
      case Event::Kind::kAllocate: {
        const StorageRecord& storage = record.storages[event.id];
        const Block block = allocator.allocate(requested(storage), storage.stream);
        blocks[event.id] = block;
        out.block_bytes[event.id] = allocator.block_bytes(block);
        phases.at_allocation(i, allocator.allocated(), allocator.reserved());
        if (loaded && allocator.reserved() > highest) {
          highest = allocator.reserved();
          highest_event = i;
          space = allocator.free_space();
        }
        break;
      }
      case Event::Kind::kFree: allocator.free(blocks[event.id]); break;
      case Event::Kind::kEmptyCache: allocator.empty_cache(); break;
      case Event::Kind::kMark: {
        const Mark& mark = record.marks[event.id];
        phases.at_mark(mark, i, allocator.allocated(), allocator.reserved());
        if (mark.kind == Mark::Kind::kLoaded) {
          out.weights_bytes = allocator.allocated();
          allocator.reset_peaks();
          loaded = true;
          highest = allocator.reserved();
          highest_event = i;
          space = allocator.free_space();
        }
        if (mark.kind == Mark::Kind::kBackwardEnd && accumulates) {
          out.micro_batch_states[mark.step == 1 ? 0 : 1].push_back(allocator.state_hash());
        }
        if (mark.kind == Mark::Kind::kEnd) {
          out.segments = allocator.live_segments();
          out.reserved_peak = allocator.reserved_peak();
          out.reserved_event = highest_event;
          out.at_reserved_peak = space;
          ended = mark.step > 2;
        }
        break;
      }
      case Event::Kind::kSave:
      case Event::Kind::kUnsave:
      case Event::Kind::kAccumulate: break;
    }
    if (ended) break;
    out.allocated[i] = allocator.allocated();
    out.reserved[i] = allocator.reserved();
  }
  out.allocated.resize(i);
  out.reserved.resize(i);
  out.phases = std::move(phases.closed);
  for (std::size_t p = 0; p < out.phases.size(); ++p) {
    if (out.phases[p].peak_bytes > out.phases[out.peak_phase].peak_bytes) out.peak_phase = p;
  }
  return out;
}

}  // namespace ledger::device
