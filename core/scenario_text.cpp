// Writes the normalised scenario: every key complete, in one order, so that equal scenarios are
// equal texts. Reading it gives the same scenario again.
#include <utility>

#include "core/data/optimizers.hpp"
#include "core/device/cards.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

Value or_null(const std::optional<double>& number) {
  return number ? Value::of_number(*number) : Value();
}

Value value_of(const OptimizerArg& arg, double value) {
  switch (arg.kind) {
    case OptimizerArg::Kind::kFlag: return Value::of_flag(value != 0);
    case OptimizerArg::Kind::kNumber: return Value::of_number(value);
    case OptimizerArg::Kind::kChoice: break;
  }
  return Value::of_text(arg.choices[static_cast<std::size_t>(value)]);
}

Value args_of(const Training& training) {
  Value args = Value::object();
  for (const OptimizerRow& row : kOptimizers) {
    if (row.optim != training.optim) continue;
    for (const OptimizerArg& arg : row.args) {
      const auto at = training.optim_args.find(arg.name);
      if (args.find(arg.name) || at == training.optim_args.end()) continue;
      args.add(arg.name, value_of(arg, at->second));
    }
  }
  return args;
}

Value kernels_of(const Training& training) {
  if (!training.use_liger_kernel) return Value();
  const LigerKernels& kernels = training.liger_kernel_config;
  Value out = Value::object();
  out.add_flag("rope", kernels.rope);
  out.add_flag("rms_norm", kernels.rms_norm);
  out.add_flag("swiglu", kernels.swiglu);
  out.add_flag("cross_entropy", kernels.cross_entropy);
  out.add_flag("fused_linear_cross_entropy", kernels.fused_linear_cross_entropy);
  return out;
}

Value training_of(const Training& training) {
  Value out = Value::object();
  out.add_number("per_device_train_batch_size", training.per_device_train_batch_size);
  out.add_number("max_length", training.max_length);
  out.add_number("gradient_accumulation_steps", training.gradient_accumulation_steps);
  out.add_flag("gradient_checkpointing", training.gradient_checkpointing);
  out.add("gradient_checkpointing_kwargs", Value::object())
      .add_flag("use_reentrant", training.use_reentrant);
  out.add_flag("bf16", training.bf16);
  out.add_flag("fp16", training.fp16);
  out.add_text("optim", training.optim);
  out.add("optim_args", args_of(training));
  out.add_number("max_grad_norm", training.max_grad_norm);
  out.add_flag("use_liger_kernel", training.use_liger_kernel);
  out.add("liger_kernel_config", kernels_of(training));
  out.add_number("label_smoothing_factor", training.label_smoothing_factor);
  out.add_text("loss_type", training.loss_type);
  if (training.loss_type == kChunkedLoss) {
    out.add_number("num_output_chunks", training.num_output_chunks);
  }
  out.add_flag("packing", training.packing);
  out.add_text("packing_strategy", training.packing_strategy);
  out.add_flag("padding_free", training.padding_free);
  std::vector<Value> lengths;
  for (const double length : training.sample_lengths) lengths.push_back(Value::of_number(length));
  out.add("sample_lengths", lengths.empty() ? Value() : Value::of_list(std::move(lengths)));
  return out;
}

Value names_of(const std::vector<std::string>& names) {
  std::vector<Value> list;
  for (const std::string& name : names) list.push_back(Value::of_text(name));
  return Value::of_list(std::move(list));
}

Value peft_of(const Peft& peft) {
  Value out = Value::object();
  out.add_text("peft_type", "LORA");
  out.add_number("r", peft.r);
  if (peft.target_modules == std::vector<std::string>{"all-linear"}) {
    out.add_text("target_modules", "all-linear");
  } else {
    out.add("target_modules", names_of(peft.target_modules));
  }
  out.add("target_parameters", names_of(peft.target_parameters));
  Value& ranks = out.add("rank_pattern", Value::object());
  for (const auto& [name, rank] : peft.rank_pattern) ranks.add_number(name, rank);
  out.add_number("lora_dropout", peft.lora_dropout);
  out.add_flag("autocast_adapter_dtype", peft.autocast_adapter_dtype);
  out.add_text("bias", peft.bias);
  out.add_flag("use_rslora", peft.use_rslora);
  out.add_flag("use_dora", peft.use_dora);
  out.add("modules_to_save", names_of(peft.modules_to_save));
  std::vector<Value> rows;
  for (const double id : peft.trainable_token_indices) rows.push_back(Value::of_number(id));
  out.add("trainable_token_indices", Value::of_list(std::move(rows)));
  return out;
}

// The one that is trained, or a list where others are loaded beside it.
Value adapters_of(const Scenario& scenario) {
  if (!scenario.peft) return Value();
  Value first = peft_of(*scenario.peft);
  if (scenario.other_adapters.empty()) return first;
  std::vector<Value> all;
  all.push_back(std::move(first));
  for (const Peft& other : scenario.other_adapters) all.push_back(peft_of(other));
  return Value::of_list(std::move(all));
}

Value quantization_of(const Quantization& q) {
  Value out = Value::object();
  if (!q.by_bitsandbytes()) {
    out.add_text("quant_method", q.quant_method);
    if (q.quant_method == "torchao") {
      out.add_text("quant_type", q.quant_type);
    } else {
      out.add_number("bits", q.bits);
      out.add_number("group_size", q.group_size);
    }
    if (q.quant_method == "gptq") {
      out.add_flag("desc_act", q.desc_act);
      out.add_flag("sym", q.sym);
    }
    if (q.quant_method == "awq") out.add_flag("zero_point", q.zero_point);
    out.add("modules_to_not_convert", names_of(q.llm_int8_skip_modules));
    return out;
  }
  out.add_flag("load_in_4bit", !q.load_in_8bit);
  out.add_flag("load_in_8bit", q.load_in_8bit);
  out.add_text("bnb_4bit_quant_type", q.bnb_4bit_quant_type);
  out.add_flag("bnb_4bit_use_double_quant", q.bnb_4bit_use_double_quant);
  out.add_text("bnb_4bit_compute_dtype", name_of(q.bnb_4bit_compute_dtype));
  out.add_text("bnb_4bit_quant_storage", q.bnb_4bit_quant_storage);
  out.add_number("llm_int8_threshold", q.llm_int8_threshold);
  out.add("llm_int8_skip_modules", names_of(q.llm_int8_skip_modules));
  out.add_flag("prepare_model_for_kbit_training", q.prepare_model_for_kbit_training);
  return out;
}

// With a card, only what differs from what the card says: naming another card then is enough to
// change cards.
Value device_of(const Device& device) {
  Device card;
  if (!device.card.empty()) {
    Value named = Value::object();
    named.add_text("card", device.card);
    named.add("device", Value::object()).add_text("os", device.os);
    Findings none;
    card = read_device(named, none);
  }
  const bool all = device.card.empty();
  const bool other_chip =
      device.compute_major != card.compute_major || device.compute_minor != card.compute_minor;
  Value out = Value::object();
  if (all || other_chip) {
    out.add_text("compute_capability",
                 std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor));
  }
  if (all || other_chip || device.multiprocessors != card.multiprocessors) {
    out.add_number("multiprocessors", device.multiprocessors);
  }
  if (all || other_chip || device.threads_per_multiprocessor != card.threads_per_multiprocessor) {
    out.add_number("threads_per_multiprocessor", device.threads_per_multiprocessor);
  }
  if (all || device.total_bytes != card.total_bytes) {
    out.add("total_bytes", or_null(device.total_bytes));
  }
  out.add_number("other_bytes", device.other_bytes);
  out.add_text("os", device.os);
  out.add_number("headroom", device.headroom);
  return out;
}

}  // namespace

std::string_view name_of(Dtype dtype) {
  return dtype == Dtype::kFloat32 ? "float32" : dtype == Dtype::kFloat16 ? "float16" : "bfloat16";
}

std::string normalised(const Scenario& scenario, const ModelReading& model) {
  Value out = Value::object();
  out.add("model", model.model);
  out.add("config", model.overrides);
  out.add_text("dtype", name_of(scenario.dtype));
  out.add_text("attn_implementation", scenario.attn_implementation);
  out.add_text("trainer", scenario.trainer);
  Value training = training_of(scenario.training);
  if (scenario.evaluate) add_evaluation(*scenario.evaluate, training);
  out.add("training", std::move(training));
  out.add("peft", adapters_of(scenario));
  out.add("quantization",
          scenario.quantization ? quantization_of(*scenario.quantization) : Value());
  out.add("rl", scenario.rl ? rl_of(*scenario.rl) : Value());
  out.add("parallel", scenario.parallel ? parallel_of(*scenario.parallel) : Value());
  if (scenario.serving) out.add("serving", serving_of(*scenario.serving));
  out.add_flag("attention_mask", scenario.attention_mask);
  out.add_flag("keep_outputs", scenario.keep_outputs);
  out.add("moments", names_of(moments_of(scenario)));
  out.add("card", scenario.device.card.empty() ? Value() : Value::of_text(scenario.device.card));
  out.add("device", device_of(scenario.device));
  out.add("allocator", allocator_of(scenario.allocator));
  out.add("at_event", or_null(scenario.at_event));
  return json::write(out);
}

}  // namespace ledger::reading
