// Activation functions of a feed-forward, by the names of config.json's hidden_act.
#pragma once

#include <string_view>

#include "core/tape.hpp"

namespace ledger::ops {

using Activation = Tensor (*)(Tape&, Tensor);

// Null for a name that is not known. Source: transformers/activations.py ACT2FN.
Activation find_activation(std::string_view name);

// BloomGelu: written out forward and backward, keeps its argument only.
Tensor gelu_bloom(Tape& t, Tensor x);

}  // namespace ledger::ops
