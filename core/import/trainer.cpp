// transformers' TrainingArguments and trl's SFTConfig, DPOConfig, KTOConfig, RewardConfig,
// GRPOConfig and ModelConfig, of transformers 5.18 and trl 1.16; also the arguments of the usual
// training scripts.
#include "core/import/formats.hpp"
#include "core/import/parts.hpp"
#include "core/import/reasons.hpp"
#include "core/nearest.hpp"

namespace ledger::pasted {
namespace {

using enum Act;
namespace why = because;

constexpr std::string_view kFull = "rows are taken to be full";

constexpr KeyRow kKeys[] = {
    {"model_name_or_path", kText, "model"},
    {"model_name", kText, "model"},
    {"model_id", kText, "model"},
    {"model", kOther},
    {"per_device_train_batch_size", kNumber, "training.per_device_train_batch_size", {}, true},
    {"per_gpu_train_batch_size", kNumber, "training.per_device_train_batch_size"},
    {"gradient_accumulation_steps", kNumber, "training.gradient_accumulation_steps"},
    {"max_length", kOther},
    {"max_seq_length", kNumber, "training.max_length", kFull},
    {"max_seq_len", kNumber, "training.max_length", kFull},
    {"block_size", kNumber, "training.max_length", kFull},
    {"model_max_length", kNumber, "training.max_length", kFull},
    {"gradient_checkpointing", kFlag, "training.gradient_checkpointing"},
    {"gradient_checkpointing_kwargs.use_reentrant", kFlag,
     "training.gradient_checkpointing_kwargs.use_reentrant"},
    {"gradient_checkpointing_kwargs", kOther},
    {"bf16", kFlag, "training.bf16", "autocast"},
    {"fp16", kFlag, "training.fp16", "autocast"},
    {"tf32", kIgnored, {}, "a way to multiply 32-bit numbers; no tensor changes its size"},
    {"optim", kOther},
    {"optim_args", kOther},
    {"optim_target_modules", kUnsupported, {}, why::kPartlyTrained},
    {"max_grad_norm", kNumber, "training.max_grad_norm"},
    {"label_smoothing_factor", kNumber, "training.label_smoothing_factor"},
    {"use_liger_kernel", kFlag, "training.use_liger_kernel"},
    {"use_liger", kFlag, "training.use_liger_kernel"},
    {"liger_kernel_config", kAsIs, "training.liger_kernel_config"},
    {"loss_type", kOther},
    {"packing", kOther},
    {"packing_strategy", kOther},
    {"padding_free", kOther},
    {"pad_to_multiple_of", kIgnored, {}, kFull},
    {"attn_implementation", kOther},
    {"use_flash_attention_2", kOther},
    {"dtype", kOther},
    {"torch_dtype", kOther},
    {"model_init_kwargs.dtype", kOther},
    {"model_init_kwargs.torch_dtype", kOther},
    {"model_init_kwargs.attn_implementation", kOther},
    {"model_init_kwargs*", kIgnored, {}, "arguments of loading"},
    {"use_peft", kOther},
    {"use_lora", kOther},
    {"use_qlora", kOther},
    {"lora_r", kOther},
    {"lora_rank", kOther},
    {"lora_alpha", kOther},
    {"lora_dropout", kOther},
    {"lora_target_modules", kOther},
    {"lora_target_parameters", kOther},
    {"lora_modules_to_save", kOther},
    {"lora_task_type", kIgnored, {}, "names the kind of model"},
    {"use_dora", kOther},
    {"use_rslora", kOther},
    {"load_in_4bit", kOther},
    {"load_in_8bit", kOther},
    {"bnb_4bit_quant_type", kOther},
    {"use_bnb_nested_quant", kOther},
    {"bnb_4bit_use_double_quant", kOther},
    {"bnb_4bit_compute_dtype", kOther},
    {"bnb_4bit_quant_storage", kIgnored, {}, "the same bytes under another name"},
    {"neftune_noise_alpha", kUnsupported, {}, why::kNoise},
    {"torch_compile*", kUnsupported, {}, why::kCompiled},
    {"torch_empty_cache_steps", kUnsupported, {}, why::kEmptyCache},
    {"auto_find_batch_size", kUnsupported, {}, why::kFindsBatch},
    {"activation_offloading", kUnsupported, {}, why::kOffloadActivations},
    {"use_cpu", kUnsupported, {}, "a device is taken"},
    {"no_cuda", kUnsupported, {}, "a device is taken"},
    {"deepspeed", kNested, "deepspeed"},
    {"fsdp", kOther},
    {"fsdp_config", kOther},
    {"fsdp_transformer_layer_cls_to_wrap", kIgnored, {}, "the model's own layers"},
    {"parallelism_config*", kUnsupported, {}, why::kSplitModel},
    {"ddp_find_unused_parameters", kFlag, "parallel.find_unused_parameters"},
    {"ddp_bucket_cap_mb", kNumber, "parallel.bucket_cap_mb"},
    {"ddp_static_graph", kFlag, "parallel.static_graph"},
    {"ddp_*", kIgnored, {}, why::kLaunch},
    // of trl's trainers by preferences and rewards
    {"beta", kOther},
    {"max_prompt_length", kOther},
    {"max_completion_length", kOther},
    {"precompute_ref_log_probs", kOther},
    {"num_generations", kOther, {}, {}, true},
    {"num_generations_eval", kIgnored, {}, why::kEvaluating},
    {"num_iterations", kOther},
    {"steps_per_generation", kOther},
    {"generation_batch_size", kOther},
    {"desirable_weight", kOther},
    {"undesirable_weight", kOther},
    {"center_rewards_coefficient", kOther},
    {"disable_dropout", kIgnored, {}, "the models here have no dropout"},
    {"sync_ref_model", kUnsupported, {}, "a reference that follows the model is a second one"},
    {"use_vllm", kUnsupported, {}, why::kEngine, true},
    {"vllm_*", kIgnored, {}, "of the engine that generates: see use_vllm"},
    {"cast_lm_head_to_fp32", kUnsupported, {}, "a head in 32 bit is not modelled"},
    {"use_transformers_paged", kUnsupported, {}, why::kEngine},
    {"router_aux_loss_coef", kUnsupported, {}, "the routers' loss is not modelled; it is small"},
    {"temperature", kIgnored, {}, why::kGeneration},
    {"top_p", kIgnored, {}, why::kGeneration},
    {"top_k", kIgnored, {}, why::kGeneration},
    {"min_p", kIgnored, {}, why::kGeneration},
    {"repetition_penalty", kIgnored, {}, why::kGeneration},
    {"generation_*", kIgnored, {}, why::kGeneration},
    {"cache_implementation", kUnsupported, {}, "the cache is taken to grow with the tokens"},
    {"epsilon*", kIgnored, {}, why::kRate},
    {"delta", kIgnored, {}, why::kRate},
    {"reward_*", kIgnored, {}, why::kRate},
    {"scale_rewards", kIgnored, {}, why::kRate},
    {"importance_sampling_level", kIgnored, {}, why::kRate},
    {"mask_truncated_completions", kIgnored, {}, why::kMasked},
    {"label_smoothing", kIgnored, {}, why::kRate},
    {"rpo_alpha", kIgnored, {}, why::kRate},
    {"ref_model_*", kIgnored, {}, "see sync_ref_model"},
    {"log_completions", kIgnored, {}, why::kLogging},
    {"num_completions_to_print", kIgnored, {}, why::kLogging},
    // what no tensor's size depends on
    {"output_dir", kIgnored, {}, why::kOutput},
    {"overwrite_output_dir", kIgnored, {}, why::kOutput},
    {"run_name", kIgnored, {}, why::kLogging},
    {"project", kIgnored, {}, why::kLogging},
    {"trackio_*", kIgnored, {}, why::kLogging},
    {"report_to", kIgnored, {}, why::kLogging},
    {"logging_*", kIgnored, {}, why::kLogging},
    {"log_*", kIgnored, {}, why::kLogging},
    {"disable_tqdm", kIgnored, {}, why::kLogging},
    {"include_*", kIgnored, {}, why::kLogging},
    {"skip_memory_metrics", kIgnored, {}, why::kLogging},
    {"debug", kIgnored, {}, why::kLogging},
    {"learning_rate", kIgnored, {}, why::kRate},
    {"lr_scheduler_*", kIgnored, {}, why::kRate},
    {"warmup_*", kIgnored, {}, why::kRate},
    {"weight_decay", kIgnored, {}, why::kRate},
    {"adam_*", kIgnored, {}, why::kRate},
    {"num_train_epochs", kIgnored, {}, why::kDuration},
    {"max_steps", kIgnored, {}, why::kDuration},
    {"do_train", kIgnored, {}, "training is taken"},
    {"do_eval", kIgnored, {}, why::kEvaluating},
    {"do_predict", kIgnored, {}, why::kEvaluating},
    {"eval*", kIgnored, {}, why::kEvaluating},
    {"per_device_eval_batch_size", kIgnored, {}, why::kEvaluating},
    {"per_gpu_eval_batch_size", kIgnored, {}, why::kEvaluating},
    {"prediction_loss_only", kIgnored, {}, why::kEvaluating},
    {"bf16_full_eval", kIgnored, {}, why::kEvaluating},
    {"fp16_full_eval", kIgnored, {}, why::kEvaluating},
    {"batch_eval_metrics", kIgnored, {}, why::kEvaluating},
    {"metric_for_best_model", kIgnored, {}, why::kEvaluating},
    {"greater_is_better", kIgnored, {}, why::kEvaluating},
    {"load_best_model_at_end", kIgnored, {}, why::kSaving},
    {"save_*", kIgnored, {}, why::kSaving},
    {"resume_from_checkpoint", kIgnored, {}, "a run that goes on has the sizes of a new one"},
    {"ignore_data_skip", kIgnored, {}, why::kData},
    {"restore_callback_states_from_checkpoint", kIgnored, {}, why::kSaving},
    {"push_to_hub*", kIgnored, {}, why::kOutput},
    {"hub_*", kIgnored, {}, why::kOutput},
    {"seed", kIgnored, {}, why::kSeed},
    {"data_seed", kIgnored, {}, why::kSeed},
    {"full_determinism", kIgnored, {}, why::kSeed},
    {"dataloader_*", kIgnored, {}, why::kHost},
    {"accelerator_config*", kIgnored, {}, why::kHost},
    {"remove_unused_columns", kIgnored, {}, why::kData},
    {"label_names", kIgnored, {}, why::kData},
    {"group_by_length", kIgnored, {}, "the longest batch decides"},
    {"train_sampling_strategy", kIgnored, {}, "the longest batch decides"},
    {"length_column_name", kIgnored, {}, why::kData},
    {"average_tokens_across_devices", kIgnored, {}, why::kRate},
    {"use_cache", kIgnored, {}, "training keeps no cache"},
    {"dataset*", kIgnored, {}, why::kData},
    {"data_path", kIgnored, {}, why::kData},
    {"train_file", kIgnored, {}, why::kData},
    {"validation_*", kIgnored, {}, why::kData},
    {"max_train_samples", kIgnored, {}, why::kData},
    {"max_eval_samples", kIgnored, {}, why::kEvaluating},
    {"preprocessing_num_workers", kIgnored, {}, why::kHost},
    {"overwrite_cache", kIgnored, {}, why::kHost},
    {"streaming", kIgnored, {}, why::kData},
    {"shuffle_dataset", kIgnored, {}, why::kData},
    {"truncation_mode", kIgnored, {}, why::kData},
    {"completion_only_loss", kIgnored, {}, why::kMasked},
    {"assistant_only_loss", kIgnored, {}, why::kMasked},
    {"eval_packing", kIgnored, {}, why::kEvaluating},
    {"chat_template*", kIgnored, {}, why::kTokenizer},
    {"tokenizer_*", kIgnored, {}, why::kTokenizer},
    {"eos_token", kIgnored, {}, why::kTokenizer},
    {"pad_token", kIgnored, {}, why::kTokenizer},
    {"use_fast_tokenizer", kIgnored, {}, why::kTokenizer},
    {"trust_remote_code", kIgnored, {}, "transformers' own code is modelled"},
    {"model_revision", kIgnored, {}, why::kHub},
    {"token", kIgnored, {}, why::kHub},
    {"cache_dir", kIgnored, {}, why::kHub},
    {"low_cpu_mem_usage", kIgnored, {}, why::kHost},
    {"config", kNested, "trainer"},
    {"config_name", kIgnored, {}, "the model's own configuration is taken"},
    {"local_rank", kIgnored, {}, why::kLaunch},
    {"enable_jit_checkpoint", kIgnored, {}, why::kSaving},
};

constexpr LoraKeys kLora = {
    "lora_r",   "lora_alpha", "lora_dropout", "lora_target_modules", "lora_modules_to_save",
    "use_dora", "use_rslora"};

// Which of trl's trainers, or transformers' own, takes these arguments.
std::string method_of(const Sheet& sheet) {
  for (const std::string_view name : {"sft", "dpo", "kto", "grpo", "reward"}) {
    const std::string script = lower(sheet.program);
    const std::size_t at = script.rfind(name);
    if (at == script.npos) continue;
    return std::string(name);
  }
  const auto any = [&](std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      if (sheet.key_of(key) != Setting::kNoKey) return true;
    }
    return false;
  };
  if (any({"num_generations", "max_completion_length", "steps_per_generation",
           "generation_batch_size", "num_iterations"}) &&
      !any({"precompute_ref_log_probs"}))
    return "grpo";
  if (any({"desirable_weight", "undesirable_weight"})) return "kto";
  if (any({"center_rewards_coefficient"})) return "reward";
  if (any({"precompute_ref_log_probs", "beta", "max_prompt_length", "rpo_alpha"})) return "dpo";
  if (any({"packing", "packing_strategy", "padding_free", "completion_only_loss",
           "assistant_only_loss", "dataset_text_field", "max_length", "max_seq_length",
           "dataset_kwargs", "eval_packing", "dataset_num_proc", "truncation_mode"}))
    return "sft";
  return {};
}

void settle_method(Sheet& sheet, const std::string& method) {
  const auto pass = [&](std::initializer_list<std::string_view> keys, std::string_view reason) {
    for (const std::string_view key : keys) {
      if (sheet.has(key)) sheet.ignored(key, reason);
    }
  };
  if (method.empty()) {
    sheet.implied("trainer", Value::of_text("transformers"), "transformers' Trainer takes these");
  } else {
    sheet.implied("trainer", Value::of_text("trl"),
                  "these are arguments of trl's " +
                      (method == "sft" ? std::string("SFTTrainer") : method + " trainer"));
  }
  const bool sft = method == "sft";
  if (sft) {
    for (const auto& [key, to] : {std::pair{"packing", "training.packing"},
                                  std::pair{"padding_free", "training.padding_free"}}) {
      if (sheet.has(key)) sheet.became(key, to, Value::of_flag(sheet.flag(key)));
    }
    for (const auto& [key, to] : {std::pair{"packing_strategy", "training.packing_strategy"},
                                  std::pair{"loss_type", "training.loss_type"}}) {
      if (sheet.has(key)) sheet.became(key, to, Value::of_text(sheet.text(key)));
    }
  } else {
    pass({"packing", "packing_strategy", "padding_free"},
         "SFTTrainer's; rows are taken to be full");
    pass({"loss_type"}, "which of the losses of the same size");
  }
  if (sheet.has("max_length"))
    sheet.became("max_length", "training.max_length", Value::of_number(sheet.number("max_length")),
                 kFull);
  if (method.empty() || sft) {
    pass({"beta", "max_prompt_length", "max_completion_length"}, "has no effect in this trainer");
    return;
  }
  sheet.implied("rl.method", Value::of_text(method), "by its arguments or its script's name");
  if (method == "dpo" || method == "kto" || method == "grpo") {
    for (const auto& [key, to] : {std::pair{"max_prompt_length", "rl.prompt_length"},
                                  std::pair{"max_completion_length", "rl.max_completion_length"}}) {
      if (sheet.has(key)) sheet.became(key, to, Value::of_number(sheet.number(key)));
    }
  }
  if (method == "dpo" || method == "kto") {
    pass({"beta"}, why::kRate);
    if (sheet.has("precompute_ref_log_probs"))
      sheet.became("precompute_ref_log_probs", "rl.precompute_ref_log_probs",
                   Value::of_flag(sheet.flag("precompute_ref_log_probs")));
  }
  if (method != "grpo") return;
  for (const std::string_view key :
       {"beta", "num_generations", "num_iterations", "steps_per_generation"}) {
    if (sheet.has(key))
      sheet.became(key, "rl." + std::string(key), Value::of_number(sheet.number(key)));
  }
  if (sheet.has("generation_batch_size"))
    sheet.unsupported("generation_batch_size", "give steps_per_generation in its place");
}

// trl's create_model_from_path takes float32 unless told; transformers 5 the checkpoint's own type.
void settle_type(Sheet& sheet, bool trl) {
  for (const std::string_view key :
       {"dtype", "torch_dtype", "model_init_kwargs.dtype", "model_init_kwargs.torch_dtype"}) {
    if (!sheet.has(key)) continue;
    const std::string dtype = dtype_named(sheet.text(key));
    if (!dtype.empty()) {
      sheet.became(key, "dtype", Value::of_text(dtype));
      return;
    }
    if (is_auto(sheet.at(key))) {
      sheet.became(key, "dtype", Value::of_text("bfloat16"),
                   "the checkpoint's own type, taken to be bfloat16");
      return;
    }
    sheet.unsupported(key, "no type that is known; the default is taken");
  }
  if (trl) {
    sheet.implied("dtype", Value::of_text("float32"),
                  "trl loads a model by its name in float32 unless dtype is given");
  } else {
    sheet.implied("dtype", Value::of_text("bfloat16"),
                  "the script loads the model; the checkpoint's own type is taken to be bfloat16",
                  Setting::kCheckpoint);
  }
}

void settle_adapter(Sheet& sheet, bool trl) {
  const bool named =
      sheet.has("lora_r") || sheet.has("lora_rank") || sheet.has("lora_target_modules");
  const bool asked = sheet.flag("use_peft") || sheet.flag("use_lora") || sheet.flag("use_qlora") ||
                     (!sheet.has("use_peft") && !sheet.has("use_lora") && named);
  if (!asked) {
    pass_over_lora(sheet, kLora, "no adapter is asked for");
    return;
  }
  bool marked = false;
  for (const std::string_view key : {"use_peft", "use_lora", "use_qlora"}) {
    if (!sheet.has(key)) continue;
    sheet.became(key, "peft.peft_type", Value::of_text("LORA"));
    marked = true;
  }
  if (!marked)
    sheet.implied("peft.peft_type", Value::of_text("LORA"), "arguments of an adapter are given");
  LoraKeys keys = kLora;
  if (!sheet.has("lora_r")) keys.r = "lora_rank";
  take_lora(sheet, keys);
  if (!sheet.has("lora_r") && !sheet.has("lora_rank"))
    sheet.implied("peft.r", Value::of_number(trl ? 16 : 8),
                  trl ? "trl's default" : "peft's default");
  if (const auto names = words(sheet.at("lora_target_parameters")); !names.empty())
    sheet.became("lora_target_parameters", "peft.target_parameters", list_of(names));
}

void settle_quantization(Sheet& sheet) {
  const bool four = sheet.flag("load_in_4bit") || sheet.flag("use_qlora");
  const bool eight = sheet.flag("load_in_8bit");
  for (const std::string_view key : {"load_in_4bit", "load_in_8bit"}) {
    if (sheet.has(key) && !sheet.flag(key)) sheet.ignored(key, "asks for nothing");
  }
  if (!four && !eight) return;
  if (eight) {
    sheet.became("load_in_8bit", "quantization.load_in_8bit", Value::of_flag(true));
    return;
  }
  if (sheet.has("load_in_4bit")) {
    sheet.became("load_in_4bit", "quantization.load_in_4bit", Value::of_flag(true));
  } else {
    sheet.implied("quantization.load_in_4bit", Value::of_flag(true), "use_qlora");
  }
  sheet.implied("quantization.bnb_4bit_quant_type", Value::of_text("nf4"), "trl's default");
  if (sheet.has("bnb_4bit_quant_type"))
    sheet.became("bnb_4bit_quant_type", "quantization.bnb_4bit_quant_type",
                 Value::of_text(sheet.text("bnb_4bit_quant_type")));
  for (const std::string_view key : {"use_bnb_nested_quant", "bnb_4bit_use_double_quant"}) {
    if (sheet.has(key))
      sheet.became(key, "quantization.bnb_4bit_use_double_quant", Value::of_flag(sheet.flag(key)));
  }
  std::string dtype = dtype_named(sheet.text("bnb_4bit_compute_dtype"));
  if (!dtype.empty()) {
    sheet.became("bnb_4bit_compute_dtype", "quantization.bnb_4bit_compute_dtype",
                 Value::of_text(dtype));
    return;
  }
  dtype = dtype_named(sheet.text(sheet.has("dtype") ? "dtype" : "torch_dtype"));
  if (!dtype.empty())
    sheet.implied("quantization.bnb_4bit_compute_dtype", Value::of_text(dtype),
                  "trl's scripts take the model's type");
}

void settle_sharing(Sheet& sheet) {
  for (const std::string_view key : {"fsdp", "fsdp_config"}) {
    if (!sheet.has(key) || asks_for_nothing(*sheet.at(key))) continue;
    const bool second =
        sheet.number("fsdp_config.fsdp_version") == 2 || sheet.number("fsdp_config.version") == 2;
    sheet.all.together.strategy = second ? "fsdp2" : "fsdp1";
    sheet.all.together.strategy_key = sheet.key_of(key);
    sheet.unsupported(key, "how weights are shared out; it needs the number of processes");
  }
}

void finish(Sheet& sheet) {
  const std::string method = method_of(sheet);
  if (const Value* model = sheet.at("model"); model && model->is(Kind::kText)) {
    sheet.became("model", "model", *model);
  }
  settle_method(sheet, method);
  settle_type(sheet, !method.empty());
  settle_adapter(sheet, !method.empty());
  settle_quantization(sheet);
  take_attention(sheet, "attn_implementation");
  take_attention(sheet, "model_init_kwargs.attn_implementation");
  if (sheet.flag("use_flash_attention_2"))
    sheet.became("use_flash_attention_2", "attn_implementation", Value::of_text("sdpa"),
                 why::kFlashAttention);
  take_optimizer(sheet, "optim");
  take_optimizer_arguments(sheet, "optim_args");
  if (const Value* text = sheet.at("gradient_checkpointing_kwargs");
      text && text->is(Kind::kText)) {
    const json::Parsed parsed = json::parse(text->text);  // a command line's
    const Value* reentrant = parsed.value.find("use_reentrant");
    bool flag = false;
    if (reentrant && is_flag(*reentrant, flag)) {
      sheet.became("gradient_checkpointing_kwargs",
                   "training.gradient_checkpointing_kwargs.use_reentrant", Value::of_flag(flag));
    } else {
      sheet.unsupported("gradient_checkpointing_kwargs", "is no object that can be read");
    }
  }
  settle_sharing(sheet);
}

}  // namespace

Format trainer_format() {
  return {"trainer", "TrainingArguments, and trl's configurations", "transformers 5.18, trl 1.16",
          kKeys, &finish};
}

}  // namespace ledger::pasted
