// One pass of a model with trl's fused head: what trl's trainers for preferences and rewards ask
// for.
#pragma once

#include "core/models/decoder.hpp"
#include "core/ops/fused_head.hpp"
#include "core/training/job.hpp"

namespace ledger::training {

struct ScoredRequest {
  models::Inputs inputs;
  Tensor labels;     // [B,T], -100 where a token is not scored
  Count scored = 0;  // tokens of each sequence that are
  ops::LogProbabilityOutputs wanted;
};

// The output object: figures of each token [B,T-1], and what its loss holds.
struct ScoredOutput {
  ops::LogProbabilities each;
  Tensor loss, divisor;
};

// As accelerate wraps it: under autocast that ends with the pass.
ScoredOutput scored_pass(Job& job, const models::Decoder& model, const ScoredRequest& request);

// input_ids.masked_fill(mask == 0, -100)
Tensor labels_of(Tape& t, const Tensor& ids);

}  // namespace ledger::training
