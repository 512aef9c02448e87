// LLaMA-Factory's YAML, by its hparams and model/adapter.py at 00577a8 and 01d87b8: keys, defaults,
// what they lead to.
#include "core/import/formats.hpp"
#include "core/import/parts.hpp"
#include "core/import/reasons.hpp"

namespace ledger::pasted {
namespace {

using enum Act;
namespace why = because;

constexpr std::string_view kFull = "rows are taken to be full, packed or not";

constexpr KeyRow kKeys[] = {
    {"model_name_or_path", kText, "model"},
    {"stage", kOther, {}, {}, true},
    {"finetuning_type", kOther, {}, {}, true},
    {"cutoff_len", kNumber, "training.max_length", "rows are taken to be full", true},
    {"per_device_train_batch_size", kNumber, "training.per_device_train_batch_size"},
    {"gradient_accumulation_steps", kNumber, "training.gradient_accumulation_steps"},
    {"lora_rank", kOther, {}, {}, true},
    {"lora_alpha", kOther},
    {"lora_dropout", kOther},
    {"lora_target", kOther, {}, {}, true},
    {"additional_target", kOther, {}, {}, true},
    {"use_dora", kOther},
    {"use_rslora", kOther},
    {"pissa_*", kIgnored, {}, "values, not sizes", true},
    {"loraplus_*", kIgnored, {}, why::kRate},
    {"create_new_adapter",
     kIgnored,
     {},
     "an adapter that is merged first leaves the same sizes",
     true},
    {"adapter_name_or_path",
     kIgnored,
     {},
     "an adapter that goes on has the size of a new one",
     true},
    {"freeze_trainable_*", kUnsupported, {}, why::kPartlyTrained, true},
    {"freeze_extra_modules", kUnsupported, {}, why::kPartlyTrained, true},
    {"use_llama_pro", kUnsupported, {}, why::kPartlyTrained, true},
    {"oft_*", kUnsupported, {}, "OFT is not modelled", true},
    {"quantization_bit", kOther, {}, {}, true},
    {"quantization_method", kOther, {}, {}, true},
    {"quantization_type", kOther, {}, {}, true},
    {"double_quantization", kOther, {}, {}, true},
    {"quantization_device_map", kIgnored, {}, "one device is taken", true},
    {"bf16", kFlag, "training.bf16", "autocast"},
    {"fp16", kFlag, "training.fp16", "autocast"},
    {"pure_bf16", kOther, {}, {}, true},
    {"fp8*", kUnsupported, {}, why::kFp8},
    {"optim", kOther},
    {"optim_args", kOther},
    {"max_grad_norm", kNumber, "training.max_grad_norm"},
    {"flash_attn", kOther, {}, {}, true},
    {"shift_attn",
     kUnsupported,
     {},
     "this attention is not modelled; the estimate takes sdpa",
     true},
    {"enable_liger_kernel", kFlag, "training.use_liger_kernel", {}, true},
    {"use_liger_kernel", kFlag, "training.use_liger_kernel"},
    {"disable_gradient_checkpointing", kOther, {}, {}, true},
    {"gradient_checkpointing", kOther},
    {"use_reentrant_gc", kOther, {}, {}, true},
    {"use_unsloth", kUnsupported, {}, why::kUnsloth, true},
    {"use_unsloth_gc",
     kUnsupported,
     {},
     "checkpoints in host memory are not modelled; the estimate keeps them on the device, and is "
     "higher",
     true},
    {"use_v1_kernels", kUnsupported, {}, "these kernels are not modelled", true},
    {"upcast_layernorm",
     kUnsupported,
     {},
     "norms in 32 bit are not modelled; the estimate is lower by their activations",
     true},
    {"upcast_lmhead_output",
     kUnsupported,
     {},
     "logits in 32 bit are not modelled; the estimate is lower by half of them",
     true},
    {"mixture_of_depths", kUnsupported, {}, "another model, which is not modelled", true},
    {"moe_aux_loss_coef", kUnsupported, {}, "the routers' loss is not modelled; it is small", true},
    {"resize_vocab",
     kUnsupported,
     {},
     "a larger embedding; the estimate keeps the model's own vocabulary: give config.vocab_size",
     true},
    {"rope_scaling", kIgnored, {}, "a scale of angles"},
    {"use_galore", kUnsupported, {}, "the estimate takes the optimizer of optim", true},
    {"galore_*", kIgnored, {}, "has an effect with use_galore only", true},
    {"use_apollo", kUnsupported, {}, "the estimate takes the optimizer of optim", true},
    {"apollo_*", kIgnored, {}, "has an effect with use_apollo only", true},
    {"use_badam",
     kUnsupported,
     {},
     "BAdam trains one block at a time; the estimate takes the optimizer of optim, and is higher",
     true},
    {"badam_*", kIgnored, {}, "has an effect with use_badam only", true},
    {"use_adam_mini",
     kUnsupported,
     {},
     "Adam-mini keeps less; the estimate takes the optimizer of optim, and is higher",
     true},
    {"use_muon", kUnsupported, {}, "the estimate takes the optimizer of optim", true},
    {"use_dft_loss", kUnsupported, {}, "the estimate takes transformers' own loss", true},
    {"use_mca", kUnsupported, {}, "Megatron is not modelled", true},
    {"packing", kIgnored, {}, kFull},
    {"neat_packing", kIgnored, {}, kFull, true},
    {"neftune_noise_alpha", kUnsupported, {}, why::kNoise},
    {"torch_compile*", kUnsupported, {}, why::kCompiled},
    {"torch_empty_cache_steps", kUnsupported, {}, why::kEmptyCache},
    {"deepspeed", kNested, "deepspeed"},
    {"fsdp", kOther},
    {"fsdp_config", kOther},
    {"ddp_find_unused_parameters", kFlag, "parallel.find_unused_parameters"},
    {"ddp_bucket_cap_mb", kNumber, "parallel.bucket_cap_mb"},
    {"ddp_*", kIgnored, {}, why::kLaunch},
    {"ref_model", kUnsupported, {}, "the reference is taken to be the model itself", true},
    {"ref_model_*", kUnsupported, {}, "the reference is taken to be the model itself", true},
    {"reward_model*", kUnsupported, {}, "a reward model beside is not modelled", true},
    {"pref_loss", kOther, {}, {}, true},
    {"pref_*", kIgnored, {}, why::kRate, true},
    {"dpo_label_smoothing", kIgnored, {}, why::kRate, true},
    {"kto_*", kIgnored, {}, why::kRate, true},
    {"simpo_gamma", kIgnored, {}, why::kRate, true},
    {"ppo_*", kIgnored, {}, "PPO is not modelled", true},
    {"ld_alpha", kIgnored, {}, why::kRate, true},
    {"label_smoothing_factor", kNumber, "training.label_smoothing_factor"},
    // what no tensor's size depends on
    {"do_train", kIgnored, {}, "training is taken"},
    {"do_eval", kIgnored, {}, why::kEvaluating},
    {"do_predict", kIgnored, {}, why::kEvaluating},
    {"dataset*", kIgnored, {}, why::kData},
    {"eval_dataset", kIgnored, {}, why::kEvaluating},
    {"media_dir", kIgnored, {}, why::kData, true},
    {"template", kIgnored, {}, why::kTokenizer, true},
    {"enable_thinking", kIgnored, {}, why::kTokenizer, true},
    {"tool_format", kIgnored, {}, why::kTokenizer, true},
    {"default_system", kIgnored, {}, why::kTokenizer, true},
    {"max_samples", kIgnored, {}, why::kData, true},
    {"overwrite_cache", kIgnored, {}, why::kHost},
    {"preprocessing_*", kIgnored, {}, why::kHost},
    {"tokenized_path", kIgnored, {}, why::kHost, true},
    {"streaming", kIgnored, {}, why::kData},
    {"buffer_size", kIgnored, {}, why::kHost},
    {"mix_strategy", kIgnored, {}, why::kData, true},
    {"interleave_probs", kIgnored, {}, why::kData, true},
    {"val_size", kIgnored, {}, why::kEvaluating, true},
    {"eval_*", kIgnored, {}, why::kEvaluating},
    {"per_device_eval_batch_size", kIgnored, {}, why::kEvaluating},
    {"compute_accuracy", kIgnored, {}, why::kEvaluating, true},
    {"predict_with_generate", kIgnored, {}, why::kEvaluating},
    {"train_on_prompt", kIgnored, {}, why::kMasked, true},
    {"mask_history", kIgnored, {}, why::kMasked, true},
    {"ignore_pad_token_for_loss", kIgnored, {}, why::kMasked},
    {"image_*", kUnsupported, {}, "images are not modelled; the estimate is of the text part"},
    {"video_*", kUnsupported, {}, "videos are not modelled; the estimate is of the text part"},
    {"audio_*", kUnsupported, {}, "sound is not modelled; the estimate is of the text part"},
    {"freeze_vision_tower", kIgnored, {}, "the text part is estimated", true},
    {"freeze_multi_modal_projector", kIgnored, {}, "the text part is estimated", true},
    {"freeze_language_model", kUnsupported, {}, why::kPartlyTrained, true},
    {"output_dir", kIgnored, {}, why::kOutput},
    {"overwrite_output_dir", kIgnored, {}, why::kOutput},
    {"export_*", kIgnored, {}, why::kOutput},
    {"logging_*", kIgnored, {}, why::kLogging},
    {"plot_loss", kIgnored, {}, why::kLogging, true},
    {"report_to", kIgnored, {}, why::kLogging},
    {"run_name", kIgnored, {}, why::kLogging},
    {"use_swanlab", kIgnored, {}, why::kLogging, true},
    {"swanlab_*", kIgnored, {}, why::kLogging, true},
    {"ray_*", kIgnored, {}, why::kLaunch, true},
    {"include_*", kIgnored, {}, why::kLogging},
    {"print_param_status", kIgnored, {}, why::kLogging, true},
    {"save_*", kIgnored, {}, why::kSaving},
    {"load_best_model_at_end", kIgnored, {}, why::kSaving},
    {"resume_from_checkpoint", kIgnored, {}, "a run that goes on has the sizes of a new one"},
    {"learning_rate", kIgnored, {}, why::kRate},
    {"lr_scheduler_*", kIgnored, {}, why::kRate},
    {"warmup_*", kIgnored, {}, why::kRate},
    {"weight_decay", kIgnored, {}, why::kRate},
    {"adam_*", kIgnored, {}, why::kRate},
    {"num_train_epochs", kIgnored, {}, why::kDuration},
    {"max_steps", kIgnored, {}, why::kDuration},
    {"early_stopping_steps", kIgnored, {}, why::kDuration, true},
    {"seed", kIgnored, {}, why::kSeed},
    {"dataloader_*", kIgnored, {}, why::kHost},
    {"remove_unused_columns", kIgnored, {}, why::kData},
    {"disable_shuffling", kIgnored, {}, why::kData, true},
    {"group_by_length", kIgnored, {}, "the longest batch decides"},
    {"trust_remote_code", kIgnored, {}, "transformers' own code is modelled"},
    {"use_fast_tokenizer", kIgnored, {}, why::kTokenizer},
    {"split_special_tokens", kIgnored, {}, why::kTokenizer},
    {"add_*", kIgnored, {}, why::kTokenizer},
    {"cache_dir", kIgnored, {}, why::kHub},
    {"model_revision", kIgnored, {}, why::kHub},
    {"hf_hub_token", kIgnored, {}, why::kHub},
    {"ms_hub_token", kIgnored, {}, why::kHub, true},
    {"low_cpu_mem_usage", kIgnored, {}, why::kHost},
    {"infer_*", kIgnored, {}, "inference only", true},
    {"use_kv_cache", kIgnored, {}, "inference only", true},
    {"vllm_*", kIgnored, {}, "inference only"},
    {"train_from_scratch", kIgnored, {}, "values, not sizes", true},
    {"push_to_hub", kIgnored, {}, why::kOutput},
    {"local_rank", kIgnored, {}, why::kLaunch},
};

constexpr LoraKeys kLora = {"lora_rank",         "lora_alpha", "lora_dropout", "lora_target",
                            "additional_target", "use_dora",   "use_rslora"};

void settle_quantization(Sheet& sheet, const std::string& dtype) {
  const double bits = sheet.number("quantization_bit");
  if (!sheet.has("quantization_bit")) return;
  const std::string method = sheet.text("quantization_method");
  const bool bitsandbytes = method.empty() || method == "bitsandbytes" || method == "bnb";
  if (!bitsandbytes || (bits != 4 && bits != 8)) {
    sheet.unsupported("quantization_bit",
                      "weights packed so are not modelled; the estimate keeps them in sixteen "
                      "bits, and is higher");
    return;
  }
  sheet.became("quantization_bit",
               bits == 4 ? "quantization.load_in_4bit" : "quantization.load_in_8bit",
               Value::of_flag(true));
  if (sheet.has("quantization_method")) sheet.ignored("quantization_method", "bitsandbytes");
  sheet.implied("quantization.prepare_model_for_kbit_training", Value::of_flag(false),
                "LLaMA-Factory does not call prepare_model_for_kbit_training");
  if (bits == 8) return;
  constexpr std::string_view kOwn = "LLaMA-Factory's default";
  sheet.implied("quantization.bnb_4bit_quant_type", Value::of_text("nf4"), kOwn);
  sheet.implied("quantization.bnb_4bit_use_double_quant", Value::of_flag(true), kOwn);
  sheet.implied("quantization.bnb_4bit_compute_dtype", Value::of_text(dtype), kOwn);
  if (sheet.has("quantization_type"))
    sheet.became("quantization_type", "quantization.bnb_4bit_quant_type",
                 Value::of_text(sheet.text("quantization_type")));
  if (sheet.has("double_quantization"))
    sheet.became("double_quantization", "quantization.bnb_4bit_use_double_quant",
                 Value::of_flag(sheet.flag("double_quantization")));
}

void settle_stage(Sheet& sheet) {
  const std::string stage = sheet.has("stage") ? sheet.text("stage") : "sft";
  if (stage == "sft" || stage == "pt") {
    sheet.implied("trainer", Value::of_text("transformers"),
                  "LLaMA-Factory trains with transformers' Trainer");
    sheet.ignored("stage", stage == "sft" ? "supervised fine-tuning: Trainer's own loss"
                                          : "pre-training: Trainer's own loss");
    return;
  }
  const std::string loss = sheet.text("pref_loss");
  if (stage == "dpo" && (loss == "orpo" || loss == "simpo"))
    sheet.unsupported("pref_loss",
                      "without a reference model; the estimate has DPO's, and is higher");
  if (stage == "dpo" || stage == "kto" || stage == "rm") {
    sheet.implied("trainer", Value::of_text("trl"), "LLaMA-Factory trains so with trl's trainers");
    sheet.became("stage", "rl.method", Value::of_text(stage == "rm" ? "reward" : stage));
    return;
  }
  sheet.implied("trainer", Value::of_text("transformers"), "LLaMA-Factory's usual trainer");
  sheet.unsupported("stage",
                    "this stage is not modelled; the estimate is of supervised fine-tuning");
}

// model/adapter.py init_adapter: what is trained is cast to 32 bit, but with pure_bf16.
std::string settle_types(Sheet& sheet, bool full) {
  const bool bf16 = sheet.flag("bf16"), fp16 = sheet.flag("fp16"), pure = sheet.flag("pure_bf16");
  if (sheet.has("pure_bf16"))
    sheet.became("pure_bf16", "dtype", Value::of_text("bfloat16"),
                 "weights in bfloat16, and what is trained too");
  const std::string compute = fp16 && !bf16 && !pure ? "float16" : "bfloat16";
  if (full && !pure) {
    sheet.implied("dtype", Value::of_text("float32"),
                  "LLaMA-Factory casts all that is trained to 32 bit unless pure_bf16 is true "
                  "(init_adapter)");
  } else {
    sheet.implied("dtype", Value::of_text(compute),
                  bf16 || fp16 ? "LLaMA-Factory loads the weights in autocast's type"
                               : "the checkpoint's own type, taken to be bfloat16");
  }
  return compute;
}

void finish(Sheet& sheet) {
  const std::string type = sheet.has("finetuning_type") ? sheet.text("finetuning_type") : "lora";
  if (type == "lora") {
    sheet.became("finetuning_type", "peft.peft_type", Value::of_text("LORA"));
    if (!sheet.has("finetuning_type"))
      sheet.implied("peft.peft_type", Value::of_text("LORA"), "LLaMA-Factory's default is LoRA");
    take_lora(sheet, kLora);
    if (!sheet.has("lora_rank"))
      sheet.implied("peft.r", Value::of_number(8), "LLaMA-Factory's default");
    if (!sheet.has("lora_target"))
      sheet.implied("peft.target_modules", Value::of_text("all-linear"), "LLaMA-Factory's default");
  } else if (type == "full") {
    sheet.ignored("finetuning_type", "all weights are trained");
    pass_over_lora(sheet, kLora, "no adapter is asked for: finetuning_type is full");
  } else {
    sheet.unsupported("finetuning_type", type == "freeze"
                                             ? why::kPartlyTrained
                                             : std::string_view("this adapter is not modelled; the "
                                                                "estimate trains all weights"));
  }
  const std::string dtype = settle_types(sheet, type != "lora");
  if (type == "lora") settle_quantization(sheet, dtype);
  settle_stage(sheet);
  take_attention(sheet, "flash_attn");
  take_optimizer(sheet, "optim");
  take_optimizer_arguments(sheet, "optim_args");
  if (!sheet.has("cutoff_len"))
    sheet.implied("training.max_length", Value::of_number(2048), "LLaMA-Factory's default");
  const bool off = sheet.flag("disable_gradient_checkpointing");
  if (sheet.has("disable_gradient_checkpointing"))
    sheet.became("disable_gradient_checkpointing", "training.gradient_checkpointing",
                 Value::of_flag(!off));
  sheet.ignored("gradient_checkpointing", "LLaMA-Factory goes by disable_gradient_checkpointing");
  if (!off) {
    sheet.implied("training.gradient_checkpointing", Value::of_flag(true),
                  "LLaMA-Factory checkpoints unless disable_gradient_checkpointing is true");
    const bool reentrant = sheet.flag("use_reentrant_gc", true);
    if (sheet.has("use_reentrant_gc")) {
      sheet.became("use_reentrant_gc", "training.gradient_checkpointing_kwargs.use_reentrant",
                   Value::of_flag(reentrant));
    } else {
      sheet.implied("training.gradient_checkpointing_kwargs.use_reentrant", Value::of_flag(true),
                    "LLaMA-Factory's default");
    }
  }
  for (const std::string_view key : {"fsdp", "fsdp_config"}) {
    if (!sheet.has(key) || asks_for_nothing(*sheet.at(key))) continue;
    sheet.all.together.strategy = "fsdp1";
    sheet.all.together.strategy_key = sheet.key_of(key);
    sheet.unsupported(key, "how weights are shared out; it needs the number of processes");
  }
}

}  // namespace

Format llama_factory_format() {
  return {"llamafactory", "LLaMA-Factory YAML", "LLaMA-Factory at 00577a8", kKeys, &finish};
}

}  // namespace ledger::pasted
