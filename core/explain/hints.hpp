// What the words around a message say of the tensor: the functions of its traceback, a parameter's
// name, a moment that somebody tells.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/explain/messages.hpp"

namespace ledger::message {

enum class Kind : std::uint8_t {
  kOther,
  kWeight,
  kWeightCopy,
  kCheckpointCopy,
  kGradient,
  kOptimizerState,
  kOptimizerTemporary,
  kLogits,
  kScores,
  kMask,
  kMlp,
  kHidden,
  kCache,
  kBuffer,
};
struct KindRow {
  Kind kind;
  std::string_view id, what;
};
const KindRow& row_of(Kind kind);

enum class Moment : std::uint8_t { kAny, kLoad, kForward, kBackward, kStep, kSave, kGenerate };
constexpr std::array<std::string_view, 7> kMomentNames = {"any",  "load", "forward", "backward",
                                                          "step", "save", "generate"};

struct Hints {
  Moment moment = Moment::kAny;
  Kind kind = Kind::kOther;
  std::string name;        // of a parameter
  std::string_view words;  // in which it was found
  bool any() const { return moment != Moment::kAny || kind != Kind::kOther || !name.empty(); }
};

// From the message and what stands before it.
Hints hints_of(const Squeezed& s, const Message& message, std::size_t earliest);

}  // namespace ledger::message
