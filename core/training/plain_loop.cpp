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

  models::Output forward() {
    const Training& training = job.training();
    const Autocast autocast(t, job.autocasts(), job.autocast_dtype());
    if (job.rank) job.rank->begin_forward();
    models::Output output = models::forward(t, job.model, {ids, attention_mask, {}});
    if (job.rank) job.rank->end_forward(output);
    if (job.scenario.keep_outputs) kept_loss = output.loss;
    if (training.gradient_accumulation_steps > 1) {
      output.loss = ops::mul_constant(t.as("loss of a micro-batch"), output.loss);
    }
    if (!job.scenario.keep_outputs) output.logits.reset();
    return output;
  }

  void micro_batch(int step, int number) {
    {
      const Within here(t, t.place("batch"), -1);
      ids = t.make(job.ids_shape(), Dtype::kInt64, "token ids", Role::kInput);
      if (job.scenario.attention_mask) {
        attention_mask = t.make(job.ids_shape(), Dtype::kInt64, "attention mask", Role::kInput);
      }
    }
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
};

}  // namespace

Shape Job::ids_shape() const {
  Workings& w = t.workings();
  return t.shape({w.letter(Letter::B, training().per_device_train_batch_size),
                  w.letter(Letter::T, training().max_length)});
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
  Loop loop{job, job.t, {}, {}, {}};
  for (int step = 1; step <= kSteps; ++step) loop.step(step);
}

}  // namespace ledger::training
