// One guess at what was running: a scenario replayed as far as it can be, and the letters of the
// legend with their values, from which sizes of tensors are made.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/letters.hpp"
#include "core/json.hpp"
#include "core/simulation.hpp"

namespace ledger::message {

struct Case {
  explicit Case(const json::Value& scenario_json);
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  json::Value given;  // the scenario as it was given
  Result<Scenario> read;
  std::string model;  // as people call it
  Workings workings;
  const Scenario* scenario;  // null where it has problems
  std::optional<Simulation> simulation;
  std::array<Count, kLetters.size()> letters{};  // 0 where not known
  double parameters = 0, trainable = 0;          // 0 where not known
  int width = 2;                                 // bytes of a weight, as loaded
  bool adapters = false;                         // the model's own weights are frozen
  bool recognised = false;                       // named in the text only: a batch is not known
  bool batch_given = false;                      // both B and T were given, not taken by default

  Count letter(Letter letter) const { return letters[static_cast<std::size_t>(letter)]; }
  double value(Letter l) const { return letter(l).value(); }
  // Whether any size can be made.
  bool has_sizes() const { return value(Letter::d) > 0 || value(Letter::V) > 0; }
};

// From a scenario of docs/contract.md. What the core does not model (an encoder, a type that it
// does not know) has its letters all the same, as far as its config.json names them.
// Without `replay` the steps are not run.
std::unique_ptr<Case> read_case(const json::Value& scenario, bool replay);

// The message says for how many tokens.
void set_length(Case& c, double tokens);

// Presets that the text names, the longest names first; at most `most`.
std::vector<std::string> named_presets(std::string_view text, std::size_t most);

}  // namespace ledger::message
