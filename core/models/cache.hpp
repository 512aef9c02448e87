// Keys and values of the tokens that a model has seen, as transformers' DynamicCache keeps them:
// every token makes new tensors that are one token longer.
#pragma once

#include <vector>

#include "core/tape.hpp"

namespace ledger::models {

struct KeyValueCache {
  struct Layer {
    Tensor keys, values;  // [B,H_kv,tokens,d_h]
  };
  std::vector<Layer> layers;
  Count length = 0;  // tokens, those of the running pass included

  // Takes a layer's new keys and values and puts all that it has in their place.
  void update(Tape& t, std::int16_t layer, Tensor& keys, Tensor& values);
};

}  // namespace ledger::models
