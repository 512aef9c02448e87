// torchtune's YAML, by its recipes' configurations of version 0.6: components by path, one model
// builder a size.
#include "core/import/formats.hpp"
#include "core/import/parts.hpp"
#include "core/import/reasons.hpp"

namespace ledger::pasted {
namespace {

using enum Act;
namespace why = because;

constexpr KeyRow kKeys[] = {
    {"model._component_", kOther, {}, {}, true},
    {"model.lora_rank", kOther, {}, {}, true},
    {"model.lora_alpha", kOther, {}, {}, true},
    {"model.lora_dropout", kOther, {}, {}, true},
    {"model.lora_attn_modules", kOther, {}, {}, true},
    {"model.apply_lora_to_mlp", kOther, {}, {}, true},
    {"model.apply_lora_to_output", kOther, {}, {}, true},
    {"model.use_dora", kOther, {}, {}, true},
    {"model.quantize_base", kOther, {}, {}, true},
    {"model.*", kUnsupported, {}, "an argument of the builder that is not modelled"},
    {"tokenizer.max_seq_len", kOther, {}, {}, true},
    {"tokenizer*", kIgnored, {}, why::kTokenizer},
    {"dataset.packed", kIgnored, {}, "rows are taken to be full, packed or not", true},
    {"dataset*", kIgnored, {}, why::kData},
    {"batch_size", kNumber, "training.per_device_train_batch_size"},
    {"gradient_accumulation_steps", kNumber, "training.gradient_accumulation_steps"},
    {"optimizer._component_", kOther, {}, {}, true},
    {"optimizer.fused", kOther},
    {"optimizer.momentum", kOther},
    {"optimizer*", kIgnored, {}, why::kRate},
    {"optimizer_in_bwd",
     kUnsupported,
     {},
     "gradients that are let go as soon as they are used are not modelled; the estimate keeps all "
     "of them, and is higher",
     true},
    {"lr_scheduler*", kIgnored, {}, why::kRate},
    {"loss._component_", kOther, {}, {}, true},
    {"loss.num_output_chunks", kNumber, "training.num_output_chunks"},
    {"loss*", kIgnored, {}, why::kMasked},
    {"clip_grad_norm", kOther, {}, {}, true},
    {"dtype", kOther},
    {"enable_activation_checkpointing", kFlag, "training.gradient_checkpointing", {}, true},
    {"enable_activation_offloading", kUnsupported, {}, why::kOffloadActivations, true},
    {"ac_mode",
     kUnsupported,
     {},
     "selective checkpointing is not modelled; the estimate checkpoints every layer or none",
     true},
    {"ac_option", kUnsupported, {}, "selective checkpointing is not modelled", true},
    {"compile", kUnsupported, {}, why::kCompiled, true},
    {"fsdp_cpu_offload", kUnsupported, {}, "it needs the number of processes", true},
    {"fsdp_reshard_after_forward", kIgnored, {}, "one process is estimated", true},
    {"fsdp_sharding_strategy", kIgnored, {}, "one process is estimated", true},
    {"custom_sharded_layers",
     kUnsupported,
     {},
     "layers sharded on their own are not modelled",
     true},
    {"tensor_parallel_dim", kUnsupported, {}, why::kSplitModel, true},
    {"tensor_parallel_plan*", kUnsupported, {}, why::kSplitModel, true},
    {"context_parallel_dim", kUnsupported, {}, why::kSplitSequence, true},
    {"data_parallel_*", kIgnored, {}, "one process is estimated", true},
    {"device", kIgnored, {}, "one device is taken"},
    {"checkpointer*", kIgnored, {}, why::kHub, true},
    {"ref_checkpointer*", kIgnored, {}, why::kHub, true},
    {"metric_logger*", kIgnored, {}, why::kLogging, true},
    {"profiler*", kIgnored, {}, why::kLogging, true},
    {"log_*", kIgnored, {}, why::kLogging},
    {"output_dir", kIgnored, {}, why::kOutput},
    {"resume_from_checkpoint", kIgnored, {}, "a run that goes on has the sizes of a new one"},
    {"save_*", kIgnored, {}, why::kSaving},
    {"enable_async_checkpointing", kIgnored, {}, why::kSaving, true},
    {"epochs", kIgnored, {}, why::kDuration},
    {"max_steps_per_epoch", kIgnored, {}, why::kDuration, true},
    {"num_warmup_steps", kIgnored, {}, why::kRate},
    {"run_val_*", kIgnored, {}, why::kEvaluating, true},
    {"batch_size_val", kIgnored, {}, why::kEvaluating, true},
    {"val_*", kIgnored, {}, why::kEvaluating},
    {"seed", kIgnored, {}, why::kSeed},
    {"shuffle", kIgnored, {}, why::kData},
    {"cudnn_deterministic_mode", kIgnored, {}, why::kSeed, true},
    {"model_type", kIgnored, {}, "the builder says which model"},
    {"nproc_per_node", kOther},
    {"nnodes", kOther},
};

struct Builder {
  std::string_view name, model;
};

// torchtune/models/*/_model_builders.py
constexpr Builder kBuilders[] = {
    {"llama2_7b", "meta-llama/Llama-2-7b-hf"},
    {"llama2_13b", "meta-llama/Llama-2-13b-hf"},
    {"llama2_70b", "meta-llama/Llama-2-70b-hf"},
    {"llama3_8b", "meta-llama/Meta-Llama-3-8B"},
    {"llama3_70b", "meta-llama/Meta-Llama-3-70B"},
    {"llama3_1_8b", "meta-llama/Llama-3.1-8B"},
    {"llama3_1_70b", "meta-llama/Llama-3.1-70B"},
    {"llama3_1_405b", "meta-llama/Llama-3.1-405B"},
    {"llama3_2_1b", "meta-llama/Llama-3.2-1B"},
    {"llama3_2_3b", "meta-llama/Llama-3.2-3B"},
    {"llama3_3_70b", "meta-llama/Llama-3.3-70B-Instruct"},
    {"mistral_7b", "mistralai/Mistral-7B-v0.1"},
    {"gemma_2b", "google/gemma-2b"},
    {"gemma_7b", "google/gemma-7b"},
    {"gemma2_2b", "google/gemma-2-2b"},
    {"gemma2_9b", "google/gemma-2-9b"},
    {"gemma2_27b", "google/gemma-2-27b"},
    {"phi3_mini", "microsoft/Phi-3-mini-4k-instruct"},
    {"phi4_14b", "microsoft/phi-4"},
    {"qwen2_5_0_5b", "Qwen/Qwen2.5-0.5B"},
    {"qwen2_5_1_5b", "Qwen/Qwen2.5-1.5B"},
    {"qwen2_5_3b", "Qwen/Qwen2.5-3B"},
    {"qwen2_5_7b", "Qwen/Qwen2.5-7B"},
    {"qwen2_5_14b", "Qwen/Qwen2.5-14B"},
    {"qwen2_5_32b", "Qwen/Qwen2.5-32B"},
    {"qwen2_5_72b", "Qwen/Qwen2.5-72B"},
    {"qwen3_0_6b", "Qwen/Qwen3-0.6B"},
    {"qwen3_1_7b", "Qwen/Qwen3-1.7B"},
    {"qwen3_4b", "Qwen/Qwen3-4B"},
    {"qwen3_8b", "Qwen/Qwen3-8B"},
    {"qwen3_14b", "Qwen/Qwen3-14B"},
    {"qwen3_32b", "Qwen/Qwen3-32B"},
};

std::string_view model_of(std::string_view builder) {
  for (const std::string_view end : {"_base", "_instruct"}) {
    if (builder.ends_with(end)) builder.remove_suffix(end.size());
  }
  for (const Builder& row : kBuilders) {
    if (row.name == builder) return row.model;
  }
  return {};
}

void settle_adapter(Sheet& sheet, bool quantized) {
  if (sheet.has("model.lora_rank"))
    sheet.became("model.lora_rank", "peft.r", Value::of_number(sheet.number("model.lora_rank")));
  else
    sheet.implied("peft.r", Value::of_number(8), "torchtune's builders' default");
  sheet.implied("peft.peft_type", Value::of_text("LORA"), "the builder's name begins with lora");
  sheet.ignored("model.lora_alpha", why::kScale);
  if (sheet.has("model.lora_dropout"))
    sheet.became("model.lora_dropout", "peft.lora_dropout",
                 Value::of_number(sheet.number("model.lora_dropout")));
  std::vector<std::string> targets;
  for (const std::string& name : words(sheet.at("model.lora_attn_modules"))) {
    const std::string own = name == "output_proj" ? "o_proj" : name;
    bool twice = false;
    for (const std::string& other : targets) twice = twice || other == own;
    if (!twice) targets.push_back(own);
  }
  if (sheet.flag("model.apply_lora_to_mlp")) {
    for (const char* name : {"gate_proj", "up_proj", "down_proj"}) targets.emplace_back(name);
  }
  if (sheet.flag("model.apply_lora_to_output")) targets.emplace_back("lm_head");
  if (!targets.empty()) {
    for (const std::string_view key :
         {"model.lora_attn_modules", "model.apply_lora_to_mlp", "model.apply_lora_to_output"}) {
      if (sheet.has(key))
        sheet.became(key, "peft.target_modules", list_of(targets),
                     "by the names of transformers; the three keys together");
    }
  }
  if (sheet.has("model.use_dora"))
    sheet.became("model.use_dora", "peft.use_dora", Value::of_flag(sheet.flag("model.use_dora")));
  sheet.implied("peft.autocast_adapter_dtype", Value::of_flag(false),
                "torchtune's adapters have the type of dtype");
  if (!quantized) return;
  constexpr std::string_view kOwn = "torchtune's NF4 weights have nested scales, as here";
  sheet.implied("quantization.load_in_4bit", Value::of_flag(true),
                "the builder quantizes its base");
  sheet.implied("quantization.bnb_4bit_quant_type", Value::of_text("nf4"), kOwn);
  sheet.implied("quantization.bnb_4bit_use_double_quant", Value::of_flag(true), kOwn);
  sheet.implied("quantization.bnb_4bit_compute_dtype", Value::of_text("bfloat16"), kOwn);
  sheet.implied("quantization.prepare_model_for_kbit_training", Value::of_flag(false), kOwn);
}

void finish(Sheet& sheet) {
  sheet.implied("trainer", Value::of_text("torch"), "torchtune's recipes are plain loops");
  sheet.note(
      "torchtune has model code of its own; the estimate is of transformers' models in a plain "
      "loop. torchtune's attention expands keys and values to all heads, which takes more.");
  const std::string component = sheet.text("model._component_");
  std::string builder = component.substr(component.rfind('.') + 1);
  const bool qlora = builder.starts_with("qlora_");
  const bool lora = qlora || builder.starts_with("lora_") || builder.starts_with("dora_");
  if (lora) builder = builder.substr(builder.find('_') + 1);
  const std::string_view model = model_of(builder);
  if (!model.empty()) {
    sheet.became("model._component_", "model", Value::of_text(model));
  } else if (!component.empty()) {
    // Refused later with the nearest presets.
    sheet.became("model._component_", "model", Value::of_text(builder));
  }
  if (lora) settle_adapter(sheet, qlora || sheet.flag("model.quantize_base"));
  if (sheet.has("tokenizer.max_seq_len"))
    sheet.became("tokenizer.max_seq_len", "training.max_length",
                 Value::of_number(sheet.number("tokenizer.max_seq_len")),
                 "rows are taken to be full");
  const std::string dtype = dtype_named(sheet.text("dtype"));
  if (!dtype.empty()) sheet.became("dtype", "dtype", Value::of_text(dtype), "weights and all else");
  take_optimizer(sheet, "optimizer._component_");
  if (sheet.has("optimizer.momentum"))
    sheet.became("optimizer.momentum", "training.optim_args.momentum",
                 Value::of_number(sheet.number("optimizer.momentum")));
  if (sheet.has("optimizer.fused"))
    sheet.ignored("optimizer.fused", "see the optimizer's component");
  if (const Value* clip = sheet.at("clip_grad_norm")) {
    double norm = 0;
    if (is_number(*clip, norm))
      sheet.became("clip_grad_norm", "training.max_grad_norm", Value::of_number(norm));
  }
  const std::string loss = sheet.text("loss._component_");
  if (loss.ends_with("CEWithChunkedOutputLoss")) {
    sheet.became("loss._component_", "training.loss_type",
                 Value::of_text("CEWithChunkedOutputLoss"));
  } else if (loss.ends_with("LinearCrossEntropyLoss")) {
    sheet.unsupported("loss._component_",
                      "a head and a loss in chunks, which build no whole logits, are not modelled; "
                      "the estimate builds them, and is higher");
  } else if (!loss.empty()) {
    sheet.ignored("loss._component_", "cross-entropy of all logits, as transformers' own");
  }
  take_world(sheet, "nproc_per_node", "nnodes");
  if (sheet.all.together.world > 1) {
    sheet.all.together.strategy = "fsdp2";
    sheet.all.together.strategy_key = sheet.key_of("nproc_per_node");
  }
}

}  // namespace

Format torchtune_format() {
  return {"torchtune", "torchtune YAML", "torchtune 0.6", kKeys, &finish};
}

}  // namespace ledger::pasted
