// A record played through the caching allocator: what PyTorch would count at every event.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/device/allocator.hpp"
#include "core/tape.hpp"

namespace ledger::device {

enum class Phase : std::uint8_t {
  kGenerate,
  kLogProbabilities,
  kForward,
  kBackward,
  kStep,
  kEvaluate,
  kSave
};
constexpr std::array<const char*, 7> kPhaseNames = {
    "generate", "log_probabilities", "forward", "backward", "step", "evaluate", "save"};

// One phase of one step. Bytes are torch.cuda.memory_allocated() and its peak; events are indices
// into Record::events. With accumulation the peak is the largest of all micro-batches, the end the
// last one's.
struct PhaseFigures {
  int step = 0;
  Phase phase = Phase::kForward;
  std::uint64_t start_bytes = 0, peak_bytes = 0, end_bytes = 0;
  std::uint64_t reserved_bytes = 0;   // the largest in the phase
  std::uint64_t clip_peak_bytes = 0;  // of gradient clipping before a step; 0 without
  std::uint32_t first_event = 0, last_event = 0, peak_event = 0;
};

struct Replay {
  std::vector<std::uint64_t> allocated;    // after each event
  std::vector<std::uint64_t> reserved;     // after each event
  std::vector<std::uint64_t> block_bytes;  // by storage: what the allocator counts for it
  std::vector<PhaseFigures> phases;
  std::uint64_t weights_bytes = 0;  // allocated when the model is loaded
  std::int64_t segments = 0;        // at the end
  // After each micro-batch of step 1 and 2: equal numbers mean equal states of the allocator.
  std::array<std::vector<std::uint64_t>, 2> micro_batch_states;
  std::uint64_t reserved_peak = 0;   // since loading
  std::uint32_t reserved_event = 0;  // where it was first reached
  FreeSpace at_reserved_peak;
  // The phase with the largest peak of allocated bytes; the first of equals.
  std::size_t peak_phase = 0;
};

// On a device without an end. Where garbage_collection_threshold is among the options, it collects
// as on one of `device_bytes`; 0: never.
Replay replay(const Record& record, const AllocatorOptions& options = {}, double device_bytes = 0);

// Bytes as the allocator takes them. A size that no scenario can have asks for as good as nothing,
// rather than for more than there are addresses.
std::uint64_t requested(const StorageRecord& storage);

}  // namespace ledger::device
