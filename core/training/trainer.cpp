// transformers' Trainer, statement by statement, as far as it allocates: what it adds to a plain
// loop is batches that live longer, and numbers on the device.
// Source: transformers 5.18.0 trainer.py: _run_epoch, get_batch_samples, training_step;
// accelerate 1.15.0 accelerator.py: backward; data_loader.py: DataLoaderShard.
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/loss.hpp"
#include "core/training/job.hpp"

namespace ledger::training {
namespace {

Tensor one(Tape& t, Dtype dtype, const char* what) {
  return t.make(t.shape({1}), dtype, what, Role::kInput);
}

bool is_fused(const Training& training) {
  const auto given = training.optim_args.find("fused");
  const bool by_argument = given != training.optim_args.end() && given->second > 0;
  return by_argument || training.optim == "adamw_torch_fused";
}

// torch.amp.GradScaler, where autocast is to float16. Whether to skip a step is read on the host.
// Source: torch/amp/grad_scaler.py scale, unscale_, step, update.
struct Scaler {
  Tape& t;
  bool on;
  Tensor scale{}, growth{};
  Tensor found_inf{};  // from unscaling to the update of the scale

  Tensor scaled(Tensor loss) {
    if (!on) return loss;
    if (!scale) {
      scale = one(t, Dtype::kFloat32, "scale of the loss");
      growth = one(t, Dtype::kInt32, "steps since the scale grew");
    }
    return ops::mul(t.as("scaled loss"), std::move(loss), scale);
  }

  void unscale() {
    if (!on) return;
    const Within here(t, t.place("gradient scaler"), -1);
    Tensor wide = t.scratch(t.shape({2}), Dtype::kFloat32, "scale in 64 bit");
    Tensor inverse = t.scratch(t.shape({2}), Dtype::kFloat32, "inverse scale in 64 bit");
    wide.reset();
    Tensor narrow = t.scratch(t.shape({1}), Dtype::kFloat32, "inverse scale");
    inverse.reset();
    Tensor none = t.scratch(t.shape({1}), Dtype::kFloat32, "whether a gradient is infinite");
    found_inf = t.scratch(t.shape({1}), Dtype::kFloat32, "whether a gradient is infinite");
    Tensor copy = t.scratch(t.shape({1}), Dtype::kFloat32, "inverse scale");
  }
};

// Held by names of the loop from step to step.
struct Loop {
  Job& job;
  const Method& method;
  Tape& t;
  Tensor total_loss;           // _tr_loss
  std::vector<Batch> batches;  // batch_samples
  Batch current;               // inputs
  Tensor num_items_in_batch;
  Tensor step_loss;  // tr_loss_step
  Tensor grad_norm;
  Scaler scaler;

  void fetch() {
    std::vector<Batch> samples;
    for (int i = 0; i < job.micro_batches; ++i) {
      const Within here(t, t.place("batch"), -1);
      samples.push_back(method.collate(job));
    }
    Tensor items = count_items(t, samples);
    batches = std::move(samples);
    num_items_in_batch = std::move(items);
  }

  void micro_batch(int step, int number) {
    current = batches[static_cast<std::size_t>(number)];
    job.step = step;
    job.micro_batch = number;
    if (method.prepare) method.prepare(job);
    t.mark(Mark::Kind::kForward, step, number);
    Tensor loss = method.compute_loss(job, current, num_items_in_batch);
    t.mark(Mark::Kind::kBackward, step, number);
    {
      const Within here(t, t.place("loss"), -1);
      Tensor divided = ops::mul_constant(t.as("loss of a micro-batch"), loss);
      t.backward(scaler.scaled(divided));
    }
    {
      const Within here(t, t.place("loss"), -1);
      const NoGrad no_grad(t);
      step_loss = t.view(loss, loss.shape(), false, false);
      loss.reset();
      t.bytes(1, "whether the loss is a number");
      Tensor magnitude = t.scratch(t.shape({1}), Dtype::kFloat32, "magnitude of the loss");
      t.bytes(1, "whether the loss is infinite");
    }
    t.mark(Mark::Kind::kBackwardEnd, step, number);
  }

  void run(int step) {
    t.mark(Mark::Kind::kBegin, step);
    fetch();
    for (int i = 0; i < job.micro_batches; ++i) micro_batch(step, i);
    grad_norm.reset();
    t.mark(Mark::Kind::kClip, step);
    scaler.unscale();
    grad_norm = clip_gradients(t, job.trainable);
    t.mark(Mark::Kind::kStep, step);
    {
      // Fused kernels are told whether to do nothing.
      Tensor told;
      if (scaler.on && is_fused(job.training())) {
        const Within here(t, t.place("gradient scaler"), -1);
        told = one(t, Dtype::kFloat32, "whether a gradient is infinite");
      }
      job.optimizer.step();
    }
    scaler.found_inf.reset();
    t.mark(Mark::Kind::kZeroGrad, step);
    job.optimizer.zero_grad();
    t.mark(Mark::Kind::kEnd, step);
  }

  // train() returns.
  void leave() {
    batches.clear();
    current = {};
    for (Tensor* held : {&num_items_in_batch, &step_loss, &grad_norm}) held->reset();
  }
};

Batch collate(Job& job) {
  Tape& t = job.t;
  Batch out;
  out.inputs.ids = t.make(job.ids_shape(), Dtype::kInt64, "token ids", Role::kInput);
  if (job.scenario.attention_mask) {
    out.inputs.attention_mask =
        t.make(job.ids_shape(), Dtype::kInt64, "attention mask", Role::kInput);
  }
  out.labels = t.make(job.ids_shape(), Dtype::kInt64, "labels", Role::kInput);
  return out;
}

// accelerate wraps the model's forward pass: 16-bit outputs become 32-bit ones under autocast.
Tensor in_32_bit(Job& job, Tensor logits) {
  if (!job.autocasts() || !logits) return logits;
  const Within here(job.t, job.t.place("loss"), -1);
  return ops::to(job.t.as("logits in 32 bit"), logits, Dtype::kFloat32);
}

// The outputs die when this returns, before the backward pass.
Tensor compute_loss(Job& job, const Batch& batch, const Tensor& num_items_in_batch) {
  Tape& t = job.t;
  Tensor loss, logits;
  if (job.training().label_smoothing_factor > 0) {
    logits = logits_under_autocast(job, batch.inputs);
    const Within here(t, t.place("loss"), -1);
    loss = ops::smoothed_loss(t, logits, num_items_in_batch);
  } else {
    models::Output output;
    {
      const Autocast autocast(t, job.autocasts(), job.autocast_dtype());
      output = models::forward(t, job.model, batch.inputs, num_items_in_batch);
    }
    logits = in_32_bit(job, std::move(output.logits));
    loss = std::move(output.loss);
  }
  if (job.evaluated_rows > 0) job.logits = std::move(logits);
  const Within here(t, t.place("loss"), -1);
  return ops::mul_constant_in_place(t, std::move(loss));
}

}  // namespace

Tensor count_items(Tape& t, const std::vector<Batch>& samples) {
  const Within here(t, t.place("num_items_in_batch"), -1);
  Tensor sum;
  for (const Batch& batch : samples) {
    if (!batch.labels) continue;  // then nothing is counted
    Tensor counted;
    {
      const Count n = batch.labels.dim(0) * (batch.labels.dim(1) - Count(1));
      Tensor counts = t.bytes(n, "labels that count");
      counted = ops::count_true(t, n, "number of labels that count");
    }
    sum = one(t, Dtype::kInt64, "number of labels that count in the step");
  }
  return sum;
}

Tensor logits_under_autocast(Job& job, const models::Inputs& inputs) {
  Tensor logits;
  {
    const Autocast autocast(job.t, job.autocasts(), job.autocast_dtype());
    logits = models::logits_of(job.t, job.model, inputs);
  }
  return in_32_bit(job, std::move(logits));
}

const Method kTransformersTrainer{collate, compute_loss};

void run_trainer(Job& job, const Method& method) {
  Tape& t = job.t;
  Loop loop{job, method,
            t,   one(t, Dtype::kFloat32, "loss so far"),
            {},  {},
            {},  {},
            {},  {t, job.training().fp16}};
  for (int step = 1; step <= kSteps; ++step) loop.run(step);
  const auto& evaluation = job.scenario.evaluate;
  if (evaluation && (evaluation->bf16_full_eval || evaluation->fp16_full_eval)) loop.leave();
  if (evaluation) evaluate(job, method);
  if (job.scenario.save) save(job);
}

}  // namespace ledger::training
