// model.generate(): completions sampled token by token, with a cache of keys and values.
#pragma once

#include "core/models/decoder.hpp"

namespace ledger::models {

struct GenerateRequest {
  Tensor ids, attention_mask;  // [B,prompt], without padding
  Count prompt = 0;
  double new_tokens = 0;
  double passes_shown = 0;  // 0: as many as can be
  // accelerate's prepare_model() runs a pass under autocast and hands its logits on in 32 bit.
  bool autocast = false;
  Dtype autocast_dtype = Dtype::kBFloat16;
};

// Whether so many new tokens are more than are replayed.
bool shortens(const DecoderConfig& config, double new_tokens);

// The ids with their completions, [B,prompt + new_tokens].
Tensor generate(Tape& t, const Decoder& model, const GenerateRequest& request);

}  // namespace ledger::models
