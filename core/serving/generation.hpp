// transformers' generate() as a program of its own: the model, a batch of prompts, their
// completions.
#pragma once

#include "core/device/replay.hpp"
#include "core/scenario.hpp"

namespace ledger::serving {

struct GenerationSize {
  double batch = 1, prompt = 1, new_tokens = 1;
};

// Bytes as the allocator counts them, and those of the cache when the last token is there.
struct Generation {
  std::uint64_t weights = 0, prefill_peak = 0, decode_peak = 0, end = 0, reserved = 0;
  double cache = 0;
  bool shortened = false;  // some passes are left out: of one token, or of a chunk of the prompt

  std::uint64_t peak() const { return prefill_peak > decode_peak ? prefill_peak : decode_peak; }
};

// `quickly`: only the first and the last passes of one token are replayed.
Generation generation(const Scenario& scenario, const GenerationSize& size, bool quickly);

// What of a card generation leaves: the largest numbers that fit. Where the process takes what its
// range says at most and segments stay as they are, and where it takes the least and nothing is
// lost to segments.
struct Largest {
  double surely = 0, at_best = 0;
};
// Sequences at once, of the scenario's length.
Largest most_sequences(const Scenario& scenario, double usable_bytes);
// Tokens of a sequence, its completion included, in the scenario's batch.
Largest longest_context(const Scenario& scenario, double usable_bytes);

}  // namespace ledger::serving
