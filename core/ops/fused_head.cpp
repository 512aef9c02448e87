// Tiles of tokens by vocabulary rows: each is folded into running statistics and forgotten, and
// computed again in the backward pass, which adds up gradients in 32 bit.
// Source: trl 1.16.0 kernels/chunked_logprob.py, ChunkedLogProbFunction.
#include "core/ops/fused_head.hpp"

namespace ledger::ops {
namespace {

constexpr double kTokensOfTile = 4096;       // TOKEN_CHUNK_SIZE
constexpr double kVocabularyOfTile = 32768;  // trainer/utils.py: _CHUNKED_LOGPROB_CHUNK_SIZE
constexpr double kTilesShown = 4;            // later ones repeat what these allocate and let go

Dtype computed_in(const Tape& t, const Tensor& hidden) {
  return t.autocast_enabled() ? t.autocast_dtype() : hidden.dtype();
}

Tensor tile_buffer(Tape& t, Count tokens, Dtype dtype) {
  const Count vocabulary(kVocabularyOfTile, t.workings().figure(kVocabularyOfTile));
  return t.scratch(t.shape({minimum(tokens, kTokensOfTile), vocabulary}), dtype,
                   "logits of a tile");
}

// The copies that tiles make of their operands where the type differs; names hold the last ones. In
// the forward pass no name holds the head's rows.
struct Casts {
  Tensor hidden, weight;
};
Casts run_tiles(Tape& t, const Tensor& hidden, const Tensor& weight, Dtype dtype, bool backward) {
  const Count tokens = hidden.dim(0), width = hidden.dim(1), vocabulary = weight.dim(0);
  const bool casts_hidden = hidden.dtype() != dtype, casts_weight = weight.dtype() != dtype;
  Casts held;
  if (!casts_hidden && !casts_weight) {
    t.matrix_product_done();
    return held;
  }
  double shown = 0;
  for (double start = 0; start < tokens.value(); start += kTokensOfTile) {
    const bool last = start + kTokensOfTile >= tokens.value();
    if (++shown > kTilesShown && !last) continue;
    const Count n = minimum(tokens - Count(start), kTokensOfTile);
    if (casts_hidden) {
      held.hidden = t.scratch(t.shape({n, width}), dtype, "hidden states of a tile, cast");
    }
    if (!casts_weight) {
      t.matrix_product_done();
      continue;
    }
    double shown_rows = 0;
    for (double row = 0; row < vocabulary.value(); row += kVocabularyOfTile) {
      const bool last_rows = row + kVocabularyOfTile >= vocabulary.value();
      if (++shown_rows > kTilesShown && !last_rows) continue;
      const Count rows = minimum(vocabulary - Count(row), kVocabularyOfTile);
      held.weight = t.scratch(t.shape({rows, width}), dtype, "rows of the head, cast");
      t.matrix_product_done();
      if (!backward) held.weight.reset();
    }
  }
  return held;
}

void of_log_probabilities(BackwardCall& call) {
  Tape& t = call.tape;
  const Tensor& hidden = call.saved[0];
  const Tensor& weight = call.saved[1];
  const Dtype dtype = static_cast<Dtype>(call.node.number);
  const bool has_bias = call.node.flag;
  auto gradient = [&](const Tensor& of, const char* what) {
    return t.output(of.shape(), Dtype::kFloat32, what);
  };
  Tensor grad_hidden, grad_weight, grad_bias;
  if (call.needs(0)) grad_hidden = gradient(hidden, "gradient of the hidden states in 32 bit");
  if (call.needs(1)) grad_weight = gradient(weight, "gradient of the head in 32 bit");
  if (has_bias && call.needs(2)) {
    grad_bias = t.output(call.node.edges[2].shape, Dtype::kFloat32, "gradient of the bias");
  }
  Tensor tile = tile_buffer(t, hidden.dim(0), dtype);
  const Casts held = run_tiles(t, hidden, weight, dtype, true);
  auto narrowed = [&](Tensor& wide, Dtype to, const char* what) {
    return wide && to != Dtype::kFloat32 ? t.output(wide.shape(), to, what) : wide;
  };
  call.results[0] = narrowed(grad_hidden, hidden.dtype(), "gradient of the hidden states");
  call.results[1] = narrowed(grad_weight, weight.dtype(), "gradient of the head");
  if (grad_bias) {
    call.results[2] = narrowed(grad_bias, call.node.edges[2].dtype, "gradient of the bias");
  }
}

constexpr Rule kLogProbabilities{"log-probabilities in tiles", "trl/kernels/chunked_logprob.py",
                                 of_log_probabilities};

}  // namespace

LogProbabilities chunked_log_probabilities(Tape& t, const Tensor& hidden, const Tensor& weight,
                                           const Tensor& bias, const Tensor& targets,
                                           const LogProbabilityOutputs& outputs) {
  Recording recording(t, kLogProbabilities, {&hidden, &weight, &bias});
  const Shape tokens = t.shape({hidden.dim(0)});
  const Dtype dtype = computed_in(t, hidden);
  auto statistic = [&](const char* what) { return t.scratch(tokens, Dtype::kFloat32, what); };
  auto output = [&](Dtype of, const char* what) { return t.output(tokens, of, what); };
  Tensor running_max = statistic("largest logit so far");
  Tensor sum_exp = statistic("sum of exponentials");
  Tensor x_sum_exp = statistic("sum of weighted exponentials");
  Tensor sq_sum_exp = statistic("sum of squared exponentials");
  Tensor z_sum = statistic("sum of logits");
  Tensor max_before_target = statistic("largest logit before the target");
  Tensor target_logit = statistic("the target's logit");
  Tensor tile = tile_buffer(t, hidden.dim(0), dtype);
  const Casts held = run_tiles(t, hidden, weight, dtype, false);

  LogProbabilities out;
  Tensor logarithm = statistic("logarithm of the sum");
  Tensor log_z = output(Dtype::kFloat32, "logarithm of the partition sum");
  logarithm.reset();
  out.log_probs = output(Dtype::kFloat32, "log-probabilities of the targets");
  if (outputs.entropy) {
    Tensor quotient = statistic("mean logit under the distribution");
    out.entropy = output(Dtype::kFloat32, "entropy");
  }
  if (outputs.log_sum_sq_probs) {
    Tensor first = statistic("logarithm of the squares' sum");
    Tensor second = statistic("logarithm of the sum");
    Tensor twice = statistic("twice that");
    second.reset();
    out.log_sum_sq_probs = output(Dtype::kFloat32, "logarithm of the summed squares");
  }
  if (outputs.mean_logits) out.mean_logits = output(Dtype::kFloat32, "mean logit");
  if (outputs.is_top1) {
    Tensor is_largest = t.scratch(tokens, Dtype::kBool, "whether the target is the largest");
    Tensor is_first = t.scratch(tokens, Dtype::kBool, "whether it is the first such");
    out.is_top1 = output(Dtype::kBool, "whether the target is predicted");
  }
  recording.save(hidden);
  recording.save(weight);
  if (bias) recording.save(bias);
  recording.save(targets);
  recording.save(log_z);
  recording.save(out.entropy ? out.entropy : log_z);
  if (recording) {
    recording->number = static_cast<std::uint8_t>(dtype);
    recording->flag = static_cast<bool>(bias);
  }
  if (out.entropy) {
    recording.outputs({&out.log_probs, &out.entropy});
  } else {
    recording.outputs({&out.log_probs});
  }
  return out;
}

}  // namespace ledger::ops
