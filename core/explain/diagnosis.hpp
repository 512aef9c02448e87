// What a message says about the cause: arithmetic on its figures, by the rules of PyTorch's
// allocator, and nothing that its figures do not show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/explain/messages.hpp"
#include "core/explain/request.hpp"

namespace ledger::message {

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
// `text`: that the message stands in; null where there is none.
Diagnosis diagnose(const Message& message, const Squeezed* text);

}  // namespace ledger::message
