// Multi-head latent attention: queries, keys and values are expanded from narrow projections, and
// only a part of each head is rotated. Shared by the deepseek types.
#pragma once

#include "core/models/builder.hpp"

namespace ledger::models {

// The widths of a latent attention, with the letters r_q and r_kv.
LatentConfig latent_config(const ModelConfig& config, Workings& workings);
void make_latent_attention(Builder& b, DecoderLayer& layer);
// Blocks::attention, with Blocks::rotate for the rotated parts.
AttentionOutput latent_attention(Tape& t, const DecoderLayer& layer, const LayerInputs& in,
                                 Tensor hidden);

}  // namespace ledger::models
