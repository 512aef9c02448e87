// Source: trl 1.16.0 trainer/utils.py, add_fused_lm_head; accelerate/accelerator.py, prepare_model.
#include "core/training/scored_pass.hpp"

#include "core/ops/loss.hpp"
#include "core/ops/selection.hpp"

namespace ledger::training {

Tensor labels_of(Tape& t, const Tensor& ids) {
  Tensor prompt = t.scratch(ids.shape(), Dtype::kBool, "tokens that are not scored");
  return t.make(ids.shape(), Dtype::kInt64, "labels", Role::kInput);
}

ScoredOutput scored_pass(Job& job, const models::Decoder& model, const ScoredRequest& request) {
  Tape& t = job.t;
  const Autocast autocast(t, job.autocasts(), job.autocast_dtype());
  Tensor last = models::backbone(t, model, request.inputs);
  const Within here(t, t.place("loss"), -1);
  const Shape positions = t.shape({last.dim(0), last.dim(1) - Count(1)});
  const Count n = last.dim(0) * request.scored;
  ScoredOutput out;
  Tensor hidden = ops::without_last_token(t, last);
  Tensor mask = t.make(positions, Dtype::kBool, "tokens that are scored", Role::kInput);
  {
    Tensor rows = ops::rows_where(t.as("hidden states of scored tokens"), hidden, mask, n);
    Tensor targets = ops::entries_where(t, Dtype::kInt64, mask, n, "scored tokens");
    const ops::Linear& head = model.lm_head;
    const ops::LogProbabilities made =
        ops::chunked_log_probabilities(t, rows, head.weight, head.bias, targets, request.wanted);
    rows.reset();
    targets.reset();
    out.each.log_probs = ops::scatter_where(t, made.log_probs, mask, "log-probabilities");
    if (made.entropy) out.each.entropy = ops::scatter_where(t, made.entropy, mask, "entropies");
    if (made.mean_logits) {
      out.each.mean_logits = ops::scatter_where(t, made.mean_logits, mask, "mean logits");
    }
    if (made.is_top1) {
      out.each.is_top1 = ops::scatter_where(t, made.is_top1, mask, "predicted tokens");
    }
  }
  const NoGrad no_grad(t);  // nobody follows this loss
  Tensor sum = ops::total(t, out.each.log_probs, "sum of log-probabilities");
  Tensor negative = t.scratch(sum.shape(), Dtype::kFloat32, "sum, negated");
  sum.reset();
  Tensor count = ops::count_true(t, positions.elements(), "number of scored tokens");
  out.divisor =
      t.make(t.shape({1}), Dtype::kInt64, "number of scored tokens, at least one", Role::kInput);
  count.reset();
  out.loss = t.make(t.shape({1}), Dtype::kFloat32, "loss of the output object", Role::kInput);
  return out;
}

}  // namespace ledger::training
