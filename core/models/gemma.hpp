// What the members of gemma's family share.
#pragma once

#include "core/models/decoder.hpp"

namespace ledger::models {

Tensor gemma_norm(Tape& t, const Norm& norm, Tensor x);
void make_scaled_embedding(Builder& b, Decoder& model);
Tensor embed_scaled(Tape& t, const Decoder& model, const Tensor& ids);

DecoderConfig configure_gemma(const ModelConfig& config, Workings& workings);
DecoderConfig configure_gemma2(const ModelConfig& config, Workings& workings);

}  // namespace ledger::models
