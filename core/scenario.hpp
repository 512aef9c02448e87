// The scenario: one training run, complete and checked, and the only reader of input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/allocator_options.hpp"
#include "core/named.hpp"
#include "core/result.hpp"

namespace ledger {

// One byte each: std::vector<bool> is much code for little memory.
using Flags = std::vector<std::uint8_t>;

enum class Dtype : std::uint8_t { kBool, kUint8, kInt32, kInt64, kFloat16, kBFloat16, kFloat32 };

// Bytes per element.
constexpr int bytes_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBool:
    case Dtype::kUint8: return 1;
    case Dtype::kFloat16:
    case Dtype::kBFloat16: return 2;
    case Dtype::kInt32:
    case Dtype::kFloat32: return 4;
    case Dtype::kInt64: return 8;
  }
  return 0;
}

// The keys of a config.json that memory depends on, complete (transformers' defaults filled in) and
// checked against core/data/model_types/<model_type>.json. Asking for a key that the model type's
// file does not list is a programming error and answers 0, false or "".
struct ModelConfig {
  std::string id;          // preset's id; empty for a pasted config
  std::string model_type;  // transformers' model_type, e.g. "qwen3"
  std::string source;      // where the configuration was read
  Named<double> numbers;   // null keys are absent
  Named<bool> flags;
  Named<std::string> texts;
  Named<std::vector<std::string>> lists;  // of texts, or of numbers written as text
  std::vector<std::string> notes;         // sentences on what of the configuration is left out

  [[gnu::always_inline]] double number(std::string_view key) const { return number_or(key, 0); }
  // For keys that may be null.
  [[gnu::always_inline]] double number_or(std::string_view key, double otherwise) const {
    return number_of(key.data(), key.size(), otherwise);
  }
  [[gnu::always_inline]] bool flag(std::string_view key) const {
    return flag_of(key.data(), key.size());
  }
  [[gnu::always_inline]] std::string_view text(std::string_view key) const {
    return text_of(key.data(), key.size());
  }

 private:  // a text by its parts, so that they travel in registers
  double number_of(const char* key, std::size_t length, double otherwise) const;
  bool flag_of(const char* key, std::size_t length) const;
  std::string_view text_of(const char* key, std::size_t length) const;
};

// A loss_type of a plain loop: torchtune's.
inline constexpr std::string_view kChunkedLoss = "CEWithChunkedOutputLoss";

// Kernels of Liger, named as in transformers' liger_kernel_config.
struct LigerKernels {
  bool rope = false;
  bool rms_norm = false;
  bool swiglu = false;
  bool cross_entropy = false;
  bool fused_linear_cross_entropy = false;
};

// Fields bear the names of transformers' TrainingArguments, the last ones those of TRL's SFTConfig.
struct Training {
  double per_device_train_batch_size = 1;  // B
  double max_length = 1024;                // T
  double gradient_accumulation_steps = 1;  // A
  bool gradient_checkpointing = false;
  bool use_reentrant = false;
  bool bf16 = false;  // autocast
  bool fp16 = false;  // autocast
  std::string optim = "adamw_torch_fused";
  Named<double> optim_args;  // flags as 0 and 1
  double max_grad_norm = 0;
  bool use_liger_kernel = false;
  LigerKernels liger_kernel_config;  // all off without use_liger_kernel
  double label_smoothing_factor = 0;
  std::string loss_type = "nll";
  double num_output_chunks = 8;  // of torchtune's loss in chunks
  bool packing = false;
  std::string packing_strategy = "bfd";
  bool padding_free = false;
  std::vector<double> sample_lengths;  // tokens of each sample of a batch; empty: all max_length
};

// Fields bear the names of peft's LoraConfig.
struct Peft {
  double r = 8;
  std::vector<std::string> target_modules;     // names; {"all-linear"} for all but the head
  std::vector<std::string> target_parameters;  // of experts: "gate_up_proj", "down_proj"
  double lora_dropout = 0;
  bool autocast_adapter_dtype = true;  // adapters in 32 bit whatever the weights are
  bool use_rslora = false;             // scales otherwise; nothing is allocated for it
  bool use_dora = false;
  std::string bias = "none";                                 // or "all", "lora_only"
  std::vector<std::string> modules_to_save;                  // names of modules trained as a whole
  std::vector<double> trainable_token_indices;               // rows of the embedding
  std::vector<std::pair<std::string, double>> rank_pattern;  // r of linears of that name
};

// Fields bear the names of transformers' BitsAndBytesConfig, the last ones those of GPTQConfig,
// AwqConfig and TorchAoConfig.
struct Quantization {
  bool load_in_8bit = false;  // LLM.int8; else four bits
  std::string bnb_4bit_quant_type = "fp4";
  bool bnb_4bit_use_double_quant = false;
  Dtype bnb_4bit_compute_dtype = Dtype::kFloat32;
  std::string bnb_4bit_quant_storage = "uint8";  // the same bytes under another name
  double llm_int8_threshold = 6;
  std::vector<std::string> llm_int8_skip_modules = {"lm_head"};
  bool prepare_model_for_kbit_training = true;
  std::string quant_method = "bitsandbytes";    // or "gptq", "awq", "torchao"
  double bits = 4;                              // of gptq and awq
  double group_size = 128;                      // weights that share a scale; -1: a whole column
  bool desc_act = false, sym = true;            // of gptq: nothing is stored otherwise
  bool zero_point = true;                       // of awq
  std::string quant_type = "int8_weight_only";  // of torchao

  bool by_bitsandbytes() const { return quant_method == "bitsandbytes"; }
};

// Fields bear the names of trl's GRPOConfig, DPOConfig and KTOConfig, but for the method and the
// length of the prompt, which trl takes from its class and from the data.
struct Rl {
  std::string method;                // "dpo", "kto", "reward" or "grpo"
  double prompt_length = 0;          // tokens, of training.max_length
  double max_completion_length = 0;  // tokens, the rest of it
  bool precompute_ref_log_probs = false;
  double num_generations = 8;
  double beta = 0;  // above 0 a reference is asked
  double num_iterations = 1;
  double steps_per_generation = 1;  // micro-batches that are generated at once
};

// What one rank of a parallel run holds. Fields bear the names of DistributedDataParallel's,
// ZeroRedundancyOptimizer's and fully_shard's arguments, the sizes those of accelerate's
// ParallelismConfig.
struct Parallel {
  std::string strategy;  // "ddp", "fsdp2", "hsdp" or "tp"
  double world_size = 1;
  double rank = 0;
  // ddp
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
  bool find_unused_parameters = false;
  std::optional<double> bucket_cap_mb;  // MiB; absent: 25, and 1 for the first bucket
  std::optional<Dtype> comm_hook;       // bf16_compress_hook, fp16_compress_hook
  bool zero_redundancy_optimizer = false;
  bool parameters_as_bucket_view = false;  // its argument
  // fsdp2 and hsdp
  std::optional<bool> reshard_after_forward;  // absent: all but the root
  std::optional<Dtype> param_dtype;           // of a MixedPrecisionPolicy; absent: the weights'
  std::optional<Dtype> reduce_dtype;          // likewise; absent: the gradients'
  double dp_replicate_size = 1;               // hsdp: groups of ranks that hold the same shards
  bool wraps_layers = true;                   // accelerate's auto_wrap_policy
  bool wraps_ends = false;                    // the embedding too, and norm and head together
  bool offload_params = false;                // accelerate's name for a CPUOffloadPolicy
  // tp and fsdp2; the last one is torch's, the others name the styles of parallelize_module
  double tensor_parallel_size = 1;
  bool sequence_parallel = false;               // tokens are divided where weights are not
  bool parallelize_embedding_and_head = false;  // by vocabulary
  bool loss_parallel = false;                   // logits stay divided

  bool shards() const { return strategy == "fsdp2" || strategy == "hsdp"; }
  double shard_size() const { return world_size / dp_replicate_size / tensor_parallel_size; }
  bool divides_tensors() const { return tensor_parallel_size > 1; }
  // NCCL's: hsdp shards in one group of ranks and replicates in another, tensor parallel ranks of
  // fsdp2 are a second group.
  double communicators() const {
    return strategy == "hsdp" || (shards() && divides_tensors()) ? 2 : 1;
  }
};

// How `evaluate` of `moments` runs. Fields bear the names of transformers' TrainingArguments;
// compute_metrics is Trainer's argument, max_eval_samples the one of transformers' own scripts.
struct Evaluation {
  double per_device_eval_batch_size = 8;
  double eval_accumulation_steps = 0;  // 0: logits stay on the device until the end
  bool prediction_loss_only = false;
  bool bf16_full_eval = false;
  bool fp16_full_eval = false;
  bool compute_metrics = false;
  double max_eval_samples = 0;  // 0: two batches
};

// What is served after the training, or beside it. Fields bear the names of transformers'
// GenerationConfig, vLLM's engine arguments and SGLang's server arguments.
struct Serving {
  std::string engine;  // "transformers", "vllm" or "sglang"
  Dtype dtype = Dtype::kBFloat16;
  double prompt_length = 1024;  // tokens of each sequence
  double max_new_tokens = 256;
  double batch_size = 1;  // sequences at once, of transformers
  // transformers
  std::string cache_implementation = "dynamic";  // or "static"
  double prefill_chunk_size = 0;                 // tokens; 0: the whole prompt at once
  bool do_sample = false;
  bool padded = false;  // prompts of several lengths: the mask leaves tokens out
  // vllm
  double gpu_memory_utilization = 0.92;
  double max_num_batched_tokens = 8192, max_num_seqs = 256;
  double block_size = 16;
  bool enforce_eager = false;
  // sglang
  std::optional<double> mem_fraction_static;  // absent: as the server computes it
  std::optional<double> chunked_prefill_size, cuda_graph_max_bs;
  double page_size = 1;
  // both
  bool fp8_cache = false;  // kv_cache_dtype; else the model's own type
  bool colocated = false;  // on the device of the training, at the same time
  double sleep_level = 0;  // while training: 1 weights go to the host, cache goes; 2 both go

  double context() const { return prompt_length + max_new_tokens; }
};

struct Device {
  int compute_major = 8, compute_minor = 0;
  double multiprocessors = 108;
  double threads_per_multiprocessor = 2048;
  std::string card;                   // id in core/data/cards; empty for none
  bool cuda = true;                   // false: a card of another kind, whose kernels are not known
  bool unified = false;               // shares its memory with the CPU
  std::string os = "linux";           // or "windows", "wsl"
  std::optional<double> total_bytes;  // what PyTorch can use, from the card or typed
  double other_bytes = 0;             // taken by other processes
  double headroom = 0.1;              // share of total_bytes that a run that fits leaves free
};

struct Scenario {
  ModelConfig model;
  Dtype dtype = Dtype::kBFloat16;
  std::string attn_implementation = "sdpa";  // or "eager"
  std::string trainer = "torch";
  Training training;
  std::optional<Peft> peft;
  std::vector<Peft> other_adapters;  // loaded beside it, frozen
  std::optional<Quantization> quantization;
  std::optional<Rl> rl;
  std::optional<Parallel> parallel;
  std::optional<Serving> serving;
  bool attention_mask = false;
  bool keep_outputs = false;
  // moments: what is replayed beside the steps. Loading by from_pretrained is a program of its own.
  bool load = false;
  std::optional<Evaluation> evaluate;
  bool save = false;
  AllocatorOptions allocator;
  Device device;
  std::optional<double> at_event;  // also show the ledger at this event of the timeline
  std::string normalised;          // the scenario as JSON text, every key complete
};

// Reads and checks a scenario. Reports every problem at once; never throws, aborts or hangs.
Result<Scenario> read_scenario(std::string_view json);

}  // namespace ledger
