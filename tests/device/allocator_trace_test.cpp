// Recordings of PyTorch's own allocator, replayed: every cudaMalloc and cudaFree, the place of
// every allocation, every counter and every number of every OutOfMemoryError must come out equal.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "core/device/allocator.hpp"
#include "core/device/message.hpp"
#include "core/scenario_reader.hpp"
#include "tests/device/trace.hpp"

namespace ledger::device {
namespace {

AllocatorOptions options_of(const trace::Trace& trace) {
  reading::Findings findings;
  const auto conf = json::Value::of_text(trace.conf);
  AllocatorOptions options = reading::read_allocator(&conf, findings);
  CHECK(findings.empty());
  if (trace.fraction > 0) options.per_process_memory_fraction = trace.fraction;
  return options;
}

class Replay {
 public:
  Replay(const trace::Trace& trace, const AllocatorOptions& options)
      : trace_(trace),
        expandable_(options.expandable_segments),
        allocator_(trace.device_bytes, options) {
    allocator_.log_segment_events(true);
    for (const trace::Event& event : trace.events) {
      step(event);
      if (!wrong_.empty()) return;
      ++at_;
    }
    compare_segments();
  }

  // What differed first, and where; empty where all is equal.
  const std::string& wrong() const { return wrong_; }
  const CachingAllocator& allocator() const { return allocator_; }
  std::uint64_t active_peak() const { return active_peak_; }
  std::uint64_t allocated_peak() const {
    return std::max(loading_allocated_, allocator_.allocated_peak());
  }
  std::uint64_t reserved_peak() const {
    return std::max(loading_reserved_, allocator_.reserved_peak());
  }
  std::size_t messages() const { return messages_; }
  std::string placement() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(fnv_));
    return text;
  }

  // Bytes of free blocks whose segment is in use, as PyTorch counts them: not in expandable ones.
  std::uint64_t inactive_split() const {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < allocator_.segments().size(); ++i) {
      const auto stretches = allocator_.stretches(static_cast<std::int32_t>(i));
      if (stretches.size() < 2 || allocator_.segments()[i].page != 0) continue;
      for (const Stretch& stretch : stretches) {
        if (stretch.state == BlockState::kFree) bytes += stretch.bytes;
      }
    }
    return bytes;
  }

 private:
  void step(const trace::Event& event) {
    const std::size_t freed = blocks_.size() - event.a;
    switch (event.op) {
      case trace::kAllocate: allocate(event); break;
      case trace::kFree:
        allocator_.free(blocks_[freed]);
        compare_segments();
        break;
      case trace::kFreeRequested:
        waits_.resize(blocks_.size());
        waits_[freed] = allocator_.free_requested(blocks_[freed]);
        break;
      case trace::kFreeCompleted: allocator_.free_completed(waits_[freed]); break;
      case trace::kEmptyCache: allocator_.empty_cache(); break;
      case trace::kMark: mark(trace_.marks[event.a]); break;
      case trace::kOutOfMemory: fail(event); break;
      case trace::kOutside: allocator_.set_outside(outside_ += event.a); break;
      case trace::kSegmentAllocated:
        expected_.push_back({true, made_++, event.a, static_cast<std::int32_t>(event.b)});
        break;
      case trace::kSegmentFreed:
        expected_.push_back({false, static_cast<std::int32_t>(event.a), 0, 0});
        break;
      case trace::kPagesMapped:
      case trace::kPagesUnmapped:
        expected_.push_back({event.op == trace::kPagesMapped,
                             static_cast<std::int32_t>(event.c / 256), event.b,
                             static_cast<std::int32_t>(event.c % 256), true, event.a});
        break;
      default: note("an event that is not known");
    }
  }

  void allocate(const trace::Event& event) {
    const Block block = allocator_.allocate(event.a, static_cast<int>(event.b));
    compare_segments();
    if (block == kNone) return note("an OutOfMemoryError that did not happen");
    blocks_.push_back(block);
    active_peak_ = std::max(active_peak_, allocator_.active());
    hash(static_cast<std::uint64_t>(allocator_.segment_of(block)));
    hash(allocator_.offset_of(block));
  }

  void fail(const trace::Event& event) {
    const Block block = allocator_.allocate(event.a, static_cast<int>(event.b));
    compare_segments();
    if (block != kNone) return note("an OutOfMemoryError that was not foreseen");
    if (allocator_.device_free() != event.c) note("the device's free bytes");
    if (messages_ == trace_.messages.size()) return;  // only the first are recorded
    const std::string said = out_of_memory_message(*allocator_.out_of_memory(), expandable_);
    if (trace_.messages[messages_++] != said) note("the message: " + said);
  }

  void mark(const trace::Mark& mark) {
    if (allocator_.allocated() != mark.allocated) note("allocated at mark " + mark.name);
    if (allocator_.reserved() != mark.reserved) note("reserved at mark " + mark.name);
    if (mark.name != "step 0") return;
    loading_allocated_ = allocator_.allocated_peak();
    loading_reserved_ = allocator_.reserved_peak();
    allocator_.reset_peaks();
  }

  void compare_segments() {
    const std::vector<SegmentEvent> events = allocator_.take_segment_events();
    const bool equal = std::equal(events.begin(), events.end(), expected_.begin(), expected_.end(),
                                  [](const SegmentEvent& a, const SegmentEvent& b) {
                                    if (a.allocated != b.allocated || a.segment != b.segment)
                                      return false;
                                    if (a.pages != b.pages || a.offset != b.offset) return false;
                                    if (!a.allocated && !a.pages)
                                      return true;  // the recording has no more
                                    return a.bytes == b.bytes && a.stream == b.stream;
                                  });
    if (!equal) note("the segments made and freed");
    expected_.clear();
  }

  void hash(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte, value >>= 8) {
      fnv_ = (fnv_ ^ (value & 255)) * 0x100000001b3u;
    }
  }

  void note(const std::string& what) {
    if (wrong_.empty()) wrong_ = "event " + std::to_string(at_) + ": " + what;
  }

  const trace::Trace& trace_;
  bool expandable_;
  CachingAllocator allocator_;
  std::vector<Block> blocks_;
  std::vector<Wait> waits_;
  std::vector<SegmentEvent> expected_;
  std::string wrong_;
  std::uint64_t fnv_ = 0xcbf29ce484222325u, outside_ = 0, active_peak_ = 0;
  std::uint64_t loading_allocated_ = 0, loading_reserved_ = 0;
  std::size_t at_ = 0, messages_ = 0;
  std::int32_t made_ = 0;
};

void check(const trace::Trace& trace, const AllocatorOptions& options) {
  const Replay replay(trace, options);
  const CachingAllocator& allocator = replay.allocator();
  CHECK(replay.wrong() == "");
  CHECK(replay.placement() == trace.placement);
  CHECK(replay.allocated_peak() == trace.allocated_peak);
  CHECK(replay.reserved_peak() == trace.reserved_peak);
  if (trace.reserved_peak_training > 0) {
    CHECK(allocator.reserved_peak() == trace.reserved_peak_training);
  }
  CHECK(replay.active_peak() == trace.active_peak);
  CHECK(allocator.allocated() == trace.allocated_end);
  CHECK(allocator.reserved() == trace.reserved_end);
  CHECK(replay.inactive_split() == trace.inactive_split_end);
  CHECK(allocator.live_segments() == trace.segments);
  CHECK(allocator.retries() == trace.retries);
  CHECK(allocator.ooms() == trace.ooms);
  CHECK(replay.messages() == trace.messages.size());
}

TEST_CASE("every recording of PyTorch's allocator is reproduced to the byte") {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(TEST_DATA_DIR "/traces")) {
    if (file.path().extension() == ".gz") paths.push_back(file.path().string());
  }
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() == 33);
  for (const std::string& path : paths) {
    CAPTURE(path);
    const trace::Trace trace = trace::read_trace(path);
    REQUIRE(!trace.events.empty());
    AllocatorOptions options = options_of(trace);
    check(trace, options);
    if (options != AllocatorOptions()) continue;
    // The code for options answers the same where what is asked for has no effect.
    options.max_non_split_rounding = 64 * AllocatorOptions::kMiB;
    check(trace, options);
  }
}

}  // namespace
}  // namespace ledger::device
