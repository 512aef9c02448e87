// What a message says about the cause: arithmetic on its figures, by the rules of PyTorch's
// allocator, and nothing that its figures do not show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/explain/messages.hpp"

namespace ledger::message {

// The tensor that was asked for, as far as the printed figure tells.
struct Request {
  bool known = false;
  double low = 0, high = 0;  // bytes, both possible
  // A second stretch that prints the same figure; 0 where there is none.
  double other_low = 0, other_high = 0;
  bool identifies = false;  // narrow enough to tell a tensor by
  std::string why;          // a sentence
  bool holds(double bytes) const {
    return (bytes >= low && bytes <= high) ||
           (bytes >= other_low && bytes <= other_high && other_high > 0);
  }
};
Request request_of(const Message& message);

enum class Cause : std::uint8_t {
  kUnknown,
  kFragmentation,
  kOtherProcess,
  kLimit,
  kHostMemory,
  kProgram,
  kTooLarge,  // the request alone is larger than the device
  kCorruptSize,
  kOutsideAllocator,
  kNotAnError,
};
struct CauseRow {
  Cause cause;
  std::string_view id, what;
};
const CauseRow& row_of(Cause cause);

struct Note {
  std::string_view id;
  std::string sentence;
};

struct Diagnosis {
  Cause cause = Cause::kUnknown;
  std::string why;                      // a sentence
  std::vector<std::string> arithmetic;  // lines
  std::vector<Note> notes;              // traps that this message sets
  double outside = 0;     // bytes of the device that are not the allocator's, where figures tell
  double capacity = 0;    // bytes, 0 where not printed
  double allocated = -1;  // bytes, likewise negative
  double allocated_slack = 0;  // half of the interval in which it was printed
};
Diagnosis diagnose(const Message& message);

// "13.89 GiB", "290.56 MiB", "1,920 bytes".
std::string size_text(double bytes);

}  // namespace ledger::message
