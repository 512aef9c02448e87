// Builds the model under training and hands it to the loop of its trainer.
#include "core/training/program.hpp"

#include "core/training/adapters.hpp"
#include "core/training/job.hpp"

namespace ledger::training {
namespace {

models::RunOptions options_of(const Scenario& scenario) {
  using Checkpointing = models::RunOptions::Checkpointing;
  models::RunOptions options;
  options.eager = scenario.attn_implementation == "eager";
  options.liger = scenario.training.liger_kernel_config;
  if (scenario.training.gradient_checkpointing) {
    options.input_gradients = scenario.peft.has_value();
    options.checkpointing =
        scenario.training.use_reentrant ? Checkpointing::kReentrant : Checkpointing::kNonReentrant;
  }
  return options;
}

}  // namespace

Run run(const Scenario& scenario, Workings& workings, int micro_batches) {
  Tape t(workings, scenario.device);
  Run out;
  {
    models::Decoder model;
    model.config =
        models::find_architecture(scenario.model.model_type)->configure(scenario.model, workings);
    model.options = options_of(scenario);
    models::apply_liger(model.config, model.options.liger);
    models::build(t, model, scenario.dtype);
    for (const Tensor& p : model.parameters) out.parameters += p.shape().elements().value();
    if (scenario.quantization) quantise(t, model, *scenario.quantization);
    if (scenario.peft) add_adapters(t, model, *scenario.peft);
    if (scenario.trainer == "trl" && scenario.quantization) cast_adapters(t, model);
    const std::vector<Tensor> trainable = trainable_parameters(model);
    for (const Tensor& p : trainable) out.trainable += p.shape().elements().value();
    if (scenario.peft) out.parameters += out.trainable;
    t.empty_cache();
    t.mark(Mark::Kind::kLoaded, 0);
    const bool plain = scenario.trainer == "torch";
    Optimizer optimizer(t, scenario.training,
                        plain ? one_group(trainable) : trainer_groups(t, model, trainable));
    Job job{t, scenario, model, trainable, optimizer, micro_batches};
    if (plain) {
      run_plain_loop(job);
    } else {
      run_trainer(job, scenario.trainer == "trl" ? kSupervised : kTransformersTrainer);
    }
    t.mark(Mark::Kind::kEnd, kSteps + 1);  // what follows is the end of the program
  }
  out.record = t.take_record();
  return out;
}

}  // namespace ledger::training
