// What a scenario may contain: its keys, choices, ranges, and what is not modelled yet.
#pragma once

#include <array>
#include <string_view>

#include "core/scenario.hpp"

namespace ledger {

struct Limit {  // a range, its ends included
  std::string_view path;
  double min, max;
  bool whole = true;
};

// Chunks that torchtune's loss makes at most here.
inline constexpr double kMostOutputChunks = 8;

// The ranges of a config.json's keys stand in core/data/model_types.
inline constexpr std::array kLimits = {
    Limit{"training.per_device_train_batch_size", 1, 65536},
    Limit{"training.max_length", 1, 16777216},
    Limit{"training.gradient_accumulation_steps", 1, 1000000},
    Limit{"training.max_grad_norm", 0, 1e9, false},
    Limit{"training.label_smoothing_factor", 0, 1, false},
    Limit{"training.num_output_chunks", 1, kMostOutputChunks},
    Limit{"training.per_device_eval_batch_size", 1, 65536},
    Limit{"training.eval_accumulation_steps", 1, 1000000},
    Limit{"training.max_eval_samples", 1, 1000000000},
    Limit{"peft.r", 1, 1000000},
    Limit{"peft.lora_dropout", 0, 1, false},
    Limit{"rl.prompt_length", 1, 16777216},
    Limit{"rl.max_completion_length", 1, 16777216},
    Limit{"rl.num_generations", 2, 1000000},
    Limit{"rl.beta", 0, 1e9, false},
    Limit{"rl.num_iterations", 1, 1000000},
    Limit{"rl.steps_per_generation", 1, 1000000},
    Limit{"parallel.world_size", 1, 65536},
    Limit{"parallel.rank", 0, 65535},
    Limit{"parallel.bucket_cap_mb", 1, 1000000},
    Limit{"parallel.dp_replicate_size", 1, 65536},
    Limit{"parallel.tensor_parallel_size", 1, 1024},
    Limit{"quantization.llm_int8_threshold", 0, 1e9, false},
    Limit{"quantization.bits", 2, 8},
    Limit{"quantization.group_size", 1, 1000000},
    Limit{"serving.prompt_length", 1, 16777216},
    Limit{"serving.max_new_tokens", 1, 16777216},
    Limit{"serving.batch_size", 1, 65536},
    Limit{"serving.prefill_chunk_size", 1, 16777216},
    Limit{"serving.gpu_memory_utilization", 0.01, 1, false},
    Limit{"serving.max_num_batched_tokens", 1, 16777216},
    Limit{"serving.max_num_seqs", 1, 65536},
    Limit{"serving.block_size", 1, 1024},
    Limit{"serving.mem_fraction_static", 0.01, 1, false},
    Limit{"serving.chunked_prefill_size", 1, 16777216},
    Limit{"serving.cuda_graph_max_bs", 1, 65536},
    Limit{"serving.page_size", 1, 1024},
    Limit{"serving.sleep_level", 0, 2},
    Limit{"device.multiprocessors", 1, 4096},
    Limit{"device.threads_per_multiprocessor", 32, 4096},
    Limit{"device.total_bytes", 1, 1e15},
    Limit{"device.other_bytes", 0, 1e15},
    Limit{"device.headroom", 0, 0.9, false},
    Limit{"allocator.max_split_size_mb", 11, 1e9},
    Limit{"allocator.max_non_split_rounding_mb", 11, 1e9},
    Limit{"allocator.garbage_collection_threshold", 0, 1, false},
    Limit{"allocator.per_process_memory_fraction", 0, 1, false},
    Limit{"allocator.large_segment_size_mb", 11, 1e6},
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

inline constexpr std::array kSystems = {
    Choice{"linux", "without a desktop, unless device.other_bytes counts one"},
    Choice{"windows", "its desktop and driver take their part of the card"},
    Choice{"wsl", "Linux inside Windows"},
};

inline constexpr std::array kTrainers = {
    Choice{"torch", "a plain loop: forward, backward, step, zero_grad"},
    Choice{"transformers", "transformers' Trainer"},
    Choice{"trl", "TRL's SFTTrainer: a loss without logits; with rl, another of TRL's trainers"},
};

inline constexpr std::array kLossTypes = {
    Choice{"nll", "the negative log-likelihood"},
    Choice{"dft", "dynamic fine-tuning: each token's loss weighted by its probability"},
};

// Of a plain loop.
inline constexpr std::array kPlainLossTypes = {
    Choice{"nll", "transformers' own: cross-entropy of all logits at once"},
    Choice{kChunkedLoss,
           "torchtune's: cross-entropy of chunks of the sequence, one after the other"},
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

inline constexpr std::array kRlMethods = {
    Choice{"dpo", "pairs of a chosen and a rejected completion (trl's DPOTrainer)"},
    Choice{"kto", "completions that are desired or not (trl's KTOTrainer)"},
    Choice{"reward", "a reward model from pairs (trl's RewardTrainer)"},
    Choice{"grpo", "completions generated by the model itself (trl's GRPOTrainer)"},
};

inline constexpr std::array kStrategies = {
    Choice{"ddp", "torch's DistributedDataParallel: all ranks hold the whole model"},
    Choice{"fsdp2",
           "torch's fully_shard on each layer and the whole: ranks hold a part of each "
           "weight, gradient and state"},
    Choice{"hsdp", "the same within groups of ranks; the groups hold the same shards"},
    Choice{"tp",
           "torch's parallelize_module on each layer: ranks hold some of the heads and of the "
           "feed-forward"},
};
// Named for later.
inline constexpr std::array<std::string_view, 4> kStrategiesToCome = {"zero1", "zero2", "zero3",
                                                                      "fsdp1"};

// Model types whose tensor-parallel ranks were held against PyTorch's allocator.
inline constexpr std::array<std::string_view, 3> kDividedModelTypes = {"llama", "qwen2", "qwen3"};

// Model types whose generation with a cache was held against PyTorch's allocator.
inline constexpr std::array<std::string_view, 6> kGenerates = {"gemma",   "granite", "llama",
                                                               "mistral", "qwen2",   "qwen3"};

// The same for serving by transformers, windows and latent attention included.
inline constexpr std::array<std::string_view, 16> kServes = {
    "deepseek_v2", "deepseek_v3", "gemma",     "gemma2",  "gemma3_text", "glm4_moe",
    "granite",     "llama",       "mistral",   "mixtral", "olmo2",       "phi3",
    "qwen2",       "qwen3",       "qwen3_moe", "smollm3"};

inline constexpr std::array kEngines = {
    Choice{"transformers", "model.generate(), in the training's own process"},
    Choice{"vllm", "vLLM: takes a share of the card's memory, fills it with weights and cache"},
    Choice{"sglang", "SGLang: the same, by its own account"},
};

inline constexpr std::array kCacheImplementations = {
    Choice{"dynamic", "grows by one token at a time"},
    Choice{"static", "as long as it can become, from the beginning"},
};

inline constexpr std::array kCacheDtypes = {
    Choice{"auto", "the model's own type"},
    Choice{"fp8", "one byte for each number"},
};

// trl 1.16, GRPOConfig.max_completion_length.
inline constexpr double kGrpoCompletion = 512;

// Compute capabilities that the PyTorch that is modelled runs on.
inline constexpr std::array<std::string_view, 11> kComputeCapabilities = {
    "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"};

// Names of transformers' `optim` that have no row in core/data/optimizers.hpp, and why.
inline constexpr std::string_view kInBackward =
    "it updates a parameter within the backward pass, as soon as its gradient is there, and lets "
    "the gradient go; that order is not replayed";
inline constexpr std::string_view kProjected =
    "its state of projected gradients was not held against a measurement";
inline constexpr std::string_view kOtherDevice = "it runs on another kind of device";
inline constexpr std::array kOptimizersToCome = {
    Choice{"adalomo", kInBackward},
    Choice{"adamw_anyprecision",
           "torchdistx, which it comes from, has no release for this PyTorch"},
    Choice{"adamw_torch_npu_fused", kOtherDevice},
    Choice{"adamw_torch_xla", kOtherDevice},
    Choice{"apollo_adamw_layerwise", kInBackward},
    Choice{"galore_adafactor", kProjected},
    Choice{"galore_adafactor_layerwise", kInBackward},
    Choice{"galore_adamw_8bit", kProjected},
    Choice{"galore_adamw_8bit_layerwise", kInBackward},
    Choice{"galore_adamw_layerwise", kInBackward},
    Choice{"lomo", kInBackward},
    Choice{"schedule_free_radam",
           "it begins to need its second moment in the sixth step, and two steps are replayed"}};

}  // namespace ledger
