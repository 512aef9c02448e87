// A value, or every problem with the input that should have given it.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ledger {

// One thing wrong with the input. `message` is a whole sentence for people.
struct Problem {
  std::string path;  // dotted path of the key, e.g. "training.optim"; empty for the text as a whole
  std::string message;    // says what was given, what is accepted, and the nearest valid spelling
  std::string given;      // what was given, as written; may be empty
  std::string nearest;    // nearest valid spelling; empty where nothing is near
  double parameters = 0;  // of a model whose parameters can be counted, but no more
};

using Problems = std::vector<Problem>;

// Holds a T, or at least one Problem. Never both.
template <class T>
class Result {
 public:
  Result(T value) : held_(std::move(value)) {}
  Result(Problems problems) : held_(std::move(problems)) {}
  bool ok() const { return held_.index() == 0; }
  const T& value() const { return *std::get_if<0>(&held_); }
  const Problems& problems() const { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, Problems> held_;
};

}  // namespace ledger
