// The checks of one value, and the wording of their problems.
#include "core/scenario_reader.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/nearest.hpp"

namespace ledger::reading {
namespace {

// Every key of a scenario that a person may put at the wrong level, with its whole path.
constexpr std::string_view kPaths[] = {
    "training.per_device_train_batch_size",
    "training.max_length",
    "training.gradient_accumulation_steps",
    "training.gradient_checkpointing",
    "training.gradient_checkpointing_kwargs",
    "training.gradient_checkpointing_kwargs.use_reentrant",
    "training.bf16",
    "training.fp16",
    "training.optim",
    "training.optim_args",
    "training.max_grad_norm",
    "training.use_liger_kernel",
    "training.label_smoothing_factor",
    "training.loss_type",
    "training.packing",
    "training.packing_strategy",
    "training.padding_free",
    "training.sample_lengths",
    "peft.r",
    "peft.target_modules",
    "peft.lora_dropout",
    "peft.use_dora",
    "quantization.load_in_4bit",
    "quantization.load_in_8bit",
    "quantization.bnb_4bit_quant_type",
    "quantization.bnb_4bit_use_double_quant",
    "quantization.bnb_4bit_compute_dtype",
    "device.compute_capability",
    "device.multiprocessors",
    "device.threads_per_multiprocessor",
    "device.total_bytes",
    "device.other_bytes",
    "model",
    "config",
    "dtype",
    "attn_implementation",
    "trainer",
    "training",
    "peft",
    "quantization",
    "rl",
    "moments",
    "allocator",
    "parallel",
    "attention_mask",
    "keep_outputs",
    "card",
    "device",
    "at_event",
};

// What other programs call a thing, and what it is called here.
struct OtherName {
  std::string_view other, here;
};
constexpr OtherName kOtherNames[] = {
    {"bf16", "bfloat16"},
    {"fp16", "float16"},
    {"half", "float16"},
    {"fp32", "float32"},
    {"torch.bfloat16", "bfloat16"},
    {"torch.float16", "float16"},
    {"torch.float32", "float32"},
    {"batch_size", "training.per_device_train_batch_size"},
    {"micro_batch_size", "training.per_device_train_batch_size"},
    {"train_batch_size", "training.per_device_train_batch_size"},
    {"seq_len", "training.max_length"},
    {"seq_length", "training.max_length"},
    {"sequence_length", "training.max_length"},
    {"max_seq_length", "training.max_length"},
    {"max_seq_len", "training.max_length"},
    {"optimizer", "training.optim"},
    {"grad_accum", "training.gradient_accumulation_steps"},
    {"use_reentrant", "training.gradient_checkpointing_kwargs.use_reentrant"},
    {"model_name", "model"},
    {"model_name_or_path", "model"},
    {"torch_dtype", "dtype"},
    {"precision", "dtype"},
    {"gpu", "card"},
};

std::string joined(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
}

// A whole path as seen from the object at `path`: the key alone if it belongs there.
std::string seen_from(std::string_view path, std::string_view whole) {
  const std::string here = path.empty() ? "" : std::string(path) + ".";
  return std::string(whole.starts_with(here) ? whole.substr(here.size()) : whole);
}

std::string nearest_key(std::string_view path, std::string_view key,
                        std::span<const std::string_view> known) {
  const std::string small = lower(key);
  for (const std::string_view candidate : known) {
    if (lower(candidate) == small) return std::string(candidate);
  }
  for (const OtherName& name : kOtherNames) {
    const bool is_key =
        std::find(std::begin(kPaths), std::end(kPaths), name.here) != std::end(kPaths);
    if (is_key && name.other == small) return seen_from(path, name.here);
  }
  for (const std::string_view whole : kPaths) {
    if (last_name(whole) == small) return seen_from(path, whole);
  }
  const auto near = nearest(key, {known.begin(), known.end()}, 1);
  if (!near.empty()) return std::string(near.front());
  // Misspelt, and at the wrong level as well.
  std::vector<std::string_view> names;
  for (const std::string_view whole : kPaths) names.push_back(last_name(whole));
  const auto elsewhere = nearest(key, names, 1);
  if (elsewhere.empty()) return {};
  const auto at = std::find(names.begin(), names.end(), elsewhere.front()) - names.begin();
  return seen_from(path, kPaths[at]);
}

}  // namespace

void Findings::add(std::string path, std::string message, std::string given, std::string nearest) {
  if (full()) {
    ++left_out_;
    return;
  }
  problems_.push_back({std::move(path), std::move(message), std::move(given), std::move(nearest)});
}

void Findings::add(std::string path, std::string message, const Value& given, std::string nearest) {
  add(std::move(path), std::move(message), as_given(given), std::move(nearest));
}

void Findings::add_unmatched(const std::string& path, const Value& item,
                             const std::vector<std::string_view>& known) {
  const auto near = nearest(item.text, known, 1);
  add(path,
      path + " has " + as_given(item) + ", which matches no linear of this model; there are " +
          listed(known, "and") + ".",
      item, near.empty() ? "" : std::string(near.front()));
}

void Findings::add_counted(std::string path, std::string message, double parameters) {
  if (full()) return;
  problems_.push_back({std::move(path), std::move(message), {}, {}, parameters});
}

Problems Findings::take() {
  if (left_out_ > 0) {
    problems_.push_back({"",
                         "There are " + grouped(static_cast<double>(left_out_)) +
                             " more problems of this kind; they are not listed.",
                         "", ""});
  }
  return std::move(problems_);
}

std::string as_given(const Value& value) {
  // A list or object is shown by its first members; the rest would not be read anyway.
  constexpr std::size_t kShown = 60, kMembers = 8;
  if (value.is(Kind::kList) && value.list.size() > kMembers) {
    return "a list of " + grouped(static_cast<double>(value.list.size())) + " values";
  }
  if (value.is(Kind::kObject) && value.members.size() > kMembers) {
    return "an object of " + grouped(static_cast<double>(value.members.size())) + " keys";
  }
  return json::shortened(json::write(value), kShown);
}

std::string grouped(double number) {
  std::string digits;
  json::write_number(number, digits);
  if (digits.find_first_of(".e") != digits.npos) return digits;
  for (std::size_t at = digits.size(); at > 3 + (digits.front() == '-');) {
    at -= 3;
    if (at > 0) digits.insert(at, ",");
  }
  return digits;
}

std::string quoted(std::string_view text) { return "\"" + json::shortened(text, 60) + "\""; }

std::string listed(const std::vector<std::string_view>& words, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " " + std::string(last) + " " : ", ";
    out += words[i];
  }
  return out;
}

std::vector<std::string> texts(const Value* list) {
  std::vector<std::string> out;
  if (!list) return out;
  for (const Value& item : list->list) out.push_back(item.text);
  return out;
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string did_you_mean(std::string_view word) {
  return word.empty() ? std::string() : " Did you mean " + std::string(word) + "?";
}

std::optional<double> number(const Value* value, const Limit& limit, Findings& findings) {
  if (!value || value->is_null()) return {};
  const bool right_kind =
      value->is(Kind::kNumber) && (!limit.whole || std::floor(value->number) == value->number);
  if (right_kind && value->number >= limit.min && value->number <= limit.max) {
    return value->number == 0 ? 0 : value->number;  // no negative zero
  }
  findings.add(std::string(limit.path),
               std::string(limit.path) + " is " + as_given(*value) + "; it must be a " +
                   (limit.whole ? "whole " : "") + "number from " + grouped(limit.min) + " to " +
                   grouped(limit.max) + ".",
               *value);
  return {};
}

std::optional<bool> flag(const Value* value, std::string_view path, Findings& findings) {
  if (!value || value->is_null()) return {};
  if (value->is(Kind::kFlag)) return value->flag;
  findings.add(std::string(path),
               std::string(path) + " is " + as_given(*value) + "; it must be true or false.",
               *value);
  return {};
}

std::optional<std::string> choice(const Value* value, std::string_view path,
                                  const std::vector<std::string_view>& accepted,
                                  Findings& findings) {
  if (!value || value->is_null()) return {};
  std::string near;
  if (value->is(Kind::kText)) {
    for (const std::string_view name : accepted) {
      if (value->text == name) return value->text;
    }
    for (const OtherName& name : kOtherNames) {
      const bool known = std::find(accepted.begin(), accepted.end(), name.here) != accepted.end();
      if (known && name.other == lower(value->text)) near = name.here;
    }
    if (near.empty()) {
      const auto found = nearest(value->text, accepted, 1);
      if (!found.empty()) near = found.front();
    }
  }
  findings.add(std::string(path),
               std::string(path) + " is " + as_given(*value) + "; it must be " + listed(accepted) +
                   "." + did_you_mean(near),
               *value, near);
  return {};
}

const Value* object(const Value* value, std::string_view path, Findings& findings) {
  if (!value || value->is_null()) return nullptr;
  if (value->is(Kind::kObject)) return value;
  findings.add(std::string(path),
               std::string(path) + " is " + as_given(*value) + "; it must be an object.", *value);
  return nullptr;
}

void check_keys(const Value& object, std::string_view path, std::span<const std::string_view> known,
                Findings& findings) {
  for (const json::Member& member : object.members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    const std::string near = findings.full() ? std::string() : nearest_key(path, member.key, known);
    const std::string shown = joined(path, json::shortened(member.key, 60));
    findings.add(
        shown,
        shown + " is not a key that is read here." +
            (near.empty() ? " Known keys: " + listed({known.begin(), known.end()}, "and") + "."
                          : did_you_mean(near)),
        json::shortened(member.key, 60), near);
  }
}

}  // namespace ledger::reading
