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
  out.add("rope", Value::of_flag(kernels.rope));
  out.add("rms_norm", Value::of_flag(kernels.rms_norm));
  out.add("swiglu", Value::of_flag(kernels.swiglu));
  out.add("cross_entropy", Value::of_flag(kernels.cross_entropy));
  out.add("fused_linear_cross_entropy", Value::of_flag(kernels.fused_linear_cross_entropy));
  return out;
}

Value training_of(const Training& training) {
  Value out = Value::object();
  out.add("per_device_train_batch_size", Value::of_number(training.per_device_train_batch_size));
  out.add("max_length", Value::of_number(training.max_length));
  out.add("gradient_accumulation_steps", Value::of_number(training.gradient_accumulation_steps));
  out.add("gradient_checkpointing", Value::of_flag(training.gradient_checkpointing));
  out.add("gradient_checkpointing_kwargs", Value::object())
      .add("use_reentrant", Value::of_flag(training.use_reentrant));
  out.add("bf16", Value::of_flag(training.bf16));
  out.add("fp16", Value::of_flag(training.fp16));
  out.add("optim", Value::of_text(training.optim));
  out.add("optim_args", args_of(training));
  out.add("max_grad_norm", Value::of_number(training.max_grad_norm));
  out.add("use_liger_kernel", Value::of_flag(training.use_liger_kernel));
  out.add("liger_kernel_config", kernels_of(training));
  out.add("label_smoothing_factor", Value::of_number(training.label_smoothing_factor));
  out.add("loss_type", Value::of_text(training.loss_type));
  out.add("packing", Value::of_flag(training.packing));
  out.add("packing_strategy", Value::of_text(training.packing_strategy));
  out.add("padding_free", Value::of_flag(training.padding_free));
  std::vector<Value> lengths;
  for (const double length : training.sample_lengths) lengths.push_back(Value::of_number(length));
  out.add("sample_lengths", lengths.empty() ? Value() : Value::of_list(std::move(lengths)));
  return out;
}

Value peft_of(const Peft& peft) {
  Value out = Value::object();
  out.add("peft_type", Value::of_text("LORA"));
  out.add("r", Value::of_number(peft.r));
  if (peft.target_modules == std::vector<std::string>{"all-linear"}) {
    out.add("target_modules", Value::of_text("all-linear"));
  } else {
    std::vector<Value> names;
    for (const std::string& name : peft.target_modules) names.push_back(Value::of_text(name));
    out.add("target_modules", Value::of_list(std::move(names)));
  }
  out.add("lora_dropout", Value::of_number(peft.lora_dropout));
  out.add("autocast_adapter_dtype", Value::of_flag(peft.autocast_adapter_dtype));
  return out;
}

Value quantization_of(const Quantization& q) {
  Value out = Value::object();
  out.add("load_in_4bit", Value::of_flag(true));
  out.add("bnb_4bit_quant_type", Value::of_text(q.bnb_4bit_quant_type));
  out.add("bnb_4bit_use_double_quant", Value::of_flag(q.bnb_4bit_use_double_quant));
  out.add("bnb_4bit_compute_dtype", Value::of_text(name_of(q.bnb_4bit_compute_dtype)));
  out.add("prepare_model_for_kbit_training", Value::of_flag(q.prepare_model_for_kbit_training));
  return out;
}

// With a card, only what differs from what the card says: naming another card then is enough to
// change cards.
Value device_of(const Device& device) {
  Device card;
  if (!device.card.empty()) {
    Value named = Value::object();
    named.add("card", Value::of_text(device.card));
    Findings none;
    card = read_device(named, none);
  }
  const bool all = device.card.empty();
  const bool other_chip =
      device.compute_major != card.compute_major || device.compute_minor != card.compute_minor;
  Value out = Value::object();
  if (all || other_chip) {
    out.add("compute_capability", Value::of_text(std::to_string(device.compute_major) + "." +
                                                 std::to_string(device.compute_minor)));
  }
  if (all || other_chip || device.multiprocessors != card.multiprocessors) {
    out.add("multiprocessors", Value::of_number(device.multiprocessors));
  }
  if (all || other_chip || device.threads_per_multiprocessor != card.threads_per_multiprocessor) {
    out.add("threads_per_multiprocessor", Value::of_number(device.threads_per_multiprocessor));
  }
  if (all || device.total_bytes != card.total_bytes) {
    out.add("total_bytes", or_null(device.total_bytes));
  }
  out.add("other_bytes", Value::of_number(device.other_bytes));
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
  out.add("dtype", Value::of_text(name_of(scenario.dtype)));
  out.add("attn_implementation", Value::of_text(scenario.attn_implementation));
  out.add("trainer", Value::of_text(scenario.trainer));
  out.add("training", training_of(scenario.training));
  out.add("peft", scenario.peft ? peft_of(*scenario.peft) : Value());
  out.add("quantization",
          scenario.quantization ? quantization_of(*scenario.quantization) : Value());
  out.add("rl", scenario.rl ? rl_of(*scenario.rl) : Value());
  out.add("attention_mask", Value::of_flag(scenario.attention_mask));
  out.add("keep_outputs", Value::of_flag(scenario.keep_outputs));
  out.add("card", scenario.device.card.empty() ? Value() : Value::of_text(scenario.device.card));
  out.add("device", device_of(scenario.device));
  out.add("at_event", or_null(scenario.at_event));
  return json::write(out);
}

}  // namespace ledger::reading
