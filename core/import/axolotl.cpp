// Axolotl's YAML, by its schemas at 002a637 and 00564c8, utils/config at 00ce888: keys, defaults,
// and what they lead to.
#include "core/import/formats.hpp"

#include <cmath>

#include "core/import/parts.hpp"
#include "core/import/reasons.hpp"

namespace ledger::pasted {
namespace {

using enum Act;
namespace why = because;

constexpr std::string_view kSharedOut =
    "how weights are shared out over processes; it needs the number of processes";
constexpr std::string_view kFused =
    "fused kernels are not modelled; the estimate is of the library's own code, and higher";

constexpr KeyRow kKeys[] = {
    {"base_model", kText, "model", {}, true},
    {"micro_batch_size", kNumber, "training.per_device_train_batch_size", {}, true},
    {"sequence_len", kNumber, "training.max_length", "rows are taken to be full", true},
    {"gradient_accumulation_steps", kNumber, "training.gradient_accumulation_steps"},
    {"batch_size", kOther},
    {"sample_packing", kOther, {}, {}, true},
    {"batch_flattening", kOther, {}, {}, true},
    {"pad_to_sequence_len", kIgnored, {}, "rows are taken to be full anyway", true},
    {"gradient_checkpointing", kOther},
    {"gradient_checkpointing_kwargs.use_reentrant", kFlag,
     "training.gradient_checkpointing_kwargs.use_reentrant"},
    {"activation_offloading", kUnsupported, {}, why::kOffloadActivations},
    {"layer_offloading",
     kUnsupported,
     {},
     "frozen layers on the host are not modelled; the estimate keeps them on the device, and is "
     "higher"},
    {"bf16", kOther},
    {"fp16", kOther},
    {"bfloat16", kOther},
    {"float16", kOther},
    {"float32", kOther},
    {"fp8*", kUnsupported, {}, why::kFp8},
    {"tf32", kIgnored, {}, "a way to multiply 32-bit numbers; no tensor changes its size"},
    {"optimizer", kOther},
    {"optim_args", kOther},
    {"optim_target_modules", kUnsupported, {}, why::kPartlyTrained},
    {"max_grad_norm", kNumber, "training.max_grad_norm"},
    {"adapter", kOther, {}, {}, true},
    {"load_in_8bit", kOther},
    {"load_in_4bit", kOther},
    {"gptq",
     kUnsupported,
     {},
     "weights of GPTQ need the checkpoint's config.json: give it as well"},
    {"bnb_config_kwargs", kOther, {}, {}, true},
    {"lora_r", kOther},
    {"lora_alpha", kOther},
    {"lora_dropout", kOther},
    {"lora_target_modules", kOther},
    {"lora_target_linear", kOther, {}, {}, true},
    {"lora_target_parameters", kOther},
    {"lora_modules_to_save", kOther},
    {"peft_use_dora", kOther, {}, {}, true},
    {"peft_use_rslora", kOther, {}, {}, true},
    {"peft_autocast_adapter_dtype", kOther, {}, {}, true},
    {"peft_trainable_token_indices", kOther, {}, {}, true},
    {"peft_layers_to_transform",
     kUnsupported,
     {},
     "adapters on some layers only are not modelled; the estimate has them on all, and is higher"},
    {"peft.*", kUnsupported, {}, "packed weights other than bitsandbytes' are not modelled here"},
    {"lora_mlp_kernel", kUnsupported, {}, kFused, true},
    {"lora_qkv_kernel", kUnsupported, {}, kFused, true},
    {"lora_o_kernel", kUnsupported, {}, kFused, true},
    {"lora_embedding_kernel", kUnsupported, {}, kFused, true},
    {"lora_fan_in_fan_out", kIgnored, {}, "an order of the same numbers"},
    {"lora_model_dir", kIgnored, {}, "an adapter that goes on has the size of a new one"},
    {"lora_on_cpu", kIgnored, {}, "loading only"},
    {"loraplus_*", kIgnored, {}, why::kRate},
    {"peft_init_lora_weights", kIgnored, {}, "values, not sizes"},
    {"relora*", kUnsupported, {}, "restarts of adapters are not modelled; a step between two is"},
    {"unfrozen_parameters", kUnsupported, {}, why::kPartlyTrained},
    {"lisa_*", kUnsupported, {}, why::kPartlyTrained},
    {"flash_attention", kOther, {}, {}, true},
    {"sdp_attention", kOther, {}, {}, true},
    {"eager_attention", kOther, {}, {}, true},
    {"xformers_attention", kOther, {}, {}, true},
    {"flex_attention", kOther, {}, {}, true},
    {"s2_attention", kOther, {}, {}, true},
    {"sage_attention", kOther, {}, {}, true},
    {"attention", kOther},
    {"attn_implementation", kOther},
    {"flash_attn_*", kUnsupported, {}, kFused},
    {"flash_optimum", kUnsupported, {}, kFused},
    {"liger_rope", kOther, {}, {}, true},
    {"liger_rms_norm", kOther, {}, {}, true},
    {"liger_glu_activation", kOther, {}, {}, true},
    {"liger_swiglu", kOther, {}, {}, true},
    {"liger_cross_entropy", kOther, {}, {}, true},
    {"liger_fused_linear_cross_entropy", kOther, {}, {}, true},
    {"liger_layer_norm", kIgnored, {}, "the models here have no such norm"},
    {"cut_cross_entropy",
     kUnsupported,
     {},
     "its loss builds no logits, which is not modelled; the estimate builds them, and is higher",
     true},
    {"chunked_cross_entropy",
     kUnsupported,
     {},
     "its loss in chunks is not modelled; the estimate builds all logits, and is higher",
     true},
    {"unsloth_*", kUnsupported, {}, why::kUnsloth},
    {"plugins", kIgnored, {}, "their own keys say what they do"},
    {"torch_compile*", kUnsupported, {}, why::kCompiled},
    {"neftune_noise_alpha", kUnsupported, {}, why::kNoise},
    {"noisy_embedding_alpha", kUnsupported, {}, why::kNoise},
    {"auto_find_batch_size", kUnsupported, {}, why::kFindsBatch},
    {"gc_steps", kUnsupported, {}, why::kEmptyCache},
    {"resize_token_embeddings_to_32x",
     kUnsupported,
     {},
     "a larger embedding; the estimate keeps the model's own vocabulary: give config.vocab_size"},
    {"deepspeed", kNested, "deepspeed"},
    {"fsdp", kOther},
    {"fsdp_version", kOther},
    {"fsdp_config", kOther},
    {"fsdp_final_state_dict_type", kIgnored, {}, why::kSaving},
    {"ddp_bucket_cap_mb", kNumber, "parallel.bucket_cap_mb"},
    {"ddp_find_unused_parameters", kFlag, "parallel.find_unused_parameters"},
    {"ddp*", kIgnored, {}, why::kLaunch},
    {"sequence_parallel_degree", kUnsupported, {}, why::kSplitSequence},
    {"context_parallel_size", kUnsupported, {}, why::kSplitSequence},
    {"tensor_parallel_size", kUnsupported, {}, why::kSplitModel},
    {"dp_shard_size", kOther},
    {"dp_replicate_size", kOther},
    {"expert_parallel_size", kUnsupported, {}, why::kSplitModel},
    {"world_size", kOther},
    {"local_rank", kIgnored, {}, why::kLaunch},
    {"rl", kOther, {}, {}, true},
    {"rl_beta", kOther},
    {"dpo_beta", kOther},
    {"reward_model", kOther},
    {"process_reward_model", kUnsupported, {}, "process reward models are not modelled"},
    {"max_prompt_len", kOther},
    {"trl.beta", kOther},
    {"trl.max_completion_length", kOther},
    {"trl.num_generations", kOther},
    {"trl.num_iterations", kOther},
    {"trl.use_vllm", kUnsupported, {}, why::kEngine},
    {"trl.*", kIgnored, {}, why::kGeneration},
    {"vllm*", kUnsupported, {}, why::kEngine},
    {"qat*",
     kUnsupported,
     {},
     "simulated low precision is not modelled; the estimate is without it, and lower"},
    {"max_memory", kUnsupported, {}, "layers on the host are not modelled"},
    {"gpu_memory_limit",
     kUnsupported,
     {},
     "a limit while loading; say device.total_bytes for a smaller card"},
    {"low_cpu_mem_usage", kIgnored, {}, why::kHost},
    {"device_map", kIgnored, {}, "one device is taken"},
    {"device", kIgnored, {}, "one device is taken"},
    // what no tensor's size depends on
    {"base_model_config", kIgnored, {}, "the model's own configuration is taken"},
    {"base_model_ignore_patterns", kIgnored, {}, why::kHub},
    {"overrides_of_model_config", kAsIs, "config", "keys of the model's config.json"},
    {"overrides_of_model_kwargs", kIgnored, {}, "arguments of loading"},
    {"model_type", kIgnored, {}, "the class that loads the model"},
    {"type_of_model", kIgnored, {}, "the class that loads the model"},
    {"cls_model_config", kIgnored, {}, "the class that reads the configuration"},
    {"is_*_derived_model", kIgnored, {}, "the model's own type is taken"},
    {"is_falcon_derived_model", kIgnored, {}, "the model's own type is taken"},
    {"is_llama_derived_model", kIgnored, {}, "the model's own type is taken"},
    {"is_mistral_derived_model", kIgnored, {}, "the model's own type is taken"},
    {"is_qwen_derived_model", kIgnored, {}, "the model's own type is taken"},
    {"revision_of_model", kIgnored, {}, why::kHub},
    {"trust_remote_code", kIgnored, {}, "transformers' own code is modelled"},
    {"tokenizer*", kIgnored, {}, why::kTokenizer},
    {"processor_type", kIgnored, {}, why::kTokenizer},
    {"special_tokens*", kIgnored, {}, why::kTokenizer},
    {"tokens", kIgnored, {}, why::kTokenizer},
    {"added_tokens_overrides", kIgnored, {}, why::kTokenizer},
    {"eot_tokens", kIgnored, {}, why::kTokenizer},
    {"chat_template*", kIgnored, {}, why::kTokenizer},
    {"default_system_message", kIgnored, {}, why::kTokenizer},
    {"datasets", kIgnored, {}, why::kData},
    {"test_datasets", kIgnored, {}, why::kData},
    {"pretraining_dataset", kIgnored, {}, why::kData},
    {"dataset*", kIgnored, {}, why::kData},
    {"shuffle_*", kIgnored, {}, why::kData},
    {"streaming*", kIgnored, {}, why::kData},
    {"skip_prepare_dataset", kIgnored, {}, why::kData},
    {"remove_unused_columns", kIgnored, {}, why::kData},
    {"min_sample_len", kIgnored, {}, why::kData},
    {"excess_length_strategy", kIgnored, {}, why::kData},
    {"sample_packing_*", kIgnored, {}, "how samples are put into rows, which are full either way"},
    {"eval_sample_packing", kIgnored, {}, why::kEvaluating},
    {"multipack_real_batches", kIgnored, {}, "the same number of tokens, in one row or in several"},
    {"group_by_length", kIgnored, {}, "the longest batch decides"},
    {"curriculum_sampling", kIgnored, {}, "the longest batch decides"},
    {"train_on_inputs", kIgnored, {}, why::kMasked},
    {"roles_to_train", kIgnored, {}, why::kMasked},
    {"val_set_size", kIgnored, {}, why::kEvaluating},
    {"eval*", kIgnored, {}, why::kEvaluating},
    {"do_*", kIgnored, {}, why::kEvaluating},
    {"bench_*", kIgnored, {}, why::kEvaluating},
    {"early_stopping_patience", kIgnored, {}, why::kDuration},
    {"metric_for_best_model", kIgnored, {}, why::kEvaluating},
    {"greater_is_better", kIgnored, {}, why::kEvaluating},
    {"load_best_model_at_end", kIgnored, {}, why::kSaving},
    {"output_dir", kIgnored, {}, why::kOutput},
    {"hub_*", kIgnored, {}, why::kOutput},
    {"push_*", kIgnored, {}, why::kOutput},
    {"hf_*", kIgnored, {}, why::kHub},
    {"wandb_*", kIgnored, {}, why::kLogging},
    {"use_wandb", kIgnored, {}, why::kLogging},
    {"mlflow_*", kIgnored, {}, why::kLogging},
    {"use_mlflow", kIgnored, {}, why::kLogging},
    {"comet_*", kIgnored, {}, why::kLogging},
    {"use_comet", kIgnored, {}, why::kLogging},
    {"use_tensorboard", kIgnored, {}, why::kLogging},
    {"use_otel_metrics", kIgnored, {}, why::kLogging},
    {"otel_*", kIgnored, {}, why::kLogging},
    {"gradio_*", kIgnored, {}, why::kHost},
    {"ray_*", kIgnored, {}, why::kLaunch},
    {"use_ray", kIgnored, {}, why::kLaunch},
    {"resources_per_worker", kIgnored, {}, why::kLaunch},
    {"logging_*", kIgnored, {}, why::kLogging},
    {"include_tokens_per_second", kIgnored, {}, why::kLogging},
    {"include_tkps", kIgnored, {}, why::kLogging},
    {"profiler_steps", kIgnored, {}, why::kLogging},
    {"loss_watchdog_*", kIgnored, {}, why::kLogging},
    {"save*", kIgnored, {}, why::kSaving},
    {"resume_from_checkpoint", kIgnored, {}, "a run that goes on has the sizes of a new one"},
    {"auto_resume_from_checkpoints", kIgnored, {}, "a run that goes on has the sizes of a new one"},
    {"num_epochs", kIgnored, {}, why::kDuration},
    {"max_steps", kIgnored, {}, why::kDuration},
    {"warmup_*", kIgnored, {}, why::kRate},
    {"learning_rate", kIgnored, {}, why::kRate},
    {"embedding_lr*", kIgnored, {}, why::kRate},
    {"lr_*", kIgnored, {}, why::kRate},
    {"cosine_*", kIgnored, {}, why::kRate},
    {"weight_decay", kIgnored, {}, why::kRate},
    {"adam_*", kIgnored, {}, why::kRate},
    {"orpo_alpha", kIgnored, {}, why::kRate},
    {"simpo_gamma", kIgnored, {}, why::kRate},
    {"cpo_alpha", kIgnored, {}, why::kRate},
    {"kto_*", kIgnored, {}, why::kRate},
    {"dataloader_*", kIgnored, {}, why::kHost},
    {"accelerator_config", kIgnored, {}, why::kHost},
    {"seed", kIgnored, {}, why::kSeed},
    {"strict", kIgnored, {}, "how the file is checked"},
    {"debug", kIgnored, {}, why::kLogging},
    {"fix_untrained_tokens", kIgnored, {}, "values, not sizes"},
    {"mean_resizing_embeddings", kIgnored, {}, "values, not sizes"},
    {"embeddings_skip_upcast", kIgnored, {}, "the types end up the same"},
    {"axolotl_config_path", kIgnored, {}, why::kOutput},
};

constexpr LoraKeys kLora = {"lora_r",
                            "lora_alpha",
                            "lora_dropout",
                            "lora_target_modules",
                            "lora_modules_to_save",
                            "peft_use_dora",
                            "peft_use_rslora"};

// axolotl/utils/config resolve_dtype: bf16 is "auto" unless said, and weights have the type of
// autocast.
void settle_types(Sheet& sheet) {
  const Value* bf16 = sheet.at("bf16");
  const bool fp16 = sheet.flag("fp16");
  const bool takes_bf16 =
      (!bf16 || is_auto(bf16)) ? !fp16 && !sheet.flag("float16") : sheet.flag("bf16");
  const bool pure_bf16 = sheet.flag("bfloat16"), pure_fp16 = sheet.flag("float16");
  const char* dtype = takes_bf16 || pure_bf16                           ? "bfloat16"
                      : fp16 || pure_fp16 || sheet.flag("load_in_8bit") ? "float16"
                                                                        : "float32";
  const std::string_view reason =
      "autocast, and Axolotl loads the weights in the same type (resolve_dtype)";
  if (bf16) {
    sheet.became("bf16", "training.bf16", Value::of_flag(takes_bf16), reason);
  } else if (takes_bf16) {
    sheet.implied("training.bf16", Value::of_flag(true), "Axolotl's bf16 is \"auto\" unless said");
  }
  if (sheet.has("fp16"))
    sheet.became("fp16", "training.fp16", Value::of_flag(fp16 && !takes_bf16), reason);
  for (const std::string_view key : {"bfloat16", "float16"}) {
    if (sheet.flag(key))
      sheet.became(key, "dtype", Value::of_text(dtype), "weights without autocast");
  }
  sheet.implied("dtype", Value::of_text(dtype), "Axolotl's type of the weights, by bf16 and fp16");
}

void settle_adapter(Sheet& sheet, const char* dtype) {
  const std::string adapter = sheet.text("adapter");
  const bool four = sheet.flag("load_in_4bit") || adapter == "qlora";
  const bool eight = sheet.flag("load_in_8bit");
  if (adapter.empty()) {
    pass_over_lora(sheet, kLora, "no adapter is asked for: adapter is empty");
    sheet.ignored("lora_target_linear", "no adapter is asked for: adapter is empty");
    for (const std::string_view key : {"load_in_4bit", "load_in_8bit"}) {
      if (!sheet.has(key)) continue;
      if (sheet.flag(key)) {
        sheet.unsupported(key, "Axolotl refuses packed weights without an adapter");
      } else {
        sheet.ignored(key, "weights are not packed");
      }
    }
    return;
  }
  if (adapter != "lora" && adapter != "qlora") {
    sheet.unsupported(
        "adapter", "this adapter is not modelled; the estimate trains all weights, and is higher");
    return;
  }
  sheet.became("adapter", "peft.peft_type", Value::of_text("LORA"));
  take_lora(sheet, kLora);
  if (!sheet.has("lora_r")) sheet.implied("peft.r", Value::of_number(8), "peft's r unless said");
  if (sheet.flag("lora_target_linear")) {
    sheet.became("lora_target_linear", "peft.target_modules", Value::of_text("all-linear"),
                 "all linear modules but the head");
  } else if (sheet.has("lora_target_linear")) {
    sheet.ignored("lora_target_linear", "lora_target_modules says which");
  }
  if (const auto names = words(sheet.at("lora_target_parameters")); !names.empty())
    sheet.became("lora_target_parameters", "peft.target_parameters", list_of(names));
  if (sheet.has("peft_autocast_adapter_dtype"))
    sheet.became("peft_autocast_adapter_dtype", "peft.autocast_adapter_dtype",
                 Value::of_flag(sheet.flag("peft_autocast_adapter_dtype")));
  if (const Value* rows = sheet.at("peft_trainable_token_indices"))
    sheet.became("peft_trainable_token_indices", "peft.trainable_token_indices", *rows);
  if (!four && !eight) {
    sheet.ignored("load_in_4bit", "weights are not packed");
    sheet.ignored("load_in_8bit", "weights are not packed");
    return;
  }
  if (four) {
    sheet.became("load_in_4bit", "quantization.load_in_4bit", Value::of_flag(true));
    if (!sheet.has("load_in_4bit"))
      sheet.implied("quantization.load_in_4bit", Value::of_flag(true), "adapter is qlora");
    sheet.ignored("load_in_8bit", "four bits are asked for");
    constexpr std::string_view kOwn = "Axolotl's BitsAndBytesConfig";
    sheet.implied("quantization.bnb_4bit_quant_type", Value::of_text("nf4"), kOwn);
    sheet.implied("quantization.bnb_4bit_use_double_quant", Value::of_flag(true), kOwn);
    sheet.implied("quantization.bnb_4bit_compute_dtype", Value::of_text(dtype), kOwn);
    if (const Value* own = sheet.at("bnb_config_kwargs"); own && own->is(Kind::kObject)) {
      for (const json::Member& member : own->members)
        sheet.became("bnb_config_kwargs", "quantization." + member.key, member.value);
    }
  } else {
    sheet.became("load_in_8bit", "quantization.load_in_8bit", Value::of_flag(true));
    sheet.ignored("load_in_4bit", "eight bits are asked for");
  }
  sheet.implied("quantization.prepare_model_for_kbit_training", Value::of_flag(false),
                "Axolotl converts norms and embeddings back to the weights' type after "
                "prepare_model_for_kbit_training");
}

void settle_attention(Sheet& sheet) {
  if (sheet.flag("flash_attention"))
    sheet.became("flash_attention", "attn_implementation", Value::of_text("sdpa"),
                 why::kFlashAttention);
  if (sheet.flag("sdp_attention"))
    sheet.became("sdp_attention", "attn_implementation", Value::of_text("sdpa"));
  if (sheet.flag("eager_attention"))
    sheet.became("eager_attention", "attn_implementation", Value::of_text("eager"));
  for (const std::string_view key :
       {"xformers_attention", "flex_attention", "s2_attention", "sage_attention"}) {
    if (sheet.flag(key))
      sheet.unsupported(key, "this attention is not modelled; the estimate takes sdpa");
  }
  for (const std::string_view key :
       {"flash_attention", "sdp_attention", "eager_attention", "xformers_attention",
        "flex_attention", "s2_attention", "sage_attention"}) {
    if (sheet.has(key) && !sheet.flag(key)) sheet.ignored(key, "asks for nothing");
  }
  take_attention(sheet, "attention");
  take_attention(sheet, "attn_implementation");
}

void settle_liger(Sheet& sheet) {
  struct Kernel {
    std::string_view key, name;
  };
  constexpr Kernel kKernels[] = {
      {"liger_rope", "rope"},
      {"liger_rms_norm", "rms_norm"},
      {"liger_glu_activation", "swiglu"},
      {"liger_swiglu", "swiglu"},
      {"liger_cross_entropy", "cross_entropy"},
      {"liger_fused_linear_cross_entropy", "fused_linear_cross_entropy"}};
  bool any = false;
  for (const Kernel& kernel : kKernels) any = any || sheet.has(kernel.key);
  if (!any) return;
  // The plugin applies those that are named, and no other.
  for (const std::string_view name :
       {"rope", "rms_norm", "swiglu", "cross_entropy", "fused_linear_cross_entropy"}) {
    sheet.implied("training.liger_kernel_config." + std::string(name), Value::of_flag(false),
                  "Axolotl's Liger plugin applies the kernels that are named");
  }
  sheet.implied("training.use_liger_kernel", Value::of_flag(true), "kernels of Liger are named");
  for (const Kernel& kernel : kKernels) {
    if (sheet.has(kernel.key))
      sheet.became(kernel.key, "training.liger_kernel_config." + std::string(kernel.name),
                   Value::of_flag(sheet.flag(kernel.key)));
  }
}

void settle_sharing(Sheet& sheet) {
  take_world(sheet, "world_size", {});
  for (const std::string_view key : {"dp_shard_size", "dp_replicate_size"}) {
    if (sheet.has(key)) sheet.unsupported(key, kSharedOut);
  }
  const Value* config = sheet.at("fsdp_config");
  if (!config && !sheet.has("fsdp")) return;
  const auto either = [&](std::string_view name) {
    const std::string plain = "fsdp_config." + std::string(name);
    const std::string prefixed = "fsdp_config.fsdp_" + std::string(name);
    return sheet.has(plain) ? plain : prefixed;
  };
  Together& together = sheet.all.together;
  const bool second = sheet.number("fsdp_version") == 2 ||
                      sheet.number("fsdp_config.fsdp_version") == 2 ||
                      sheet.number("fsdp_config.version") == 2;
  together.strategy = second ? "fsdp2" : "fsdp1";
  together.strategy_key = sheet.key_of(config ? "fsdp_config" : "fsdp");
  for (const std::string_view key : {"fsdp", "fsdp_config", "fsdp_version"})
    sheet.unsupported(key, kSharedOut);
  for (const auto& [name, to] :
       {std::pair{"reshard_after_forward", "parallel.reshard_after_forward"},
        std::pair{"offload_params", "parallel.offload_params"}}) {
    const std::string key = either(name);
    if (sheet.has(key))
      together.options.push_back(
          {to, Value::of_flag(sheet.flag(key)), Setting::kGiven, together.strategy_key, {}});
  }
}

void settle_rl(Sheet& sheet) {
  const std::string rl = sheet.text("rl");
  const bool reward = sheet.flag("reward_model");
  if (rl.empty() && !reward) {
    sheet.implied("trainer", Value::of_text("transformers"),
                  "Axolotl trains with transformers' Trainer");
    sheet.ignored("max_prompt_len", "has an effect with rl only");
    return;
  }
  sheet.implied("trainer", Value::of_text("trl"), "Axolotl trains so with trl's trainers");
  const std::string_view key = reward ? "reward_model" : "rl";
  if (reward || rl == "dpo" || rl == "kto" || rl == "grpo") {
    sheet.became(key, "rl.method", Value::of_text(reward ? "reward" : rl));
  } else if (rl == "ipo") {
    sheet.became(key, "rl.method", Value::of_text("dpo"), "trl's DPOTrainer with another loss");
  } else {
    sheet.unsupported(key,
                      "this method is not modelled; the estimate is of supervised fine-tuning "
                      "with one sequence a sample, and lower");
    return;
  }
  if (rl != "grpo") {
    sheet.ignored("rl_beta", why::kRate);
    sheet.ignored("dpo_beta", why::kRate);
    return;
  }
  for (const std::string_view name :
       {"beta", "max_completion_length", "num_generations", "num_iterations"}) {
    const std::string from = "trl." + std::string(name);
    if (sheet.has(from))
      sheet.became(from, "rl." + std::string(name), Value::of_number(sheet.number(from)));
  }
  if (sheet.has("max_prompt_len"))
    sheet.became("max_prompt_len", "rl.prompt_length",
                 Value::of_number(sheet.number("max_prompt_len")));
}

void finish(Sheet& sheet) {
  const double micro = sheet.number("micro_batch_size", 1);
  if (!sheet.has("micro_batch_size"))
    sheet.implied("training.per_device_train_batch_size", Value::of_number(1), "Axolotl's default");
  if (!sheet.has("sequence_len"))
    sheet.implied("training.max_length", Value::of_number(512), "Axolotl's default");
  if (sheet.has("batch_size")) {
    // normalize_config divides by the micro-batch alone.
    const double steps = micro >= 1 ? std::floor(sheet.number("batch_size") / micro) : 0;
    if (steps >= 1)
      sheet.became("batch_size", "training.gradient_accumulation_steps", Value::of_number(steps),
                   "batch_size over micro_batch_size");
  }
  const std::string packed =
      "rows are full either way; samples in one row keep the same sizes as one sample that fills "
      "it";
  if (sheet.has("sample_packing")) sheet.ignored("sample_packing", packed);
  if (sheet.has("batch_flattening")) sheet.ignored("batch_flattening", packed);
  const Value* checkpointing = sheet.at("gradient_checkpointing");
  if (checkpointing) {
    bool on = false;
    if (is_flag(*checkpointing, on)) {
      sheet.became("gradient_checkpointing", "training.gradient_checkpointing", Value::of_flag(on));
    } else {
      sheet.became("gradient_checkpointing", "training.gradient_checkpointing",
                   Value::of_flag(true), why::kOffloadActivations);
      on = true;
    }
    if (on && !sheet.has("rl") && !sheet.has("unfrozen_parameters") &&
        !sheet.has("gradient_checkpointing_kwargs"))
      sheet.implied("training.gradient_checkpointing_kwargs.use_reentrant", Value::of_flag(true),
                    "Axolotl's default (normalize_config)");
  }
  take_optimizer(sheet, "optimizer");
  take_optimizer_arguments(sheet, "optim_args");
  settle_types(sheet);
  std::string dtype = "bfloat16";
  for (const Setting& setting : sheet.all.settings) {
    if (setting.path == "dtype") dtype = setting.value.text;
  }
  settle_adapter(sheet, dtype.c_str());
  settle_attention(sheet);
  settle_liger(sheet);
  settle_sharing(sheet);
  settle_rl(sheet);
}

}  // namespace

Format axolotl_format() {
  return {"axolotl", "Axolotl YAML", "Axolotl at 002a637", kKeys, &finish};
}

}  // namespace ledger::pasted
