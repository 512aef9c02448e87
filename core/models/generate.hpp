// model.generate(): completions sampled token by token, with a cache of keys and values.
#pragma once

#include "core/models/cache.hpp"
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
  bool greedy = false;  // the most probable token, in place of one that is drawn
  bool padded = false;  // the mask leaves tokens out
  bool static_cache = false;
  double chunk = 0;  // tokens of the prompt that are taken at once; 0: all
};

struct Completions {
  Tensor ids;                 // the ids with their completions, [B,prompt + new_tokens]
  KeyValueCache cache;        // as it is when the last token is there
  std::size_t prefilled = 0;  // events before the prompt was taken in
};

// Whether so many new tokens are more than are replayed.
bool shortens(const DecoderConfig& config, double new_tokens);

Completions generate(Tape& t, const Decoder& model, const GenerateRequest& request);

}  // namespace ledger::models
