// What a scenario may contain: its keys, choices, ranges, and what is not modelled yet.
#pragma once

#include <array>
#include <string_view>

namespace ledger {

struct Limit {  // a range, its ends included
  std::string_view path;
  double min, max;
  bool whole = true;
};

// The ranges of a config.json's keys stand in core/data/model_types.
inline constexpr std::array kLimits = {
    Limit{"training.per_device_train_batch_size", 1, 65536},
    Limit{"training.max_length", 1, 16777216},
    Limit{"training.gradient_accumulation_steps", 1, 1000000},
    Limit{"training.max_grad_norm", 0, 1e9, false},
    Limit{"training.label_smoothing_factor", 0, 1, false},
    Limit{"peft.r", 1, 1000000},
    Limit{"peft.lora_dropout", 0, 1, false},
    Limit{"device.multiprocessors", 1, 4096},
    Limit{"device.threads_per_multiprocessor", 32, 4096},
    Limit{"device.total_bytes", 1, 1e15},
    Limit{"device.other_bytes", 0, 1e15},
    Limit{"at_event", 0, 1e9},
};

constexpr Limit limit_of(std::string_view path) {
  for (const Limit& limit : kLimits) {
    if (limit.path == path) return limit;
  }
  return {path, 0, 0};
}

// A double counts bytes exactly up to here; no tensor and no total may go beyond.
inline constexpr double kMaxTotalBytes = 9007199254740992;  // 2^53

// A name of a choice, and what it is called by people.
struct Choice {
  std::string_view id, what;
};

inline constexpr std::array kDtypes = {
    Choice{"float32", "four bytes per element"},
    Choice{"bfloat16", "two bytes per element, the range of float32"},
    Choice{"float16", "two bytes per element, a smaller range"},
};

inline constexpr std::array kAttentions = {
    Choice{"sdpa", "PyTorch's fused attention: no T × T tensor without a mask"},
    Choice{"eager", "attention in plain operators: scores of T × T per head"},
};

inline constexpr std::array kTrainers = {
    Choice{"torch", "a plain loop: forward, backward, step, zero_grad"},
    Choice{"transformers", "transformers' Trainer"},
    Choice{"trl", "TRL's SFTTrainer: a loss without logits"},
};

inline constexpr std::array kLossTypes = {
    Choice{"nll", "the negative log-likelihood"},
    Choice{"dft", "dynamic fine-tuning: each token's loss weighted by its probability"},
};

inline constexpr std::array kPackingStrategies = {
    Choice{"bfd", "best fit, the longest first; what is too long is cut off"},
    Choice{"bfd_split", "the same; what is too long is split"},
    Choice{"wrapped", "all samples in a row, cut at max_length"},
};

// Model types whose layers take Liger's kernels here.
inline constexpr std::array<std::string_view, 4> kLigerModelTypes = {"llama", "mistral", "qwen2",
                                                                     "qwen3"};

// A list of them, each in this range.
inline constexpr std::size_t kMostSampleLengths = 4096;
inline constexpr double kLeastSampleLength = 2, kLargestSampleLength = 16777216;

// Compute capabilities that the PyTorch that is modelled runs on.
inline constexpr std::array<std::string_view, 11> kComputeCapabilities = {
    "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"};

// Names of transformers' `optim` that are known but have no row in core/data/optimizers.hpp yet.
inline constexpr std::array<std::string_view, 12> kOptimizersToCome = {
    "adalomo",
    "adamw_anyprecision",
    "adamw_torch_npu_fused",
    "adamw_torch_xla",
    "apollo_adamw_layerwise",
    "galore_adafactor",
    "galore_adafactor_layerwise",
    "galore_adamw_8bit",
    "galore_adamw_8bit_layerwise",
    "galore_adamw_layerwise",
    "lomo",
    "schedule_free_radam"};

}  // namespace ledger
