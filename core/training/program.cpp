// A plain training loop in PyTorch, statement by statement: forward, backward, step, zero_grad.
#include "core/training/program.hpp"

#include "core/ops/elementwise.hpp"
#include "core/training/adapters.hpp"
#include "core/training/optimizers.hpp"

namespace ledger::training {
namespace {

constexpr int kSteps = 2;  // the second is the steady state: optimizer state exists when it begins

models::RunOptions options_of(const Scenario& scenario) {
  using Checkpointing = models::RunOptions::Checkpointing;
  models::RunOptions options;
  options.eager = scenario.attn_implementation == "eager";
  if (scenario.training.gradient_checkpointing) {
    options.input_gradients = scenario.peft.has_value();
    options.checkpointing =
        scenario.training.use_reentrant ? Checkpointing::kReentrant : Checkpointing::kNonReentrant;
  }
  return options;
}

struct Loop {
  Tape& t;
  const Scenario& scenario;
  const models::Decoder& model;
  const std::vector<Tensor>& trainable;
  Optimizer& optimizer;
  Shape ids_shape;
  int micro_batches;  // of one step
  Tensor ids, attention_mask;
  Tensor kept_loss;  // held by the model's output object

  models::Output forward() {
    const Training& training = scenario.training;
    const bool autocast_on = training.bf16 || training.fp16;
    const Autocast autocast(t, autocast_on, training.fp16 ? Dtype::kFloat16 : Dtype::kBFloat16);
    models::Output output = models::forward(t, model, ids, attention_mask);
    if (scenario.keep_outputs) kept_loss = output.loss;
    if (training.gradient_accumulation_steps > 1) {
      output.loss = ops::mul_constant(t.as("loss of a micro-batch"), output.loss);
    }
    if (!scenario.keep_outputs) output.logits.reset();
    return output;
  }

  void micro_batch(int step, int number) {
    {
      const Within here(t, t.place("batch"), -1);
      ids = t.make(ids_shape, Dtype::kInt64, "token ids", Role::kInput);
      if (scenario.attention_mask) {
        attention_mask = t.make(ids_shape, Dtype::kInt64, "attention mask", Role::kInput);
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
    for (int i = 0; i < micro_batches; ++i) micro_batch(step, i);
    if (scenario.training.max_grad_norm > 0) {
      t.mark(Mark::Kind::kClip, step);
      clip_gradients(t, trainable);
    }
    t.mark(Mark::Kind::kStep, step);
    optimizer.step();
    t.mark(Mark::Kind::kZeroGrad, step);
    optimizer.zero_grad();
    ids.reset();
    attention_mask.reset();
    t.mark(Mark::Kind::kEnd, step);
  }
};

}  // namespace

Run run(const Scenario& scenario, Workings& workings, int micro_batches) {
  Tape t(workings, scenario.device);
  Run out;
  {
    models::Decoder model;
    model.config =
        models::find_architecture(scenario.model.model_type)->configure(scenario.model, workings);
    model.options = options_of(scenario);
    models::build(t, model, scenario.dtype);
    for (const Tensor& p : model.parameters) out.parameters += p.shape().elements().value();
    if (scenario.quantization) quantise(t, model, *scenario.quantization);
    if (scenario.peft) add_adapters(t, model, *scenario.peft);
    const std::vector<Tensor> trainable = trainable_parameters(model);
    for (const Tensor& p : trainable) out.trainable += p.shape().elements().value();
    if (scenario.peft) out.parameters += out.trainable;
    t.empty_cache();
    t.mark(Mark::Kind::kLoaded, 0);
    Optimizer optimizer(t, scenario.training, trainable);
    const Training& training = scenario.training;
    const Shape ids = t.shape({workings.letter(Letter::B, training.per_device_train_batch_size),
                               workings.letter(Letter::T, training.max_length)});
    Loop loop{t, scenario, model, trainable, optimizer, ids, micro_batches, {}, {}, {}};
    for (int step = 1; step <= kSteps; ++step) loop.step(step);
    t.mark(Mark::Kind::kEnd, kSteps + 1);  // what follows is the end of the program
  }
  out.record = t.take_record();
  return out;
}

}  // namespace ledger::training
