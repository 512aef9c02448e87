// A plain training loop in PyTorch, statement by statement: forward, backward, step, zero_grad.
#include "core/ops/elementwise.hpp"
#include "core/training/job.hpp"

namespace ledger::training {
namespace {

struct Loop {
  Job& job;
  Tape& t;
  Tensor ids, attention_mask;
  Tensor kept_loss;  // held by the model's output object
  Tensor ignored;    // a label for the last token of each sequence

  models::Output output_of_batch() {
    const Training& training = job.training();
    const Autocast autocast(t, job.autocasts(), job.autocast_dtype());
    const models::Inputs inputs{ids, attention_mask, job.positions};
    if (training.loss_type != kChunkedLoss) return models::forward(t, job.model, inputs);
    return {models::chunked_loss(t, job.model, inputs, training.num_output_chunks), {}};
  }

  models::Output forward() {
    const Training& training = job.training();
    const Autocast autocast(t, job.autocasts(), job.autocast_dtype());
    if (job.rank) job.rank->begin_forward();
    models::Output output = output_of_batch();
    if (job.rank) job.rank->end_forward(output);
    if (job.scenario.keep_outputs) kept_loss = output.loss;
    if (training.gradient_accumulation_steps > 1) {
      output.loss = ops::mul_constant(t.as("loss of a micro-batch"), output.loss);
    }
    if (!job.scenario.keep_outputs) output.logits.reset();
    return output;
  }

  void ids_and_mask() {
    const Within here(t, t.place("batch"), -1);
    ids = t.make(job.ids_shape(), Dtype::kInt64, "token ids", Role::kInput);
    if (job.scenario.attention_mask) {
      attention_mask = t.make(job.ids_shape(), Dtype::kInt64, "attention mask", Role::kInput);
    }
  }

  void micro_batch(int step, int number) {
    ids_and_mask();
    t.mark(Mark::Kind::kForward, step, number);
    models::Output output = forward();
    t.mark(Mark::Kind::kBackward, step, number);
    t.backward(output.loss);
    output.loss.reset();
    output.logits.reset();
    kept_loss.reset();
    t.mark(Mark::Kind::kBackwardEnd, step, number);
  }

  void step(int step) {
    t.mark(Mark::Kind::kBegin, step);
    for (int i = 0; i < job.micro_batches; ++i) micro_batch(step, i);
    if (job.training().max_grad_norm > 0) {
      t.mark(Mark::Kind::kClip, step);
      clip_gradients(t, job.trainable);
    }
    t.mark(Mark::Kind::kStep, step);
    job.optimizer.step();
    t.mark(Mark::Kind::kZeroGrad, step);
    job.optimizer.zero_grad();
    if (job.rank) job.rank->zero_grad();
    ids.reset();
    attention_mask.reset();
    t.mark(Mark::Kind::kEnd, step);
  }

  // with torch.no_grad(): for batch in batches: loss = model(**batch).loss
  void evaluate() {
    t.mark(Mark::Kind::kEvaluate, kSteps);
    {
      const Evaluating evaluating(t);
      const NoGrad no_grad(t);
      models::Output output;
      for (const double rows : evaluated_batches(job.scenario)) {
        job.evaluated_rows = rows;
        ids_and_mask();
        output = output_of_batch();
        if (!job.scenario.keep_outputs) output.logits.reset();
      }
    }
    job.evaluated_rows = 0;
    ids.reset();
    attention_mask.reset();
    t.mark(Mark::Kind::kEnd, kSteps);
  }
};

}  // namespace

Shape Job::ids_shape() const {
  Workings& w = t.workings();
  const Count rows = evaluated_rows > 0
                         ? w.named("B_eval", evaluated_rows)
                         : w.letter(Letter::B, training().per_device_train_batch_size);
  return t.shape({rows, w.letter(Letter::T, training().max_length)});
}

Shape Job::pairs_shape() const {
  Workings& w = t.workings();
  return t.shape({w.letter(Letter::B, training().per_device_train_batch_size) * 2,
                  w.letter(Letter::T, training().max_length)});
}

Count Job::completion_length() const {
  return t.workings().named("T_c", scenario.rl->max_completion_length);
}

void run_plain_loop(Job& job) {
  Loop loop{job, job.t, {}, {}, {}, {}};
  if (job.training().loss_type == kChunkedLoss) {
    const Shape column = job.t.shape({job.ids_shape()[0], 1});
    loop.ignored = job.t.make(column, Dtype::kInt64, "labels that do not count", Role::kInput);
  }
  for (int step = 1; step <= kSteps; ++step) loop.step(step);
  if (job.scenario.evaluate) loop.evaluate();
  if (job.scenario.save) save(job);
}

}  // namespace ledger::training
