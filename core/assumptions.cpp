// The sentences that go with a report's figures.
#include "core/assumptions.hpp"

#include <cmath>

#include "core/data/optimizers.hpp"
#include "core/data/versions.hpp"
#include "core/quantity.hpp"

namespace ledger {
namespace {

std::string version_of(std::string_view name) {
  for (const SoftwareVersion& v : kVersions) {
    if (v.name == name) return std::string(v.version);
  }
  return {};
}

void add_rl(const Rl& rl, bool shortened, std::vector<std::string>& out) {
  if (rl.method == "reward") return;
  out.push_back(
      "Every prompt and every completion has its full length; what only metrics use, a number for "
      "each sequence or token, is left out.");
  if (rl.method != "grpo") return;
  out.push_back(
      "The model samples completions itself, without an engine; functions on the host reward "
      "them.");
  if (shortened) {
    out.push_back(
        "Of a generation only the first and the last tokens are replayed: between them its cache "
        "only grows.");
  }
}

// trl's class, by method.
std::string class_of(const Rl& rl) {
  if (rl.method == "dpo") return "DPOTrainer";
  if (rl.method == "kto") return "KTOTrainer";
  return rl.method == "grpo" ? "GRPOTrainer" : "RewardTrainer";
}

std::string program_of(const Scenario& s) {
  if (s.trainer == "torch") {
    return "A plain training loop: forward, backward, step, zero_grad(set_to_none=True).";
  }
  if (s.trainer == "transformers") {
    return "transformers' Trainer with accelerate " + version_of("accelerate") +
           ": a batch lives until the next one is there; the loss is a sum divided by the number "
           "of labels that count.";
  }
  if (s.rl) return class_of(*s.rl) + " of TRL " + version_of("trl") + ".";
  return "SFTTrainer of TRL " + version_of("trl") +
         ": the loss scores tokens in tiles and keeps no logits; the sums for its metrics are made "
         "in every step.";
}

std::string samples_of(const Scenario& s) {
  const Training& t = s.training;
  if (t.padding_free || (t.packing && t.packing_strategy != "wrapped")) {
    return "Sequences lie one after the other in one row; their positions begin anew, so that a "
           "mask keeps them apart. All batches are alike.";
  }
  if (!t.sample_lengths.empty() && !t.packing) {
    return "Samples are padded to the longest of their batch. All batches are alike.";
  }
  return "Every sequence has the full length; labels are given; no padding mask; positions count "
         "up from zero, so that sequences are not taken for packed ones.";
}

std::string allocator_of(const Scenario& s) {
  const AllocatorOptions& options = s.allocator;
  std::string text = options == AllocatorOptions()
                         ? "The allocator's options are the default ones"
                         : "The allocator runs with the options of `allocator`";
  text += ", and empty_cache() is called once after loading.";
  text += options.expandable_segments
              ? " Pages of expandable segments are mapped in the order of their addresses."
              : " New segments lie at ascending addresses; a driver does not promise that.";
  if (options.garbage_collection_threshold > 0 && !options.per_process_memory_fraction) {
    text += " garbage_collection_threshold does nothing without per_process_memory_fraction.";
  } else if (options.garbage_collection_threshold > 0 && !s.device.total_bytes) {
    text += " garbage_collection_threshold does nothing here, as the device's size is not known.";
  }
  return text;
}

// What a router decides, and whether memory depends on it.
std::string routing_sentence(const Scenario& s, const models::MixtureConfig& m) {
  const double tokens = s.training.per_device_train_batch_size * s.training.max_length;
  const std::string experts = with_separators(m.experts.value());
  if (m.every_token) {
    return "Each of the " + experts +
           " experts of a layer computes every token, chosen or not, so that routing changes no "
           "size.";
  }
  if (s.trainer != "torch") {  // whose batches may be of other rows
    return "Experts run as grouped products, transformers' default, whose buffers hold the rows of "
           "all experts together: routing changes no size.";
  }
  const double rows = tokens * m.chosen.value();
  return "Experts run as grouped products, transformers' default: a row for each token and expert "
         "chosen for it, " +
         with_separators(rows) + " in a layer, sorted by expert. Balanced routing gives each of " +
         experts + " experts about " + with_separators(std::round(rows / m.experts.value())) +
         "; the most that one can get is " + with_separators(tokens) +
         ", and the least none. The buffers hold all rows together, so that no size depends on it: "
         "the range that imbalance gives is empty.";
}

void add_stored(const Quantization& q, std::vector<std::string>& out) {
  if (q.quant_method == "torchao") {
    out.push_back(
        "torchao writes the 8-bit weight out for each product, and autograd keeps that copy until "
        "the product's backward pass.");
  }
  if (q.quant_method == "gptq") {
    out.push_back(
        "gptqmodel runs its trainable kernel for GPTQ (backend auto_trainable), which writes the "
        "weight out for each product; autograd keeps that copy until the product's backward pass. "
        "The kernel is compiled; the trials of its first call are not counted.");
  }
  if (q.quant_method == "awq") {
    out.push_back(
        "gptqmodel's GEMM kernel for AWQ is taken; its working space was read in its source, not "
        "measured.");
  }
  if (q.quant_method != "torchao") {
    out.push_back(
        "Importing gptqmodel sets the allocator to expandable segments unless "
        "PYTORCH_ALLOC_CONF is given, so reserved memory may be less than shown.");
  }
}

void add_of_method(const Scenario& s, std::vector<std::string>& out) {
  if (s.quantization) add_stored(*s.quantization, out);
  if (s.quantization && s.quantization->load_in_8bit && s.quantization->llm_int8_threshold > 0) {
    out.push_back(
        "LLM.int8 multiplies input columns that hold an outlier in 16 bit. How many there are "
        "depends on values; none is assumed, and each would take its column of the input and of "
        "the weight for a moment.");
  }
  if (s.quantization && s.quantization->bnb_4bit_quant_storage != "uint8") {
    out.push_back(
        "bnb_4bit_quant_storage gives the packed bytes another type; on one device they are as "
        "many.");
  }
  if (s.peft && s.peft->use_rslora) {
    out.push_back("use_rslora changes the scale of the update; nothing is allocated for it.");
  }
  if (!s.other_adapters.empty()) {
    out.push_back(
        "The first adapter is trained. The others are loaded beside it and frozen: they take "
        "their place, and nothing is computed with them.");
  }
}

std::string devices_of(const Scenario& s) {
  if (!s.parallel) return "one device";
  const Parallel& p = *s.parallel;
  return "rank " + with_separators(p.rank) + " of " + with_separators(p.world_size) +
         (p.strategy == "ddp"   ? " under DistributedDataParallel"
          : p.strategy == "tp"  ? " under parallelize_module"
          : p.divides_tensors() ? " under parallelize_module and fully_shard"
                                : " under fully_shard");
}

void add_parallel(const Parallel& p, std::vector<std::string>& out) {
  if (p.divides_tensors()) {
    out.push_back(
        "Ranks of a tensor-parallel group work on the same micro-batch; the loop hands in position "
        "ids, and the optimizer has DTensors and plain parameters in two groups.");
  }
  if (p.strategy == "tp") return;
  out.push_back(
      "Every rank has micro-batches of its own of this size, and reduces gradients in each "
      "backward "
      "pass (no no_sync()). Memory is freed as if collectives had ended when they are waited for.");
  if (p.strategy == "ddp") {
    out.push_back(p.static_graph
                      ? "With static_graph the order of gradients is known after two passes: the "
                        "third makes the buckets anew."
                      : "The state is broadcast by the constructor, buffers before every pass.");
    return;
  }
  if (p.wraps_layers) {
    out.push_back(
        "fully_shard is called on each layer, then on the model; prefetching is its own.");
  }
  out.push_back("Parts are equal: the last ranks hold padding where rows do not divide.");
}

void add_moments(const Scenario& s, std::vector<std::string>& out) {
  if (s.evaluate) {
    const bool after = s.evaluate->bf16_full_eval || s.evaluate->fp16_full_eval;
    out.push_back(after ? "The evaluation follows the training and converts the model, for good."
                        : "The evaluation follows the second step, between two steps; "
                          "bf16_full_eval and fp16_full_eval would act only after training.");
    if (training::shortens_evaluation(s)) {
      out.push_back(
          "Of the evaluation only its first batches and the last one are replayed: between them "
          "what is kept only grows.");
    }
  }
  if (s.save) {
    out.push_back(
        "A checkpoint is saved after that: tensors go to the host one by one, and nothing is "
        "gathered on the device but what the file has in another form.");
  }
}

}  // namespace

std::vector<std::string> assumptions_of(const Scenario& s, const models::DecoderConfig& model,
                                        const Simulation& simulation) {
  std::vector<std::string> out = {
      "PyTorch " + version_of("torch") + " for CUDA " + version_of("cuda") + " with transformers " +
          version_of("transformers") + ", on " + devices_of(s) + ".",
      program_of(s) + " Two steps are replayed; the second is the steady state.",
      samples_of(s),
      allocator_of(s),
  };
  if (s.trainer == "torch") {
    out.push_back(
        "The optimizer step's own scalars live on the host; nothing is logged or kept from step to "
        "step.");
  } else {
    out.push_back("Which labels count changes nothing but a few small tensors.");
    if (s.training.fp16) {
      out.push_back(
          "The gradient scaler finds no gradient infinite; a step that it skips needs less.");
    }
  }
  if (model.mixture.experts.value() > 0) out.push_back(routing_sentence(s, model.mixture));
  out.insert(out.end(), s.model.notes.begin(), s.model.notes.end());
  if (s.keep_outputs) {
    out.push_back("The model's output object outlives the backward pass, so its logits do too.");
  } else {
    out.push_back("The model's output object is dropped before the backward pass.");
  }
  if (s.rl) add_rl(*s.rl, simulation.run.generation_shortened, out);
  if (simulation.micro_batches < s.training.gradient_accumulation_steps) {
    const std::string shown = with_separators(simulation.micro_batches);
    out.push_back(simulation.repeats
                      ? "Micro-batches after the first " + shown +
                            " of a step only repeat what is shown, and are not drawn."
                      : "Only the first " + shown +
                            " micro-batches of a step are replayed; the "
                            "allocator has not come back to a state that it was in before.");
  }
  add_of_method(s, out);
  if (s.parallel) add_parallel(*s.parallel, out);
  add_moments(s, out);
  const OptimizerRow* optimizer = find_optimizer(s.training.optim, [&](std::string_view name) {
    const auto given = s.training.optim_args.find(name);
    return given == s.training.optim_args.end() ? 0 : given->second;
  });
  if (optimizer && !optimizer->assumption.empty()) out.emplace_back(optimizer->assumption);
  const std::string capability =
      std::to_string(s.device.compute_major) + "." + std::to_string(s.device.compute_minor);
  out.push_back("Compute capability " + capability + " with " +
                with_separators(s.device.multiprocessors) +
                " multiprocessors: workspaces and scratch follow them.");
  if (!s.device.cuda) {
    out.push_back(
        "The card is no CUDA device: its kernels and allocator are not known, and those of such a "
        "CUDA device stand in for them.");
  }
  out.push_back(
      "The CUDA context and what is loaded with it is outside PyTorch's allocator and "
      "cannot be derived; it is a measured range.");
  return out;
}

}  // namespace ledger
