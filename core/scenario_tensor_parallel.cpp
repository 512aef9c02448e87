// What tensor_parallel_size of `parallel` goes together with.
#include <algorithm>
#include <cmath>

#include "core/nearest.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

void check_divisors(const Scenario& scenario, Findings& findings) {
  const Parallel& p = *scenario.parallel;
  const double size = p.tensor_parallel_size;
  struct Divided {
    double value;
    const char* what;
  };
  const ModelConfig& model = scenario.model;
  const double heads = model.number("num_attention_heads");
  const Divided all[] = {
      {heads, "attention heads"},
      {model.number_or("num_key_value_heads", heads), "heads of keys and values"},
      {model.number("intermediate_size"), "columns of the feed-forward"},
      {p.parallelize_embedding_and_head ? model.number("vocab_size") : 0,
       "rows of the embedding; give parallelize_embedding_and_head false, or another vocab_size"},
      {p.sequence_parallel ? scenario.training.max_length : 0,
       "tokens of training.max_length, which sequence_parallel divides"}};
  for (const Divided& one : all) {
    if (std::fmod(one.value, size) == 0) continue;
    findings.add("parallel.tensor_parallel_size",
                 "parallel.tensor_parallel_size is " + grouped(size) +
                     ", which does not divide the " + grouped(one.value) + " " + one.what + ".",
                 grouped(size));
  }
}

}  // namespace

// What parallelize_module was measured with.
void check_tensor_parallel(const Scenario& scenario, Findings& findings) {
  const Parallel& p = *scenario.parallel;
  const Training& training = scenario.training;
  const auto refuse = [&](const char* path, const char* why, std::string_view near = {}) {
    findings.add(path, std::string(path) + " " + why, std::string(), std::string(near));
  };
  check_divisors(scenario, findings);
  const std::string& type = scenario.model.model_type;
  if (!type.empty() && std::find(kDividedModelTypes.begin(), kDividedModelTypes.end(), type) ==
                           kDividedModelTypes.end()) {
    findings.add("parallel.tensor_parallel_size",
                 "parallel.tensor_parallel_size is modelled for the model types " +
                     listed({kDividedModelTypes.begin(), kDividedModelTypes.end()}, "and") +
                     ", not yet for " + type + ".");
  }
  if (p.parallelize_embedding_and_head && scenario.model.flag("tie_word_embeddings")) {
    refuse("parallel.parallelize_embedding_and_head",
           "needs two tables; this model's head is its embedding, which parallelize_module cannot "
           "divide in both ways. Give false.");
  }
  if (p.sequence_parallel && !p.parallelize_embedding_and_head) {
    refuse("parallel.sequence_parallel",
           "is modelled with parallelize_embedding_and_head true: the embedding's rows are what "
           "leaves each rank its tokens.");
  }
  if (p.loss_parallel && !p.parallelize_embedding_and_head) {
    refuse("parallel.loss_parallel",
           "keeps the logits divided; it needs parallelize_embedding_and_head true.");
  }
  if (scenario.model.flag("attention_bias") || scenario.model.flag("mlp_bias")) {
    refuse("config",
           "has biases of o_proj or the feed-forward, which together with "
           "tensor_parallel_size are not modelled.");
  }
  if (training.optim != "adamw_torch_fused") {
    refuse("training.optim",
           "together with tensor_parallel_size is modelled for adamw_torch_fused only.",
           "adamw_torch_fused");
  }
  if (training.max_grad_norm > 0 && !p.shards()) {
    refuse("training.max_grad_norm",
           "together with tensor_parallel_size is not modelled yet; give 0.");
  }
  if (training.gradient_accumulation_steps > 1) {
    refuse("training.gradient_accumulation_steps",
           "together with tensor_parallel_size is not modelled yet; give 1.");
  }
  if (training.gradient_checkpointing && training.use_reentrant && !p.shards()) {
    refuse("training.gradient_checkpointing_kwargs.use_reentrant",
           "together with tensor_parallel_size is not modelled; give false.");
  }
  if (training.use_liger_kernel && !p.shards()) {
    refuse("training.use_liger_kernel", "together with tensor_parallel_size is not modelled.");
  }
  if (training.label_smoothing_factor > 0) {
    refuse("training.label_smoothing_factor",
           "together with tensor_parallel_size is not modelled.");
  }
  if (scenario.attn_implementation != "sdpa") {
    refuse("attn_implementation", "together with tensor_parallel_size is modelled for sdpa only.",
           "sdpa");
  }
  if (scenario.attention_mask) {
    refuse("attention_mask", "together with tensor_parallel_size is not modelled; give false.");
  }
  if (scenario.peft) refuse("peft", "together with tensor_parallel_size is not modelled yet.");
  if (scenario.quantization && !p.shards()) {
    refuse("quantization", "together with tensor_parallel_size is not modelled.");
  }
}

}  // namespace ledger::reading
