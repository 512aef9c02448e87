// TRL's head: log-probabilities of the targets without logits of the whole vocabulary at once.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

// Which of the kernel's outputs are asked for beside the log-probabilities.
struct LogProbabilityOutputs {
  bool entropy = false, log_sum_sq_probs = false, mean_logits = false, is_top1 = false;
};

// One value for each of the n scored tokens. Absent where not asked for.
struct LogProbabilities {
  Tensor log_probs, entropy, log_sum_sq_probs, mean_logits, is_top1;
};

// hidden [n,d], weight [V,d], bias [V] or absent, targets [n].
LogProbabilities chunked_log_probabilities(Tape& t, const Tensor& hidden, const Tensor& weight,
                                           const Tensor& bias, const Tensor& targets,
                                           const LogProbabilityOutputs& outputs);

}  // namespace ledger::ops
