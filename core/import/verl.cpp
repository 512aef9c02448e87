// verl's settings, from YAML or as overrides on a command line, by
// trainer/config/_generated_ppo_trainer.yaml at 035682e.
#include "core/import/formats.hpp"

#include <cmath>

#include "core/import/parts.hpp"
#include "core/import/reasons.hpp"

namespace ledger::pasted {
namespace {

using enum Act;
namespace why = because;

constexpr std::string_view kShared =
    "how weights are shared out in verl is not modelled; the estimate holds all of them in one "
    "process, and is higher";
constexpr std::string_view kMoved =
    "what moves to the host between phases is not modelled; the estimate keeps it on the device, "
    "and is higher";

constexpr KeyRow kKeys[] = {
    {"algorithm.adv_estimator", kOther, {}, {}, true},
    {"algorithm.*", kIgnored, {}, why::kRate, true},
    {"data.max_prompt_length", kNumber, "rl.prompt_length", "prompts are taken to be full", true},
    {"data.max_response_length", kNumber, "rl.max_completion_length",
     "completions are taken to be full", true},
    {"data.train_batch_size", kOther},
    {"data.*", kIgnored, {}, why::kData},
    {"actor_rollout_ref.model.path", kText, "model", {}, true},
    {"actor_rollout_ref.model.enable_gradient_checkpointing",
     kFlag,
     "training.gradient_checkpointing",
     {},
     true},
    {"actor_rollout_ref.model.enable_activation_offload",
     kUnsupported,
     {},
     why::kOffloadActivations,
     true},
    {"actor_rollout_ref.model.use_remove_padding",
     kIgnored,
     {},
     "sequences are taken to be full",
     true},
    {"actor_rollout_ref.model.lora_rank", kOther, {}, {}, true},
    {"actor_rollout_ref.model.lora_alpha", kIgnored, {}, why::kScale, true},
    {"actor_rollout_ref.model.target_modules", kOther, {}, {}, true},
    {"actor_rollout_ref.model.use_liger",
     kUnsupported,
     {},
     "Liger's kernels are not modelled with rl; the estimate is higher",
     true},
    {"actor_rollout_ref.model.use_fused_kernels",
     kUnsupported,
     {},
     "fused log-probabilities are not modelled; the estimate builds the logits, and is higher",
     true},
    {"actor_rollout_ref.model.override_config.attn_implementation", kOther},
    {"actor_rollout_ref.model.*", kIgnored, {}, why::kHub, true},
    {"actor_rollout_ref.actor.ppo_mini_batch_size", kOther, {}, {}, true},
    {"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu",
     kNumber,
     "training.per_device_train_batch_size",
     {},
     true},
    {"actor_rollout_ref.actor.ppo_micro_batch_size", kOther, {}, {}, true},
    {"actor_rollout_ref.actor.use_dynamic_bsz",
     kUnsupported,
     {},
     "batches by tokens are not modelled; the estimate takes the micro-batch",
     true},
    {"actor_rollout_ref.actor.ppo_max_token_len_per_gpu",
     kIgnored,
     {},
     "has an effect with use_dynamic_bsz only",
     true},
    {"actor_rollout_ref.actor.grad_clip", kNumber, "training.max_grad_norm", {}, true},
    {"actor_rollout_ref.actor.use_kl_loss", kOther, {}, {}, true},
    {"actor_rollout_ref.actor.kl_loss_coef", kOther, {}, {}, true},
    {"actor_rollout_ref.actor.ppo_epochs", kOther, {}, {}, true},
    {"actor_rollout_ref.actor.entropy_from_logits_with_chunking",
     kUnsupported,
     {},
     "the entropy in chunks is not modelled",
     true},
    {"actor_rollout_ref.actor.ulysses_sequence_parallel_size",
     kUnsupported,
     {},
     why::kSplitSequence,
     true},
    {"actor_rollout_ref.actor.strategy", kUnsupported, {}, kShared, true},
    {"actor_rollout_ref.actor.fsdp_config.param_offload", kUnsupported, {}, kMoved, true},
    {"actor_rollout_ref.actor.fsdp_config.optimizer_offload", kUnsupported, {}, kMoved, true},
    {"actor_rollout_ref.actor.fsdp_config.offload_policy", kUnsupported, {}, kMoved, true},
    {"actor_rollout_ref.actor.fsdp_config.model_dtype", kOther, {}, {}, true},
    {"actor_rollout_ref.actor.fsdp_config.*",
     kIgnored,
     {},
     "belongs to how weights are shared out",
     true},
    {"actor_rollout_ref.actor.megatron.*", kUnsupported, {}, why::kSplitModel, true},
    {"actor_rollout_ref.actor.optim.*", kIgnored, {}, why::kRate, true},
    {"actor_rollout_ref.actor.*", kIgnored, {}, why::kRate, true},
    {"actor_rollout_ref.rollout.n", kNumber, "rl.num_generations", {}, true},
    {"actor_rollout_ref.rollout.name", kUnsupported, {}, why::kEngine, true},
    {"actor_rollout_ref.rollout.gpu_memory_utilization", kUnsupported, {}, why::kEngine, true},
    {"actor_rollout_ref.rollout.tensor_model_parallel_size",
     kIgnored,
     {},
     "of the engine that generates",
     true},
    {"actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu",
     kUnsupported,
     {},
     "old log-probabilities are estimated with the training's micro-batch",
     true},
    {"actor_rollout_ref.rollout.*", kIgnored, {}, why::kGeneration, true},
    {"actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu",
     kUnsupported,
     {},
     "the reference's log-probabilities are estimated with the training's micro-batch",
     true},
    {"actor_rollout_ref.ref.fsdp_config.param_offload", kUnsupported, {}, kMoved, true},
    {"actor_rollout_ref.ref.*", kIgnored, {}, "belongs to the reference", true},
    {"actor_rollout_ref.hybrid_engine", kIgnored, {}, "actor and engine on one device", true},
    {"actor_rollout_ref.*", kIgnored, {}, why::kLaunch, true},
    {"critic.*", kOther, {}, "GRPO has no critic", true},
    {"reward_model.enable", kUnsupported, {}, "a reward model beside is not modelled"},
    {"reward_model.*", kIgnored, {}, "has an effect with reward_model.enable only"},
    {"reward*", kIgnored, {}, why::kHost},
    {"custom_reward_function*", kIgnored, {}, why::kHost, true},
    {"trainer.n_gpus_per_node", kOther, {}, {}, true},
    {"trainer.nnodes", kOther, {}, {}, true},
    {"trainer.*", kIgnored, {}, why::kLogging},
    {"global_profiler*", kIgnored, {}, why::kLogging, true},
    {"ray_*", kIgnored, {}, why::kLaunch},
    {"_target_", kIgnored, {}, why::kLaunch},
};

void finish(Sheet& sheet) {
  const std::string at = "actor_rollout_ref.";
  sheet.implied("trainer", Value::of_text("trl"), "GRPO as trl's GRPOTrainer does it");
  sheet.implied("rl.method", Value::of_text("grpo"), "GRPO as trl's GRPOTrainer does it");
  sheet.note(
      "verl has loops of its own; the estimate is of trl's GRPOTrainer at the same sizes, in "
      "one process that holds everything and generates with transformers.");
  const std::string estimator = sheet.text("algorithm.adv_estimator");
  if (estimator == "gae" || estimator.empty()) {
    sheet.unsupported("algorithm.adv_estimator",
                      "PPO's critic is not modelled; the estimate is of GRPO, and lower");
    if (!sheet.has("algorithm.adv_estimator"))
      sheet.note(
          "verl's adv_estimator is gae unless said: PPO with a critic, which is not modelled.");
  } else {
    sheet.ignored("algorithm.adv_estimator", "no critic: the same tensors as grpo");
  }
  if (!sheet.has("data.max_prompt_length"))
    sheet.implied("rl.prompt_length", Value::of_number(512), "verl's default");
  if (!sheet.has("data.max_response_length"))
    sheet.implied("rl.max_completion_length", Value::of_number(512), "verl's default");
  if (!sheet.has(at + "actor.grad_clip"))
    sheet.implied("training.max_grad_norm", Value::of_number(1), "verl's default");
  if (!sheet.has(at + "model.enable_gradient_checkpointing"))
    sheet.implied("training.gradient_checkpointing", Value::of_flag(true), "verl's default");
  const bool kl = sheet.flag(at + "actor.use_kl_loss");
  const double beta = kl ? sheet.number(at + "actor.kl_loss_coef", 0.001) : 0;
  if (sheet.has(at + "actor.use_kl_loss"))
    sheet.became(at + "actor.use_kl_loss", "rl.beta", Value::of_number(beta),
                 "above 0 a reference is kept");
  if (sheet.has(at + "actor.kl_loss_coef"))
    sheet.ignored(at + "actor.kl_loss_coef", kl ? "see use_kl_loss" : "use_kl_loss is off");
  if (sheet.has(at + "actor.ppo_epochs"))
    sheet.became(at + "actor.ppo_epochs", "rl.num_iterations",
                 Value::of_number(sheet.number(at + "actor.ppo_epochs", 1)));
  const double rank = sheet.number(at + "model.lora_rank");
  if (rank > 0) {
    sheet.became(at + "model.lora_rank", "peft.r", Value::of_number(rank));
    sheet.implied("peft.peft_type", Value::of_text("LORA"), "lora_rank is above 0");
    take_targets(sheet, at + "model.target_modules");
    if (!sheet.has(at + "model.target_modules"))
      sheet.implied("peft.target_modules", Value::of_text("all-linear"), "verl's default");
  } else if (sheet.has(at + "model.lora_rank")) {
    sheet.ignored(at + "model.lora_rank", "no adapter is asked for");
  }
  take_attention(sheet, at + "model.override_config.attn_implementation");
  const std::string dtype = dtype_named(sheet.text(at + "actor.fsdp_config.model_dtype"));
  if (!dtype.empty()) {
    sheet.became(at + "actor.fsdp_config.model_dtype", "dtype", Value::of_text(dtype));
  } else {
    sheet.implied("dtype", Value::of_text("float32"), "verl trains weights in 32 bit unless told");
  }
  sheet.implied("training.bf16", Value::of_flag(true), "verl computes in bfloat16");
  sheet.implied("training.optim", Value::of_text("adamw_torch"),
                "verl's optimizer is torch's AdamW");
  const double gpus =
      sheet.number("trainer.n_gpus_per_node", 8) * sheet.number("trainer.nnodes", 1);
  for (const std::string_view key : {"trainer.n_gpus_per_node", "trainer.nnodes"}) {
    if (sheet.has(key))
      sheet.ignored(key, "counted for the accumulation; one process is estimated");
  }
  const double n = sheet.number(at + "rollout.n", 1);
  double micro = sheet.number(at + "actor.ppo_micro_batch_size_per_gpu");
  if (micro < 1 && sheet.number(at + "actor.ppo_micro_batch_size") >= gpus && gpus >= 1) {
    micro = std::floor(sheet.number(at + "actor.ppo_micro_batch_size") / gpus);
    sheet.became(at + "actor.ppo_micro_batch_size", "training.per_device_train_batch_size",
                 Value::of_number(micro), "over all processes");
  }
  const double mini = sheet.number(at + "actor.ppo_mini_batch_size", 256);
  if (micro >= 1 && gpus >= 1 && mini >= 1 && n >= 1) {
    const double steps = std::floor(mini * n / gpus / micro);
    if (steps >= 1) {
      const std::string key = at + "actor.ppo_mini_batch_size";
      constexpr std::string_view kWorking =
          "prompts times completions, over processes and micro-batch";
      if (sheet.has(key)) {
        sheet.became(key, "training.gradient_accumulation_steps", Value::of_number(steps),
                     kWorking);
      } else {
        sheet.implied("training.gradient_accumulation_steps", Value::of_number(steps), kWorking);
      }
    }
  }
  sheet.ignored("data.train_batch_size",
                "how many prompts before weights change; each mini-batch alike");
}

}  // namespace

Format verl_format() { return {"verl", "verl settings", "verl at 035682e", kKeys, &finish}; }

}  // namespace ledger::pasted
