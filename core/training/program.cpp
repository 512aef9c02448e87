// Builds the model under training and hands it to the loop of its trainer.
#include "core/training/program.hpp"

#include <optional>

#include "core/models/generate.hpp"
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

// trl's disable_dropout, which only GRPOConfig has off.
Peft peft_of(const Scenario& scenario) {
  Peft peft = *scenario.peft;
  if (scenario.rl && scenario.rl->method != "grpo") peft.lora_dropout = 0;
  return peft;
}

// peft's modules_to_save, to which a task of classification adds the head: a copy of it is trained.
void train_own_head(Tape& t, models::Decoder& model) {
  const Within here(t, model.lm_head.place, -1);
  Tensor copy = t.parameter(model.lm_head.shape, model.lm_head.weight.dtype(), "trained copy");
  model.lm_head.weight = copy;
  model.parameters.push_back(std::move(copy));
}

// With adapters the model without them is the reference.
bool needs_reference(const Scenario& scenario) {
  if (!scenario.rl || scenario.peft) return false;
  const Rl& rl = *scenario.rl;
  if (rl.method == "grpo") return rl.beta > 0;
  return rl.method != "reward" && !rl.precompute_ref_log_probs;
}

const Method& method_of(const Scenario& scenario) {
  if (scenario.trainer == "transformers") return kTransformersTrainer;
  if (!scenario.rl) return kSupervised;
  if (scenario.rl->method == "grpo") return kPolicy;
  return scenario.rl->method == "reward" ? kReward : kPreferences;
}

// A copy of each parameter and of its gradient, both moments and a counter.
void count_offloaded(const Training& training, const std::vector<Tensor>& trainable,
                     parallel::Host& host) {
  const auto given = training.optim_args.find("cpu_offload");
  if (given == training.optim_args.end() || given->second == 0) return;
  double count = 0, elements = 0, bytes = 0;
  for (const Tensor& p : trainable) {
    const double own = p.shape().elements().value();
    if (own < kOffloadedFrom) continue;
    count += 1;
    elements += own;
    bytes += own * bytes_of(p.dtype());
  }
  host.weights = host.gradients = bytes;
  host.optimizer = 2 * bytes + 4 * count;
  host.figures = "4 copies · " + with_separators(elements > 0 ? bytes / elements : 0) + " · " +
                 with_separators(elements) + " + 4 · " + with_separators(count);
  host.source = "torchao 0.18.0 optim/cpu_offload.py: CPUOffloadOptimizer";
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
    model.scores = scenario.rl && scenario.rl->method == "reward";
    models::build(t, model, scenario.dtype);
    for (const Tensor& p : model.parameters) out.parameters += p.shape().elements().value();
    // trl's trainers wrap the model that they are given, and load the reference, themselves.
    const bool trl = scenario.rl.has_value();
    if (scenario.quantization) quantise(t, model, *scenario.quantization);
    if (trl) t.empty_cache();
    if (scenario.peft) {
      add_adapters(t, model, peft_of(scenario));
      int number = 0;
      for (const Peft& other : scenario.other_adapters) add_adapters(t, model, other, ++number);
      if (model.scores) {
        train_own_head(t, model);
        out.parameters += model.lm_head.shape.elements().value();
      }
    }
    if (scenario.trainer == "trl" && scenario.quantization) cast_adapters(t, model);
    std::vector<Tensor> trainable = trainable_parameters(model);
    for (const Tensor& p : trainable) out.trainable += p.shape().elements().value();
    if (scenario.peft) out.parameters += adapter_elements(model);
    out.generation_shortened = scenario.rl && scenario.rl->method == "grpo" &&
                               models::shortens(model.config, scenario.rl->max_completion_length);
    models::Decoder reference;
    if (needs_reference(scenario)) {
      reference.config = model.config;
      reference.options = model.options;
      reference.what = "weight of the reference";
      models::build(t, reference, scenario.dtype);
    }
    if (scenario.rl && scenario.rl->precompute_ref_log_probs) {
      Optimizer none(t, scenario.training, one_group({}));
      Job before{t, scenario, model, trainable, none, 1};
      precompute_reference(before);
    }
    std::optional<parallel::Rank> rank;
    if (scenario.parallel) {
      t.empty_cache();
      rank.emplace(t, *scenario.parallel, model, all_parameters(model), trainable);
      trainable = rank->trainable();
      out.host = rank->on_host();
    }
    Tensor positions;
    if (scenario.parallel && scenario.parallel->divides_tensors()) {
      const Within here(t, t.place("batch"), -1);
      const Shape row = t.shape({1, workings.letter(Letter::T, scenario.training.max_length)});
      positions = t.make(row, Dtype::kInt64, "position ids", Role::kInput);
    }
    t.empty_cache();  // also by Trainer, when it begins
    t.mark(Mark::Kind::kLoaded, 0);
    const bool plain = scenario.trainer == "torch";
    ParameterGroups groups =
        plain ? one_group(rank ? rank->stepped() : trainable) : trainer_groups(t, model, trainable);
    if (positions) {
      groups.first_group = rank->first_group();
      groups.redistributed = rank->redistributed();
    }
    Optimizer optimizer(t, scenario.training, std::move(groups));
    Job job{t, scenario, model, trainable, optimizer, micro_batches};
    if (reference.lm_head.weight) job.reference = &reference;
    if (rank) job.rank = &*rank;
    job.positions = std::move(positions);
    if (plain) {
      run_plain_loop(job);
    } else {
      run_trainer(job, method_of(scenario));
    }
    out.host.managed = optimizer.paged_bytes();
    if (out.host.managed > 0 && out.host.weights == 0) {
      out.host.source = "bitsandbytes functional.py: get_paged";
    }
    count_offloaded(scenario.training, trainable, out.host);
    t.mark(Mark::Kind::kEnd, kSteps + 1);  // what follows is the end of the program
  }
  out.record = t.take_record();
  return out;
}

}  // namespace ledger::training
