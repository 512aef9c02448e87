// Keys and values of the tokens that a model has seen, as transformers' caches keep them: by
// default every token makes new tensors that are one token longer.
#pragma once

#include <vector>

#include "core/tape.hpp"

namespace ledger::models {

struct KeyValueCache {
  struct Layer {
    Tensor keys,
        values;      // [B,H_kv,tokens,d_h]; of a latent attention the latent and what is rotated
    Tensor counter;  // of a static cache
  };
  std::vector<Layer> layers;
  Count length = 0;                 // tokens, those of the running pass included
  Count static_length = 0;          // of a static cache, made whole at once; 0: it grows
  Count window = 0;                 // tokens that windowed layers look back on
  const Flags* windowed = nullptr;  // by layer; null where none is

  bool is_windowed(std::int16_t layer) const {
    return windowed && (*windowed)[static_cast<std::size_t>(layer)] && window.value() > 0;
  }
  // Tokens that a layer's attention sees in a pass over so many new ones.
  Count seen(std::int16_t layer, Count new_tokens) const;
  // Takes a layer's new keys and values and puts all that it has in their place.
  void update(Tape& t, std::int16_t layer, Tensor& keys, Tensor& values);
  // Of what the layers hold now.
  double bytes() const;
};

}  // namespace ledger::models
