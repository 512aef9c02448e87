// trl's SFTTrainer: its collator, and a loss that scores tokens in tiles and never builds logits.
// Source: trl 1.16.0 trainer/sft_trainer.py: DataCollatorForLanguageModeling, compute_loss;
// trainer/utils.py: add_fused_lm_head.
#include <algorithm>
#include <vector>

#include "core/ops/elementwise.hpp"
#include "core/ops/fused_head.hpp"
#include "core/ops/loss.hpp"
#include "core/ops/selection.hpp"
#include "core/training/job.hpp"
#include "core/training/packing.hpp"

namespace ledger::training {
namespace {

Tensor input(Tape& t, Shape shape, Dtype dtype, const char* what) {
  return t.make(shape, dtype, what, Role::kInput);
}

// Sequences one after the other in one row, their positions beginning anew.
Batch flattened(Job& job, const Samples& samples) {
  Tape& t = job.t;
  Workings& w = t.workings();
  const Shape row = t.shape({1, w.named("T_sum", samples.tokens)});
  const Shape borders = t.shape({Count(samples.sequences + 1)});
  Batch out;
  out.inputs.ids = input(t, row, Dtype::kInt64, "token ids");
  out.labels = input(t, row, Dtype::kInt64, "labels");
  out.inputs.position_ids = input(t, row, Dtype::kInt64, "position ids");
  out.rest.push_back(input(t, borders, Dtype::kInt32, "cu_seq_lens_q"));
  out.rest.push_back(input(t, borders, Dtype::kInt32, "cu_seq_lens_k"));
  out.rest.push_back(input(t, row, Dtype::kInt32, "seq_idx"));
  out.inputs.packed = samples.sequences > 1;
  out.scored = Count(samples.tokens - samples.sequences);
  return out;
}

Batch collate(Job& job) {
  Tape& t = job.t;
  const Training& training = job.training();
  const Samples samples = samples_of(training);
  if (samples.flattened) return flattened(job, samples);
  const Shape shape =
      samples.longest == training.max_length
          ? job.ids_shape()
          : t.shape({job.ids_shape()[0], t.workings().named("T_b", samples.longest)});
  Batch out;
  out.inputs.ids = input(t, shape, Dtype::kInt64, "token ids");
  out.labels = input(t, shape, Dtype::kInt64, "labels");
  out.inputs.attention_mask = input(t, shape, Dtype::kInt64, "attention mask");
  out.inputs.padded = job.scenario.attention_mask || samples.tokens < shape.elements().value();
  out.scored = samples.tokens == shape.elements().value()
                   ? shape[0] * (shape[1] - Count(1))
                   : Count(samples.tokens - samples.sequences);
  return out;
}

// What the model returns with its fused head.
struct Scored {
  Tensor loss, log_probs, entropy, is_top1, label_mask;
  Tensor clamped;  // held by the loss's history, which nobody follows
};

Scored score(Job& job, const Batch& batch) {
  Tape& t = job.t;
  const ops::Linear& head = job.model.lm_head;
  Tensor last = models::backbone(t, job.model, batch.inputs);
  const Within here(t, t.place("loss"), -1);
  const Count batch_size = last.dim(0), scored_length = last.dim(1) - Count(1);
  const Shape positions = t.shape({batch_size, scored_length});
  Tensor hidden = ops::without_last_token(t, std::move(last));
  Scored out;
  out.label_mask = input(t, positions, Dtype::kBool, "labels that count");
  const Count n = batch.scored;
  ops::LogProbabilities each;
  {
    Tensor rows =
        ops::rows_where(t.as("hidden states of labels that count"), hidden, out.label_mask, n);
    Tensor targets = ops::entries_where(t, Dtype::kInt64, out.label_mask, n, "labels that count");
    ops::LogProbabilityOutputs wanted;
    wanted.entropy = wanted.is_top1 = true;
    each = ops::chunked_log_probabilities(t, rows, head.weight, head.bias, targets, wanted);
  }
  out.log_probs = ops::scatter_where(t, each.log_probs, out.label_mask, "log-probabilities");
  out.entropy = ops::scatter_where(t, each.entropy, out.label_mask, "entropy");
  out.is_top1 = ops::scatter_where(t, each.is_top1, out.label_mask, "predicted tokens");
  each = {};
  Tensor sum = ops::total(t, out.log_probs, "sum of log-probabilities");
  Tensor negative = ops::negate(t, std::move(sum));
  Tensor count = ops::count_true(t, positions.elements(), "number of labels that count");
  out.clamped = input(t, t.shape({1}), Dtype::kInt64, "number of labels, at least one");
  count.reset();
  out.loss = input(t, t.shape({1}), Dtype::kFloat32, "mean loss");
  if (!t.grad_enabled()) out.clamped.reset();
  return out;
}

Scored scored_under_autocast(Job& job, const Batch& batch) {
  const Autocast autocast(job.t, job.autocasts(), job.autocast_dtype());
  return score(job, batch);
}

// A value gathered from all processes and summed: what a metric is made of.
Tensor gathered(Tape& t, const Tensor& value) {
  return input(t, value.shape(), value.dtype(), "sum over all processes");
}

void take_metrics(Tape& t, const Scored& outputs, const Batch& batch) {
  const NoGrad no_grad(t);
  const Count positions = outputs.label_mask.shape().elements();
  Tensor valid = ops::count_true(t, positions, "number of labels that count");
  valid = gathered(t, valid);
  Tensor entropy = ops::total(t, outputs.entropy, "sum of entropies");
  entropy = gathered(t, entropy);
  Tensor correct = ops::count_true(t, positions, "number of predicted tokens");
  correct = gathered(t, correct);
  for (int metric = 0; metric < 2; ++metric) {
    t.bytes(1, "whether any label counts");
    t.bytes(4, "metric");
  }
  if (t.evaluates()) return;  // tokens are counted while training
  if (batch.inputs.attention_mask) {
    Tensor tokens = ops::total(t, batch.inputs.attention_mask, "number of tokens");
    tokens = gathered(t, tokens);
  } else {
    Tensor tokens = input(t, t.shape({1}), Dtype::kInt64, "number of tokens");
    tokens = gathered(t, tokens);
  }
}

// -log_probs, by dft weighted by the probabilities, summed over all labels that count.
struct Loss {
  Tensor per_token, loss;
};
Loss loss_of(Job& job, const Scored& outputs, const Tensor& num_items_in_batch) {
  Tape& t = job.t;
  Tensor per_token = ops::negate(t.as("loss of each token"), outputs.log_probs);
  if (job.training().loss_type == "dft") {
    Tensor weights;
    {
      const NoGrad no_grad(t);
      weights = ops::exponential(t.as("probability of each token"), outputs.log_probs);
    }
    per_token =
        ops::mul(t.as("weighted loss of each token"), std::move(per_token), std::move(weights));
  }
  Tensor loss = ops::sum_all(t.as("loss, summed"), per_token);
  Tensor counted;
  if (!num_items_in_batch) {
    const Count labels = outputs.label_mask.shape().elements();
    counted = ops::count_true(t, labels, "number of labels that count");
  }
  Tensor items = input(t, t.shape({1}), Dtype::kInt64, "number of labels, at least one");
  loss = ops::divide(t, std::move(loss), items);
  return {std::move(per_token), std::move(loss)};
}

Tensor compute_loss(Job& job, const Batch& batch, const Tensor& num_items_in_batch) {
  Tape& t = job.t;
  const bool smooths = job.training().label_smoothing_factor > 0;
  Tensor loss;
  if (smooths) {
    Tensor logits = logits_under_autocast(job, batch.inputs);
    const Within here(t, t.place("loss"), -1);
    loss = ops::smoothed_loss(t, std::move(logits), num_items_in_batch);
  }
  Scored outputs;
  if (smooths) {  // the fused head is for the metrics only
    const NoGrad no_grad(t);
    outputs = scored_under_autocast(job, batch);
  } else {
    outputs = scored_under_autocast(job, batch);
  }
  const Within here(t, t.place("loss"), -1);
  Loss held;
  if (!smooths) {
    held = loss_of(job, outputs, num_items_in_batch);
    loss = std::move(held.loss);
  }
  if (num_items_in_batch) loss = ops::mul_constant(t.as("loss"), std::move(loss));
  take_metrics(t, outputs, batch);
  return loss;
}

}  // namespace

const Method kSupervised{collate, compute_loss};

}  // namespace ledger::training
