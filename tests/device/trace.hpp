// Reads recordings of PyTorch's own allocator (tests/data/traces/README.md).
#pragma once

#include <zlib.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ledger::trace {

enum Op : int {
  kAllocate = 0,       // size, stream
  kFree = 1,           // allocations made since, plus one
  kFreeRequested = 2,  // the same
  kFreeCompleted = 3,  // the same
  kEmptyCache = 4,
  kMark = 5,               // index in `marks`
  kOutOfMemory = 6,        // rounded size, stream, free bytes of the device
  kOutside = 7,            // change of the device's bytes that are not the allocator's
  kSegmentAllocated = 10,  // size, stream
  kSegmentFreed = 11,      // segment
  kPagesMapped = 12,       // offset, size, reservation * 256 + stream
  kPagesUnmapped = 13,     // the same
};

struct Event {
  int op = 0;
  std::uint64_t a = 0;  // operands in the order above; the change of kOutside is signed
  std::uint64_t b = 0;
  std::uint64_t c = 0;
};

struct Mark {
  std::string name;
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
};

struct Trace {
  std::string id;
  std::uint64_t device_bytes = 0;
  std::string conf;     // PYTORCH_ALLOC_CONF
  double fraction = 0;  // per-process memory fraction; 0 for none
  std::vector<Event> events;
  std::vector<Mark> marks;
  std::vector<std::string> messages;  // of the first OutOfMemoryErrors
  std::string placement;              // FNV-1a of every allocation's segment and offset
  std::uint64_t allocated_peak = 0, reserved_peak = 0, active_peak = 0;
  std::uint64_t reserved_peak_training = 0;  // since the first step; 0 where there is none
  std::uint64_t allocated_end = 0, reserved_end = 0, inactive_split_end = 0;
  std::int64_t segments = 0, retries = 0, ooms = 0;
};

inline std::string unzipped(const std::string& path) {
  std::string text;
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  std::string part(std::size_t{1} << 16, '\0');
  for (int n; (n = gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0;) {
    text.append(part, 0, static_cast<std::size_t>(n));
  }
  gzclose(file);
  return text;
}

// A trace without events where the file cannot be read.
inline Trace read_trace(const std::string& path) {
  Trace trace;
  const auto json = nlohmann::json::parse(unzipped(path), nullptr, false);
  if (!json.is_object()) return trace;
  const auto bytes = [&json](const char* key) { return json[key].get<std::uint64_t>(); };
  trace.id = json["id"].get<std::string>();
  trace.device_bytes = bytes("device_bytes");
  trace.conf = json.value("conf", "");
  trace.fraction = json["case"].value("fraction", 0.0);
  trace.placement = json["placement_fnv"].get<std::string>();
  trace.allocated_peak = bytes("allocated_peak");
  trace.reserved_peak = bytes("reserved_peak");
  trace.active_peak = bytes("active_peak");
  if (json["reserved_peak_training"].is_number()) {
    trace.reserved_peak_training = bytes("reserved_peak_training");
  }
  trace.allocated_end = bytes("allocated_end");
  trace.reserved_end = bytes("reserved_end");
  trace.inactive_split_end = bytes("inactive_split_end");
  trace.segments = json["segments"].get<std::int64_t>();
  trace.retries = json["retries"].get<std::int64_t>();
  trace.ooms = json["ooms"].get<std::int64_t>();
  for (const auto& mark : json["marks"]) {
    trace.marks.push_back(
        {mark[0].get<std::string>(), mark[1].get<std::uint64_t>(), mark[2].get<std::uint64_t>()});
  }
  if (json.contains("oom_messages") && json["oom_messages"].is_array()) {
    trace.messages = json["oom_messages"].get<std::vector<std::string>>();
  } else if (json["oom"].is_string()) {
    trace.messages.push_back(json["oom"].get<std::string>());
  }
  const auto& events = json["events"];
  const auto arity = [](int op) {
    if (op == kOutOfMemory || op == kPagesMapped || op == kPagesUnmapped) return 3;
    if (op == kAllocate || op == kSegmentAllocated) return 2;
    return op == kEmptyCache ? 0 : 1;
  };
  for (std::size_t i = 0; i < events.size();) {
    Event event;
    event.op = events[i++].get<int>();
    const int operands = arity(event.op);
    const auto operand = [&] {
      return static_cast<std::uint64_t>(events[i++].get<std::int64_t>());
    };
    if (operands > 0) event.a = operand();
    if (operands > 1) event.b = operand();
    if (operands > 2) event.c = operand();
    trace.events.push_back(event);
  }
  return trace;
}

}  // namespace ledger::trace
