// The run is played again on a device of the given size, once with the smallest and once with the
// largest context that was seen: between the two answers lies what is not known.
#include "core/device/verdict.hpp"

#include <cmath>

namespace ledger::device {

Context cuda_context() {
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  return {{std::floor(0.3 * kGib), std::floor(1.5 * kGib)},
          "measured on cards from compute capability 7.5 to 10.3: 0.25 to 0.7 GiB of CUDA context, "
          "0.1 to 0.7 GiB of kernels and library handles loaded when first used"};
}

OnDevice replay_on_device(const Record& record, double total, double outside) {
  OnDevice out;
  std::vector<Block> blocks(record.storages.size(), kNone);
  CachingAllocator allocator(static_cast<std::uint64_t>(total));
  allocator.set_outside(static_cast<std::uint64_t>(outside < total ? outside : total));
  for (std::uint32_t i = 0; i < record.events.size(); ++i) {
    const Event& event = record.events[i];
    switch (event.kind) {
      case Event::Kind::kAllocate:
        blocks[event.id] =
            allocator.allocate(static_cast<std::uint64_t>(record.storages[event.id].bytes.value()));
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

Verdict judge(const Record& record, const Replay& replay, double total, double other) {
  const Range context = cuda_context().bytes;
  const auto reserved = static_cast<double>(replay.reserved_peak);
  Verdict verdict;
  verdict.needed = {reserved + context.low + other, reserved + context.high + other};
  verdict.spare = {total - verdict.needed.high, total - verdict.needed.low};
  if (verdict.spare.low >= 0) return verdict;

  const OnDevice with_most = replay_on_device(record, total, context.high + other);
  if (!with_most.failure) {
    verdict.fit = Fit::kClose;
    verdict.releases_cache = with_most.retries > 0;
    return verdict;
  }
  const OnDevice with_least = replay_on_device(record, total, context.low + other);
  verdict.fit = with_least.failure ? Fit::kNo : Fit::kClose;
  verdict.failure = with_least.failure ? with_least.failure : with_most.failure;
  return verdict;
}

}  // namespace ledger::device
