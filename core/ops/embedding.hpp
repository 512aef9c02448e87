// The embedding of token ids, and the loss of a causal language model at the other end.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

Tensor embedding(Tape& t, Tensor ids, Tensor weight);  // [B,T] and [V,d] -> [B,T,d]

// transformers' ForCausalLMLoss without num_items_in_batch: logits [B,T,V] in 32 bit, labels
// shifted.
Tensor causal_lm_loss(Tape& t, Tensor logits);

}  // namespace ledger::ops
