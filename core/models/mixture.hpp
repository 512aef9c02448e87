// Mixtures of experts: how their weights are made, how tokens are routed and computed.
// To add a kind, write its router or its block beside these and name it in the architecture's file.
#pragma once

#include "core/models/builder.hpp"

namespace ledger::models {

// The letters E, k and f_e from the keys that the architecture uses for them; every layer sparse.
MixtureConfig mixture_config(const DecoderConfig& c, const ModelConfig& config, Workings& workings,
                             const char* experts, const char* width);
// Sparse every `decoder_sparse_step` layers, but for those of `mlp_only_layers`.
void sparse_by_step(MixtureConfig& m, const ModelConfig& config);

// No experts in the first `first_k_dense_replace` layers.
void dense_first(MixtureConfig& m, const ModelConfig& config);

// Makes the router's weight, [E,d], under the path.
void make_router(Builder& b, DecoderLayer& layer, const char* path);
void make_experts(Builder& b, DecoderLayer& layer);
void make_shared_expert(Builder& b, DecoderLayer& layer);  // "mlp.shared_expert" and its gate

// The mixture where the layer is sparse, else the plain feed-forward.
void make_feed_forward(Builder& b, DecoderLayer& layer);
// Attention, feed-forward or mixture, norms.
void make_mixture_layer(Builder& b, DecoderLayer& layer);

// Softmax in 32 bit, the k largest, divided by their sum if so configured, in the logits' type.
Routing softmax_router(Tape& t, const DecoderLayer& layer, const Tensor& rows);

// The routers of the deepseek and glm types, in 32 bit: scores by softmax or by a sigmoid with a
// correction, from the best groups of experts only.
Routing grouped_softmax_router(Tape& t, const DecoderLayer& layer, const Tensor& hidden);
Routing sigmoid_router(Tape& t, const DecoderLayer& layer, const Tensor& hidden);

// The experts' feed-forward for tokens [N,d] with their routing: transformers'
// integrations/moe.py, grouped_mm_experts_forward.
Tensor experts_forward(Tape& t, const DecoderLayer& layer, const Tensor& rows,
                       const Routing& routing);
// The same for few tokens, while tokens are made one by one.
Tensor batched_experts(Tape& t, const DecoderLayer& layer, const Tensor& rows,
                       const Routing& routing);

// Blocks::feed_forward: router and experts; a plain feed-forward where the layer is not sparse.
Tensor routed_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x);
// The same with experts for every token, added.
Tensor shared_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x);
// The same with an expert for every token beside, weighted by a sigmoid.
Tensor gated_shared_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x);

}  // namespace ledger::models
