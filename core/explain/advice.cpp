// The changes, in the order in which to look: other processes and free memory, types and trainable
// parameters, a second model, batch and length, checkpointing, adapters, a smaller model.
#include "core/explain/advice.hpp"

#include <cmath>

#include "core/quantity.hpp"

namespace ledger::message {
namespace {

using json::Value;

const Expression* find_letter(const Expression* e, Letter letter, int depth) {
  if (!e || depth > 40) return nullptr;
  if (e->kind == Expression::Kind::kLetter && e->letter == letter) return e;
  if (const Expression* found = find_letter(e->left, letter, depth + 1)) return found;
  return find_letter(e->right, letter, depth + 1);
}

bool has(const Candidate* first, Letter letter) {
  return first && find_letter(first->working, letter, 0);
}

bool is(const Candidate* first, Kind kind) { return first && first->kind == kind; }

Value patch_of(std::string_view text) { return json::parse(text).value; }

std::string number_text(double number) {
  std::string out;
  json::write_number(number, out);
  return out;
}

struct Cure {
  Cause cause;
  std::string_view id;
  const char* sentence;
  const char* patch;
};
constexpr std::array kCures = {
    Cure{Cause::kFragmentation, "expandable_segments",
         "Set PYTORCH_ALLOC_CONF=expandable_segments:True (before PyTorch 2.9 "
         "PYTORCH_CUDA_ALLOC_CONF): "
         "the pieces then join.",
         R"({"allocator":{"expandable_segments":true}})"},
    Cure{Cause::kOtherProcess, "other_processes",
         "Look with nvidia-smi who else is on the device, and end it or choose another device.",
         R"({"device":{"other_bytes":0}})"},
    Cure{
        Cause::kLimit, "limit",
        "Look for a limit: a memory fraction, a high watermark, a share of the card, pinned memory "
        "or WSL2's; and for a process that comes and goes.",
        ""},
    Cure{Cause::kHostMemory, "host_memory",
         "This is the host's memory: fewer loader workers and ranks on the node, no offloading, "
         "loading with low_cpu_mem_usage or by safetensors, or a larger limit of the container.",
         ""},
    Cure{Cause::kCorruptSize, "corrupt_size",
         "Look for the length that is wrong: shapes that were broadcast, a collective whose ranks "
         "disagree, a state dict of another version. More memory does not help.",
         ""},
    Cure{Cause::kOutsideAllocator, "leave_room",
         "Leave room outside of PyTorch's allocator: torch.cuda.set_per_process_memory_fraction, a "
         "call of torch.cuda.empty_cache() before, or a smaller batch.",
         ""},
    Cure{Cause::kNotAnError, "not_an_error",
         "Nothing failed here. Look for the error that ended the run, and check what was written.",
         ""},
};

struct List {
  std::vector<Change> out;
  const Case* c;
  void add(std::string_view id, std::string sentence, std::string_view patch, bool of_tensor) {
    Change change{id, std::move(sentence), {}, of_tensor};
    if (c && !patch.empty()) {
      Value parsed = patch_of(patch);
      // Only what the scenario takes.
      if (c->scenario && read_scenario(json::write(merged(c->given, parsed))).ok())
        change.patch = std::move(parsed);
    }
    out.push_back(std::move(change));
  }
};

void add_course(List& list, const Candidate* first, const Case* c) {
  const Scenario* s = c ? c->scenario : nullptr;
  const bool persistent = is(first, Kind::kWeight) || is(first, Kind::kGradient) ||
                          is(first, Kind::kOptimizerState) ||
                          is(first, Kind::kOptimizerTemporary) || is(first, Kind::kWeightCopy);
  if (!s || s->dtype == Dtype::kFloat32) {
    list.add("dtype",
             "Load the weights in 16 bit, and count what is trained: in 32 bit weights, gradients "
             "and Adam take 16 bytes a parameter.",
             R"({"dtype":"bfloat16"})", persistent);
  }
  if (s && s->rl && (s->rl->method == "dpo" || s->rl->method == "kto") && !s->peft &&
      !s->rl->precompute_ref_log_probs) {
    list.add("second_model", "Let go of the reference: compute its log-probabilities beforehand.",
             R"({"rl":{"precompute_ref_log_probs":true}})", false);
  } else if (s && s->rl && s->rl->method == "grpo" && s->rl->beta > 0 && !s->peft) {
    list.add("second_model", "Train without the reference model.", R"({"rl":{"beta":0}})", false);
  } else if (!s) {
    list.add("second_model",
             "See whether a second model is loaded: a reference, a teacher, a copy for averaging.",
             "", false);
  }
  const double b = s ? s->training.per_device_train_batch_size : 0;
  if (!s || b > 1) {
    const double a = s ? s->training.gradient_accumulation_steps * b : 0;
    list.add("micro_batch", "Micro-batch one; accumulation keeps the effective batch as it is.",
             s ? R"({"training":{"per_device_train_batch_size":1,"gradient_accumulation_steps":)" +
                     number_text(a) + "}}"
               : std::string(),
             has(first, Letter::B) || (first && first->found == Found::kSolved));
  }
  if (!s || s->training.max_length > 64) {
    const double half = s ? std::floor(s->training.max_length / 2) : 0;
    list.add("sequence",
             "A shorter sequence, as far as the data allow: what is longer than max_length must "
             "really be cut off.",
             s ? R"({"training":{"max_length":)" + number_text(half) + "}}" : std::string(),
             has(first, Letter::T) || (first && first->found == Found::kSolved));
  }
  if (s && s->attn_implementation == "eager") {
    list.add("attention", "Fused attention keeps no T × T tensor.",
             R"({"attn_implementation":"sdpa"})",
             is(first, Kind::kScores) || is(first, Kind::kMask));
  }
  if (!s || !s->training.gradient_checkpointing) {
    list.add("checkpointing",
             "Gradient checkpointing: activations are computed again instead of kept.",
             R"({"training":{"gradient_checkpointing":true}})",
             is(first, Kind::kMlp) || is(first, Kind::kHidden) || is(first, Kind::kScores));
  }
  if (is(first, Kind::kLogits) || !first) {
    list.add(
        "evaluation_logits",
        "Do not let evaluation store logits (prediction_loss_only, preprocess_logits_for_metrics).",
        "", false);
  }
  if (is(first, Kind::kLogits) && s && !s->training.use_liger_kernel) {
    list.add("fused_loss",
             "A loss that never makes all logits at once: Liger's fused linear cross entropy.",
             R"({"training":{"use_liger_kernel":true}})", true);
  }
  if (!s || !s->peft) {
    list.add("lora", "LoRA, where weights' gradients and optimizer state are the limit.",
             R"({"peft":{"peft_type":"LORA","r":16,"target_modules":"all-linear"}})",
             is(first, Kind::kGradient) || is(first, Kind::kOptimizerState) ||
                 is(first, Kind::kOptimizerTemporary));
  } else if (!s->quantization) {
    list.add(
        "qlora", "QLoRA: the frozen weights in four bits.",
        R"({"quantization":{"load_in_4bit":true,"bnb_4bit_quant_type":"nf4","bnb_4bit_use_double_quant":true,"bnb_4bit_compute_dtype":"bfloat16"}})",
        is(first, Kind::kWeight));
  }
  list.add("smaller_model", "A smaller model, before any machinery of offloading.", "",
           first != nullptr);
}

}  // namespace

Value merged(const Value& value, const Value& patch) {
  if (!patch.is(Value::Kind::kObject)) return patch;
  Value out = value.is(Value::Kind::kObject) ? value : Value::object();
  for (const json::Member& member : patch.members) {
    std::size_t at = 0;
    while (at < out.members.size() && out.members[at].key != member.key) ++at;
    if (member.value.is_null()) {
      if (at < out.members.size())
        out.members.erase(out.members.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (at < out.members.size()) {
      out.members[at].value = merged(out.members[at].value, member.value);
    } else {
      out.add(member.key, merged(Value(), member.value));
    }
  }
  return out;
}

std::vector<Change> changes(const Message& message, const Diagnosis& diagnosis,
                            const Candidate* first, const Case* c) {
  List list{{}, c};
  for (const Cure& cure : kCures) {
    if (cure.cause == diagnosis.cause) list.add(cure.id, cure.sentence, cure.patch, false);
  }
  if (diagnosis.cause == Cause::kHostMemory || diagnosis.cause == Cause::kCorruptSize ||
      diagnosis.cause == Cause::kNotAnError)
    return list.out;
  if (message.find(Label::kCacheNeeded) || message.producer == Producer::kVllm ||
      message.producer == Producer::kSglang) {
    list.add("context", "A shorter max_model_len, a KV cache of 8 bits, or more of the device.", "",
             true);
    return list.out;
  }
  if (diagnosis.cause != Cause::kOtherProcess)
    list.add("other_processes", "First see what is free: nvidia-smi lists what others hold.",
             R"({"device":{"other_bytes":0}})", false);
  add_course(list, first, c);
  return list.out;
}

}  // namespace ledger::message
