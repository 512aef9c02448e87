// Which tensor has just the size that was asked for: those that a replay asks for, those that the
// letters make, and those that would fit if the number of tokens were another.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/explain/case.hpp"
#include "core/explain/diagnosis.hpp"
#include "core/explain/hints.hpp"

namespace ledger::message {

// How a candidate was found, best first.
enum class Found : std::uint8_t {
  kPrinted,  // its shape is in the message
  kReplay,   // the scenario, replayed, asks for it
  kLetters,  // a tensor of the model has the size, though no replayed step asks for it
  kSolved,   // it has the size with another number of tokens than the scenario's
};
constexpr std::array<std::string_view, 4> kFoundNames = {"printed", "replay", "letters", "solved"};

struct Candidate {
  Found found = Found::kReplay;
  Kind kind = Kind::kOther;
  std::size_t of_case = 0;
  std::string what, where;
  const Expression* working = nullptr;
  double bytes = 0;
  double count = 0;  // how often it is asked for
  Moment moment = Moment::kAny;
  int step = 0;
  std::string why;
  // What it is ranked by, in this order.
  int hinted = 0;  // how much of what the text says of the tensor agrees: name, kind, moment
  bool fails_there = false;  // a replay on a card of this size ends at this request
  int distance = 9;  // class of how far the allocated figure lies from the message's; 9: not known
  double preference = 0;                   // of equals the smaller one
  double tokens_low = 0, tokens_high = 0;  // of solved ones
};

// Ranked, at most `most`. The order: printed shapes; then those that the text hints at; then the
// one at which the replay on a card of this size fails; then those asked for when as much was
// allocated as the message says; then replayed ones before letters before solved ones; then the
// more usual.
std::vector<Candidate> candidates(const Message& message, const Request& request,
                                  const Diagnosis& diagnosis, const Hints& hints,
                                  const std::vector<std::unique_ptr<Case>>& cases,
                                  std::size_t most);

}  // namespace ledger::message
