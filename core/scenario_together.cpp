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

void check_adapters(const Scenario& scenario, Findings& findings) {
  if (scenario.quantization && !scenario.peft) {
    findings.add("quantization",
                 "quantization packs the weights into four bits, which cannot be trained; give "
                 "peft as well (QLoRA), or leave quantization out.");
  }
  if (!scenario.peft) return;
  const double width = scenario.model.number("hidden_size");
  if (width > 0 && scenario.peft->r > width) {
    findings.add("peft.r",
                 "peft.r is " + grouped(scenario.peft->r) + ", above the model's hidden width of " +
                     grouped(width) + "; an update of that rank is no longer a low-rank one.",
                 grouped(scenario.peft->r));
  }
}

void check_attention(const Scenario& scenario, const ModelReading& model, Findings& findings) {
  if (scenario.attn_implementation != "sdpa") return;
  const ModelConfig& config = scenario.model;
  const double head = config.number("head_dim");
  const auto types = config.lists.find("layer_types");
  const bool windowed =
      config.numbers.count("sliding_window") > 0 &&
      (types == config.lists.end() || std::find(types->second.begin(), types->second.end(),
                                                "sliding_attention") != types->second.end());
  const bool masked =
      scenario.attention_mask ||
      (windowed && scenario.training.max_length >= config.number("sliding_window"));
  const bool half = scenario.training.bf16 || scenario.training.fp16 ||
                    scenario.dtype != Dtype::kFloat32;
  if (half && std::fmod(head, 8) != 0 && (masked || scenario.device.compute_major < 8)) {
    const auto& names = model.overridden;
    const bool own = std::find(names.begin(), names.end(), "head_dim") != names.end();
    findings.add(own ? "config.head_dim" : "model.head_dim",
                 "Heads are " + grouped(head) +
                     " wide; no fused kernel takes a mask with heads whose width is not a multiple "
                     "of 8, and what sdpa does instead is not modelled yet. attn_implementation "
                     "eager is.",
                 grouped(head));
  }
  const bool bfloat16 =
      scenario.training.bf16 || (scenario.dtype == Dtype::kBFloat16 && !scenario.training.fp16);
  if (bfloat16 && scenario.device.compute_major < 8) {
    const std::string path = scenario.training.bf16 ? "training.bf16" : "dtype";
    findings.add(
        path,
        "Below compute capability 8.0 no fused attention takes bfloat16, and what sdpa does "
        "instead is not modelled yet; choose float16, or attn_implementation eager.",
        scenario.training.bf16 ? "true" : "bfloat16", scenario.training.bf16 ? "" : "float16");
  }
}

void check_optimizer(const Scenario& scenario, Findings& findings) {
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

// Generous upper bounds: a scenario that passes cannot reach a size that a double rounds.
void check_sizes(const Scenario& scenario, Findings& findings) {
  const ModelConfig& config = scenario.model;
  const auto of = [&](std::string_view key) { return config.number(key); };
  const double layers = of("num_hidden_layers"), width = of("hidden_size");
  const double heads = of("num_attention_heads"), head = of("head_dim");
  const double wide = of("intermediate_size"), vocabulary = of("vocab_size");
  const double tokens =
      scenario.training.per_device_train_batch_size * scenario.training.max_length;
  constexpr double kMostPerElement = 32;   // weight, gradient, state, master and copies
  constexpr double kTensorsPerLayer = 64;  // more than any layer keeps
  const double parameters =
      2 * vocabulary * width + layers * (4 * width * heads * head + 3 * width * wide + 16 * width);
  const double activations = 4 * kTensorsPerLayer * layers * tokens * (width + wide + heads * head);
  const double logits = 4 * 8 * tokens * vocabulary;
  const double scores = scenario.attn_implementation == "eager"
                            ? 4 * 8 * layers * heads * tokens * scenario.training.max_length
                            : 0;
  const double total = kMostPerElement * parameters + activations + logits + scores;
  if (total < kMaxTotalBytes) return;
  const std::string path =
      kMostPerElement * parameters >= kMaxTotalBytes ? "model" : "training.max_length";
  findings.add(path, "This run could need more than " + grouped(kMaxTotalBytes) +
                         " bytes, up to which sizes are counted. Choose a smaller " +
                         (path == "model" ? "model." : "batch or sequence."));
}

}  // namespace

void check_together(const Scenario& scenario, const ModelReading& model, Findings& findings) {
  check_autocast(scenario, findings);
  check_adapters(scenario, findings);
  check_optimizer(scenario, findings);
  if (!model.read) return;
  check_attention(scenario, model, findings);
  check_sizes(scenario, findings);
}

}  // namespace ledger::reading
