// What a model keeps of a sequence while it generates: keys and values by token, or a state of a
// fixed size, kind by kind of layers. Holds for every engine.
#pragma once

#include <vector>

#include "core/models/decoder.hpp"
#include "core/quantity.hpp"

namespace ledger::serving {

// Layers of one kind.
struct CacheKind {
  const char* what;
  Count layers;
  Bytes per_token;   // of all these layers; nothing where the state is fixed
  Count window = 0;  // tokens that are kept at most; 0: all
  Bytes fixed;       // of one sequence, whatever its length
  const char* source;

  // Of one sequence of so many tokens, as bytes alone.
  double of_sequence(double tokens) const;
};

// `dtype`: of the cache, one byte where `one_byte`.
std::vector<CacheKind> cache_kinds(const models::DecoderConfig& config, Dtype dtype, bool one_byte,
                                   Workings& workings);

// Of all layers, for one token more of a long sequence and for one token more of a short one.
Bytes bytes_per_token(const std::vector<CacheKind>& kinds);
double of_sequence(const std::vector<CacheKind>& kinds, double tokens);

}  // namespace ledger::serving
