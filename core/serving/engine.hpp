// How vLLM and SGLang share out a card: a fraction of its memory for weights, the activations of a
// profile run, graphs and, with what is left, the cache.
#pragma once

#include "core/device/outside.hpp"
#include "core/models/decoder.hpp"
#include "core/scenario.hpp"
#include "core/serving/cache_plan.hpp"

namespace ledger::serving {

using device::Range;

struct EnginePart {
  const char* what;
  Range bytes;
  const char* source;
};

struct Engine {
  double fraction = 0;  // as given, or as the server computes it
  const char* fraction_source = "";
  double weights = 0;
  EnginePart budget, activations, graphs, outside;
  Range cache;           // bytes; nothing where the rest is below zero
  Range blocks, tokens;  // blocks of the cache, and tokens that they hold
  double block_tokens = 1;
  double block_bytes = 0;  // of all layers
  Range sequences;         // of the scenario's length, at once
  Range awake, asleep;     // what the engine's process takes of the card
};

// `kinds`: the cache that the engine keeps; `parameters`: numbers of its copy of the weights.
Engine engine_of(const Scenario& scenario, const models::DecoderConfig& config,
                 const std::vector<CacheKind>& kinds, double parameters);

}  // namespace ledger::serving
