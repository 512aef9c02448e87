// What is wrong with a scenario only in combination, and sizes beyond what can be counted.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/data/optimizers.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

void check_autocast(const Scenario& scenario, Findings& findings) {
  const Training& training = scenario.training;
  if (training.bf16 && training.fp16) {
    findings.add("training.fp16",
                 "training.bf16 and training.fp16 are both true; autocast has one type, so one of "
                 "them must be false.");
  }
}

// Beside weights of GPTQ, AWQ and torchao.
void check_stored(const Scenario& s, Findings& findings) {
  if (!s.quantization || s.quantization->by_bitsandbytes()) return;
  const std::string& method = s.quantization->quant_method;
  if (s.peft->use_dora) {
    findings.add("peft.use_dora",
                 "peft.use_dora is true with weights of " + method + "; " +
                     (method == "torchao" ? "that is not modelled" : "peft refuses that") +
                     ". Give false.",
                 "true");
  }
  if (method != "torchao" && s.dtype == Dtype::kFloat32) {
    findings.add("dtype",
                 "dtype is float32, but the kernels for weights of " + method +
                     " take 16-bit types only; give float16 or bfloat16.",
                 "float32", "float16");
  }
  if (s.load) {
    findings.add("moments", "moments has \"load\", which is not modelled for weights of " + method +
                                "; they come packed.");
  }
  if (s.model.number("num_experts_per_tok") > 0) {
    findings.add("quantization",
                 "quantization by " + method +
                     " is not modelled for mixtures of experts: their experts are no linear "
                     "modules.");
  }
}

// LoRA's own paths are peft.r, or peft[0].r in a list.
void check_adapters(const Scenario& scenario, Findings& findings) {
  if (scenario.quantization && !scenario.peft) {
    findings.add("quantization",
                 "quantization packs the weights into integers, which cannot be trained; give "
                 "peft as well (QLoRA), or leave quantization out.");
  }
  if (!scenario.peft) return;
  check_stored(scenario, findings);
  if (scenario.quantization && scenario.peft->bias != "none") {
    findings.add("peft.bias",
                 "peft.bias is " + quoted(scenario.peft->bias) +
                     " with quantization; biases beside packed weights are modelled "
                     "frozen only, so it must be \"none\".",
                 quoted(scenario.peft->bias), "none");
  }
  const double width = scenario.model.number("hidden_size");
  double rank = scenario.peft->r;
  for (const auto& [name, r] : scenario.peft->rank_pattern) rank = std::max(rank, r);
  for (const Peft& other : scenario.other_adapters) rank = std::max(rank, other.r);
  if (width > 0 && rank > width) {
    findings.add("peft.r",
                 "peft.r is " + grouped(rank) + ", above the model's hidden width of " +
                     grouped(width) + "; an update of that rank is no longer a low-rank one.",
                 grouped(rank));
  }
}

void check_optimizer(const Scenario& scenario, Findings& findings) {
  const auto offload = scenario.training.optim_args.find("cpu_offload");
  const bool offloads = offload != scenario.training.optim_args.end() && offload->second > 0;
  if (offloads && scenario.trainer != "torch") {
    findings.add(
        "training.optim_args.cpu_offload",
        "training.optim_args.cpu_offload is torchao's CPUOffloadOptimizer, which trainer " +
            scenario.trainer + " does not know; give false, or trainer torch.",
        "true");
  }
  const bool adapters_in_32 = scenario.peft && scenario.peft->autocast_adapter_dtype;
  if (scenario.dtype != Dtype::kBFloat16 || adapters_in_32) return;
  for (const OptimizerRow& row : kOptimizers) {
    if (row.optim != scenario.training.optim || row.bfloat16) continue;
    findings.add("training.optim",
                 "training.optim " + scenario.training.optim +
                     " has no kernel for gradients in bfloat16: bitsandbytes refuses the step. "
                     "Choose dtype float16 or float32, or optim rmsprop.",
                 scenario.training.optim, "rmsprop");
    return;
  }
}

// torch/amp/grad_scaler.py, _unscale_grads_: gradients of 16 bit are refused, or have no kernel.
void check_scaler(const Scenario& scenario, Findings& findings) {
  if (!scenario.training.fp16 || scenario.trainer == "torch") return;
  const bool trl_casts = scenario.trainer == "trl" && scenario.quantization;
  const bool in_32 = scenario.peft && scenario.peft->autocast_adapter_dtype;
  const Dtype trained = trl_casts ? Dtype::kBFloat16 : in_32 ? Dtype::kFloat32 : scenario.dtype;
  if (trained == Dtype::kFloat32) return;
  findings.add("training.fp16",
               "training.fp16 under trainer " + scenario.trainer +
                   " scales gradients, and the gradients of what is trained would be " +
                   std::string(name_of(trained)) + ", which PyTorch's gradient scaler refuses. " +
                   (trl_casts ? "TRL makes the adapters of a packed model bfloat16: give bf16."
                              : "Give dtype float32, or bf16 in place of fp16."),
               "true");
}

void check_trainer(const Scenario& scenario, Findings& findings) {
  const Training& training = scenario.training;
  check_scaler(scenario, findings);
  const bool trl = scenario.trainer == "trl";
  const std::string& type = scenario.model.model_type;
  const bool known =
      std::find(kLigerModelTypes.begin(), kLigerModelTypes.end(), type) != kLigerModelTypes.end();
  if (training.use_liger_kernel && !known) {
    findings.add("training.use_liger_kernel",
                 "training.use_liger_kernel is modelled for the model types " +
                     listed({kLigerModelTypes.begin(), kLigerModelTypes.end()}, "and") +
                     ", not yet for " + type + "; give false.");
  }
  if (scenario.keep_outputs && scenario.trainer != "torch") {
    findings.add("keep_outputs",
                 "keep_outputs is true; trainer " + scenario.trainer +
                     " drops the model's outputs before the backward pass. Give false.");
  }
  if (trl && training.loss_type == "dft" && training.label_smoothing_factor > 0) {
    findings.add("training.label_smoothing_factor",
                 "training.label_smoothing_factor has no effect with loss_type dft; give 0.");
  }
  if (trl &&
      scenario.model.number("num_experts") + scenario.model.number("num_local_experts") > 0) {
    findings.add("trainer",
                 "trainer trl adds a load-balancing loss for models with experts, which is not "
                 "modelled yet; trainer transformers is.",
                 "trl", "transformers");
  }
  if (scenario.keep_outputs && training.loss_type == kChunkedLoss) {
    findings.add("keep_outputs",
                 "keep_outputs is true, but the loss in chunks lets the logits go; give false.");
  }
  if (training.packing && training.packing_strategy == "wrapped" && training.padding_free) {
    findings.add(
        "training.padding_free",
        "training.padding_free with packing_strategy wrapped is not modelled; give false.");
  }
}

bool has_windows(const ModelConfig& config) {
  const auto types = config.lists.find("layer_types");
  if (types != config.lists.end()) {
    for (const std::string& type : types->second) {
      if (type != "full_attention") return true;
    }
  }
  const bool switched_off = config.flags.count("use_sliding_window") > 0;
  return config.number_or("sliding_window", 0) > 0 &&
         (!switched_off || config.flag("use_sliding_window"));
}

void check_rl(const Scenario& scenario, Findings& findings) {
  if (!scenario.rl) return;
  const auto refuse = [&](std::string_view path, std::string_view why) {
    findings.add(std::string(path), std::string(path) + " " + std::string(why));
  };
  if (scenario.trainer != "trl") {
    findings.add("trainer",
                 "trainer is " + quoted(scenario.trainer) +
                     ", but rl is what trl's trainers do; it must be \"trl\", or rl left out.",
                 scenario.trainer, "trl");
  }
  const Training& training = scenario.training;
  for (const auto& [given, key] :
       {std::pair{training.packing, "training.packing"},
        {training.padding_free, "training.padding_free"},
        {!training.sample_lengths.empty(), "training.sample_lengths"},
        {training.use_liger_kernel, "training.use_liger_kernel"},
        {training.label_smoothing_factor > 0, "training.label_smoothing_factor"},
        {training.loss_type != "nll", "training.loss_type"}}) {
    if (given) refuse(key, "belongs to SFTTrainer; leave it out where rl is given.");
  }
  const bool packs = scenario.quantization.has_value();
  if (packs && !scenario.quantization->by_bitsandbytes()) {
    refuse("quantization.quant_method",
           "together with rl is modelled for bitsandbytes only, not yet for others.");
  }
  if (packs && (scenario.rl->method == "reward" || scenario.rl->method == "grpo")) {
    refuse("quantization",
           "is modelled for the methods dpo and kto, not yet for " + scenario.rl->method + ".");
  }
  if (scenario.attention_mask) {
    refuse("attention_mask",
           "together with rl is not modelled: prompts and completions have their full length.");
  }
  if (scenario.keep_outputs) refuse("keep_outputs", "has no meaning together with rl.");
  if (scenario.rl->method != "grpo") return;
  if (scenario.serving && scenario.serving->colocated) return;  // an engine generates
  if (scenario.attn_implementation == "eager") {
    refuse("attn_implementation",
           "eager is not modelled for generation yet, which grpo needs; sdpa is.");
  }
  const std::string_view type = scenario.model.model_type;
  const bool known = std::find(kGenerates.begin(), kGenerates.end(), type) != kGenerates.end();
  if (!type.empty() && (!known || has_windows(scenario.model))) {
    findings.add("rl.method", "rl.method grpo needs generation, which is not modelled yet for " +
                                  std::string(type) + (known ? " with windows of attention" : "") +
                                  "; it is for " +
                                  listed({kGenerates.begin(), kGenerates.end()}, "and") +
                                  ", without windows.");
  }
}

// Rotary types that follow the length keep their frequencies up to a number of positions.
void check_positions(const Scenario& scenario, Findings& findings) {
  const double reach = scenario.model.number_or("rotary_reach", 0);
  const double length = scenario.training.max_length;
  if (reach == 0 || length <= reach) return;
  findings.add("training.max_length",
               "training.max_length is " + grouped(length) + ", beyond the " + grouped(reach) +
                   " positions for which rotary type " + quoted(scenario.model.text("rope_type")) +
                   " keeps its frequencies; the new ones that it would compute are not modelled.",
               grouped(length));
}

// Generous upper bounds: a scenario that passes cannot reach a size that a double rounds.
void check_sizes(const Scenario& scenario, Findings& findings) {
  const ModelConfig& config = scenario.model;
  const auto of = [&](std::string_view key) { return config.number(key); };
  const double layers = of("num_hidden_layers"), width = of("hidden_size");
  const double heads = of("num_attention_heads"), head = of("head_dim");
  const double wide = of("intermediate_size"), vocabulary = of("vocab_size");
  double tokens = scenario.training.per_device_train_batch_size * scenario.training.max_length;
  // Pairs, or all completions that are generated at once.
  if (scenario.rl) tokens *= 2 * scenario.rl->steps_per_generation;
  double evaluated = 0;  // tokens whose logits are gathered, old and new ones at once
  if (const auto& e = scenario.evaluate) {
    tokens = std::max(tokens, e->per_device_eval_batch_size * scenario.training.max_length);
    evaluated = 2 * e->max_eval_samples * scenario.training.max_length;
  }
  // Weight, gradient, state, master and copies; an adapter of full rank is as large as two
  // weights, and DoRA writes the weight out again.
  const double adapters =
      scenario.peft ? 1 + static_cast<double>(scenario.other_adapters.size()) : 0;
  const double most_per_element = 32 + 64 * adapters;
  constexpr double kTensorsPerLayer = 64;  // more than any layer keeps
  const double parameters =
      2 * vocabulary * width + layers * (4 * width * heads * head + 3 * width * wide + 16 * width);
  const double activations = 4 * kTensorsPerLayer * layers * tokens * (width + wide + heads * head);
  const double logits = 4 * (8 * tokens + evaluated) * vocabulary;
  // Masks of T × T, and where attention is written out or no fused kernel takes it, scores of every
  // head.
  const bool by_head = scenario.attn_implementation == "eager" || std::fmod(head, 8) != 0 ||
                       scenario.device.compute_major < 8;
  const double scores =
      4 * 8 * layers * (by_head ? heads + 1 : 1) * tokens * scenario.training.max_length;
  const double total = most_per_element * parameters + activations + logits + scores;
  if (total < kMaxTotalBytes) return;
  const std::string path =
      most_per_element * parameters >= kMaxTotalBytes ? "model" : "training.max_length";
  findings.add(path, "This run could need more than " + grouped(kMaxTotalBytes) +
                         " bytes, up to which sizes are counted. Choose a smaller " +
                         (path == "model" ? "model." : "batch or sequence."));
}

}  // namespace

void check_together(const Scenario& scenario, const ModelReading& model, Findings& findings) {
  check_autocast(scenario, findings);
  check_adapters(scenario, findings);
  check_optimizer(scenario, findings);
  check_rl(scenario, findings);
  if (scenario.parallel) check_parallel(scenario, findings);
  if (!model.read) return;
  if (scenario.serving) check_serving(scenario, findings);
  check_trainer(scenario, findings);
  check_positions(scenario, findings);
  check_sizes(scenario, findings);
}

}  // namespace ledger::reading
