// The layers of the qwen3_next and qwen3_5 types: linear attention by the gated delta rule in most
// layers, gated attention in the others.
#pragma once

#include "core/models/builder.hpp"

namespace ledger::models {

// Sets all that those types share: widths, masks, norms, rotation and the blocks.
void configure_delta(DecoderConfig& c, const ModelConfig& config, Workings& workings);
void make_delta_net(Builder& b, DecoderLayer& layer);
void make_gated_attention(Builder& b, DecoderLayer& layer);
// Blocks::attention: linear or gated, as the layer is.
AttentionOutput gated_attention(Tape& t, const DecoderLayer& layer, const LayerInputs& in,
                                Tensor hidden);
Tensor delta_net(Tape& t, const DecoderLayer& layer, const LayerInputs& in, Tensor hidden);

// torch_chunk_gated_delta_rule: what transformers computes where flash-linear-attention is not
// installed. query, key [B,T,H,d_k], value [B,T,H,d_v], decay and beta [B,T,H].
Tensor chunked_delta_rule(Tape& t, Tensor query, Tensor key, Tensor value, const Tensor& decay,
                          const Tensor& beta);

}  // namespace ledger::models
