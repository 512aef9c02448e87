// Training by preferences as trl's DPOTrainer and KTOTrainer run it.
// Source: trl/trainer/dpo_trainer.py and kto_trainer.py, _compute_loss. What only metrics use, one
// number a sequence, is left out.
#include <array>

#include "core/ops/elementwise.hpp"
#include "core/training/scored_pass.hpp"

namespace ledger::training {
namespace {

// From the log-probabilities of all tokens [2B,T-1] to a number. The scores are kept for
// log-sigmoid's derivative.
void of_pairs(BackwardCall& call) {
  Tape& t = call.tape;
  const Shape shape = call.node.edges[0].shape;
  Tensor of_sums = t.scratch(t.shape({shape[0]}), Dtype::kFloat32, "gradient of the sums");
  call.results[0] = t.output(shape, Dtype::kFloat32, "gradient of the log-probabilities");
}

constexpr Rule kPairs{"preference loss", "trl/trainer/dpo_trainer.py: _compute_loss", of_pairs};
constexpr Rule kKinds{"preference loss", "trl/trainer/kto_trainer.py: _compute_loss", of_pairs};

Tensor loss_of_pairs(Tape& t, const Tensor& log_probs) {
  Recording recording(t, kPairs, {&log_probs});
  Tensor scores = t.output(t.shape({log_probs.dim(0) / 2}), Dtype::kFloat32, "scores of the pairs");
  Tensor loss = t.output(t.shape({1}), Dtype::kFloat32, "loss");
  recording.save(scores);
  recording.outputs({&loss});
  return loss;
}

// kto: which completions are desired and which are not, and their log-probabilities.
struct Kinds {
  std::array<Tensor, 2> indices, log_probs;
};

Kinds kinds_of(Tape& t, Count rows) {
  Kinds kinds;
  const Shape half = t.shape({rows / 2});
  for (Tensor& x : kinds.indices) x = t.output(half, Dtype::kInt64, "indices of a kind");
  for (Tensor& x : kinds.log_probs) x = t.output(half, Dtype::kFloat32, "their log-probabilities");
  return kinds;
}

// The same of completions that are desired or not.
Tensor loss_of_kinds(Tape& t, const Tensor& log_probs, const Kinds& kinds) {
  Recording recording(t, kKinds, {&log_probs});
  const Count rows = log_probs.dim(0);
  for (const Tensor& indices : kinds.indices) {
    Tensor losses = t.output(t.shape({rows / 2}), Dtype::kFloat32, "losses of a kind");
    recording.save(indices);
    recording.save(losses);
  }
  Tensor losses = t.output(t.shape({rows}), Dtype::kFloat32, "losses");
  Tensor count = t.output(t.shape({1}), Dtype::kInt64, "number of losses");
  Tensor loss = t.output(t.shape({1}), Dtype::kFloat32, "loss");
  recording.save(losses);
  recording.save(count);
  recording.outputs({&loss});
  return loss;
}

Tensor sums_of(Tape& t, const Tensor& log_probs) {
  return t.scratch(t.shape({log_probs.dim(0)}), Dtype::kFloat32,
                   "log-probability of each sequence");
}

// In Batch::rest. A batch of dpo holds the first of them, then what was computed before.
enum Rest : std::size_t {
  kCompletionMask,
  kUnrelatedIds,  // kto's prompts with completions of other prompts
  kUnrelatedMask,
  kUnrelatedCompletionMask,
};

bool in_pairs(const Job& job) { return job.scenario.rl->method == "dpo"; }

Batch collated(Job& job, bool precomputed) {
  Tape& t = job.t;
  const bool pairs = in_pairs(job);
  const Shape shape = pairs ? job.pairs_shape() : job.ids_shape();
  Batch batch;
  const auto ids = [&](const char* what) {
    return t.make(shape, Dtype::kInt64, what, Role::kInput);
  };
  const auto of_each = [&](Dtype dtype, Count count, const char* what) {
    batch.rest.push_back(t.make(t.shape({count}), dtype, what, Role::kInput));
  };
  batch.inputs.ids = ids("token ids");
  batch.inputs.attention_mask = ids("attention mask");
  batch.inputs.padded = false;
  batch.scored = job.completion_length();
  batch.rest.push_back(ids("completion mask"));
  if (!pairs) {
    for (const char* what : {"token ids, unrelated", "attention mask", "completion mask"}) {
      batch.rest.push_back(ids(what));
    }
    of_each(Dtype::kBool, shape[0], "whether a completion is desired");
  }
  if (precomputed) {
    const Count count = pairs ? shape[0] / 2 : shape[0];
    for (int i = 0; i < 2; ++i) {
      of_each(Dtype::kFloat32, count, "log-probabilities of the reference");
    }
  }
  return batch;
}

Batch collate(Job& job) { return collated(job, job.scenario.rl->precompute_ref_log_probs); }

ScoredRequest request_of(Job& job, const Tensor& ids, const Tensor& mask) {
  ScoredRequest request;
  request.inputs.ids = ids;
  request.inputs.attention_mask = mask;
  request.inputs.padded = false;
  request.labels = labels_of(job.t, ids);
  request.scored = job.completion_length();
  return request;
}

// kto: how far the model has moved, from completions that have nothing to do with their prompts.
Tensor unrelated_sums(Job& job, const models::Decoder& model, const Batch& batch,
                      const ops::LogProbabilityOutputs& wanted) {
  const NoGrad no_grad(job.t);
  ScoredRequest request = request_of(job, batch.rest[kUnrelatedIds], batch.rest[kUnrelatedMask]);
  request.wanted = wanted;
  const Tensor log_probs = scored_pass(job, model, request).each.log_probs;
  return sums_of(job.t, log_probs);
}

Tensor compute_loss(Job& job, const Batch& batch, const Tensor&) {
  Tape& t = job.t;
  const bool pairs = in_pairs(job);
  ops::LogProbabilityOutputs all;
  all.entropy = all.mean_logits = true;
  all.is_top1 = pairs;
  Tensor desired, others, unrelated_before, unrelated_after, reference_sums;
  if (!pairs) {
    desired = t.scratch(t.shape({1}), Dtype::kInt64, "number of desired completions");
    others = t.scratch(t.shape({1}), Dtype::kInt64, "number of other completions");
    unrelated_before = unrelated_sums(job, job.model, batch, all);
  }
  ScoredRequest request = request_of(job, batch.inputs.ids, batch.inputs.attention_mask);
  request.wanted = all;
  const ScoredOutput policy = scored_pass(job, job.model, request);
  Tensor sums = sums_of(t, policy.each.log_probs);
  Kinds kinds;
  if (!pairs) kinds = kinds_of(t, sums.dim(0));
  ScoredOutput of_reference;
  if (!job.scenario.rl->precompute_ref_log_probs) {
    t.mark(Mark::Kind::kLogProbabilities, job.step, job.micro_batch);
    const NoGrad no_grad(t);
    const WithoutAdapters without(t, !job.reference);
    const models::Decoder& reference = job.reference ? *job.reference : job.model;
    // A head of its own is asked for nothing more.
    if (job.reference) request.wanted = {};
    if (!pairs) unrelated_after = unrelated_sums(job, reference, batch, request.wanted);
    of_reference = scored_pass(job, reference, request);
    reference_sums = sums_of(t, of_reference.each.log_probs);
    t.mark(Mark::Kind::kForward, job.step, job.micro_batch);
  }
  Tensor loss = pairs ? loss_of_pairs(t, policy.each.log_probs)
                      : loss_of_kinds(t, policy.each.log_probs, kinds);
  return ops::mul_constant(t.as("loss of a micro-batch"), loss);
}

}  // namespace

// One batch of the data: others only repeat it.
void precompute_reference(Job& job) {
  Tape& t = job.t;
  const Batch batch = collated(job, false);
  const NoGrad no_grad(t);
  const WithoutAdapters without(t, true);
  ops::LogProbabilityOutputs all;
  all.entropy = all.mean_logits = true;
  all.is_top1 = in_pairs(job);
  ScoredRequest request = request_of(job, batch.inputs.ids, batch.inputs.attention_mask);
  request.wanted = all;
  const Tensor log_probs = scored_pass(job, job.model, request).each.log_probs;
  if (in_pairs(job)) return;
  Tensor unrelated = unrelated_sums(job, job.model, batch, all);
}

const Method kPreferences{collate, compute_loss, nullptr};

}  // namespace ledger::training
