// Settings that several formats have under names of their own.
#include "core/import/parts.hpp"

#include <algorithm>

#include "core/import/reasons.hpp"
#include "core/nearest.hpp"

namespace ledger::pasted {
namespace {

struct Renamed {
  std::string_view from, to, why;
};

// Names that are not transformers' own, and what they stand for there.
constexpr Renamed kOptimizers[] = {
    {"adamw_hf", "adamw_torch", "transformers' own AdamW is gone; torch's keeps the same state"},
    {"ao_adamw_8bit", "adamw_torch_8bit", "torchao's AdamW8bit"},
    {"ao_adamw_4bit", "adamw_torch_4bit", "torchao's AdamW4bit"},
    {"adamw_bnb", "adamw_bnb_8bit", "bitsandbytes' AdamW in eight bits"},
    {"paged_adamw", "paged_adamw_32bit", "transformers' other name for it"},
    {"lion", "lion_32bit", "transformers' other name for it"},
    {"adam8bit", "adamw_bnb_8bit", "the same state without decoupled decay"},
};

// torchtune and others name a class.
constexpr Renamed kOptimizerClasses[] = {
    {"torch.optim.AdamW", "adamw_torch", {}},
    {"torch.optim.Adam", "adamw_torch", "Adam keeps the same state as AdamW"},
    {"torch.optim.SGD", "sgd", {}},
    {"torch.optim.Adagrad", "adagrad", {}},
    {"bitsandbytes.optim.PagedAdamW", "paged_adamw_32bit", {}},
    {"bitsandbytes.optim.PagedAdamW32bit", "paged_adamw_32bit", {}},
    {"bitsandbytes.optim.PagedAdamW8bit", "paged_adamw_8bit", {}},
    {"bitsandbytes.optim.AdamW8bit", "adamw_bnb_8bit", {}},
    {"bitsandbytes.optim.AdamW", "adamw_bnb_32bit", {}},
    {"torchao.optim.AdamW8bit", "adamw_torch_8bit", {}},
    {"torchao.optim.AdamW4bit", "adamw_torch_4bit", {}},
    {"torchao.prototype.low_bit_optim.AdamW8bit", "adamw_torch_8bit", {}},
    {"torchao.prototype.low_bit_optim.AdamW4bit", "adamw_torch_4bit", {}},
};

struct TypeName {
  std::string_view name, dtype;
};
constexpr TypeName kTypes[] = {
    {"bf16", "bfloat16"}, {"bfloat16", "bfloat16"}, {"fp16", "float16"},    {"float16", "float16"},
    {"half", "float16"},  {"fp32", "float32"},      {"float32", "float32"}, {"float", "float32"},
};

}  // namespace

std::string dtype_named(std::string_view name) {
  std::string word = lower(json::shortened(name, 40));
  if (word.starts_with("torch.")) word = word.substr(6);
  for (const TypeName& type : kTypes) {
    if (word == type.name) return std::string(type.dtype);
  }
  return {};
}

void take_attention(Sheet& sheet, std::string_view key) {
  const std::string name = lower(json::shortened(sheet.text(key), 60));
  if (name.empty() || name == "auto") return;
  if (name == "sdpa" || name == "eager") {
    sheet.became(key, "attn_implementation", Value::of_text(name));
  } else if (name == "disabled") {
    sheet.became(key, "attn_implementation", Value::of_text("eager"),
                 "attention in plain operators");
  } else if (name.starts_with("flash") || name.starts_with("fa") || name.starts_with("kernels-")) {
    sheet.became(key, "attn_implementation", Value::of_text("sdpa"), because::kFlashAttention);
  } else {
    sheet.unsupported(key, "this attention is not modelled; the estimate takes sdpa");
  }
}

void take_optimizer(Sheet& sheet, std::string_view key) {
  const std::string name = sheet.text(key);
  if (name.empty()) return;
  for (const Renamed& row : kOptimizerClasses) {
    if (row.from == name) {
      const bool fused = row.to == "adamw_torch" && sheet.flag("optimizer.fused");
      sheet.became(key, "training.optim",
                   Value::of_text(fused ? "adamw_torch_fused" : std::string(row.to)), row.why);
      return;
    }
  }
  for (const Renamed& row : kOptimizers) {
    if (row.from == name) {
      sheet.became(key, "training.optim", Value::of_text(row.to), row.why);
      return;
    }
  }
  sheet.became(key, "training.optim", Value::of_text(name));
}

void take_optimizer_arguments(Sheet& sheet, std::string_view key) {
  const Value* given = sheet.at(key);
  if (!given) return;
  if (given->is(Kind::kObject)) {
    sheet.became(key, "training.optim_args", *given);
    return;
  }
  Value args = Value::object();
  for (const std::string& pair : words(given)) {
    const std::size_t at = pair.find('=');
    if (at == pair.npos) continue;
    const Value text = Value::of_text(std::string_view(pair).substr(at + 1));
    double number = 0;
    bool flag = false;
    args.add(std::string_view(pair).substr(0, at), is_number(text, number)
                                                       ? Value::of_number(number)
                                                   : is_flag(text, flag) ? Value::of_flag(flag)
                                                                         : text);
  }
  if (args.members.empty()) {
    sheet.unsupported(key, "no arguments that can be read; the optimizer's defaults are taken");
  } else {
    sheet.became(key, "training.optim_args", std::move(args));
  }
}

void take_targets(Sheet& sheet, std::string_view key) {
  const std::vector<std::string> names = words(sheet.at(key));
  if (names.empty()) return;
  if (names.size() == 1) {
    const std::string one = lower(json::shortened(names.front(), 20));
    if (one == "all" || one == "all-linear" || one == "all_linear") {
      sheet.became(key, "peft.target_modules", Value::of_text("all-linear"));
      return;
    }
  }
  sheet.became(key, "peft.target_modules", list_of(names));
}

void take_lora(Sheet& sheet, const LoraKeys& keys) {
  double number = 0;
  if (const Value* r = sheet.at(keys.r); r && is_number(*r, number))
    sheet.became(keys.r, "peft.r", Value::of_number(number));
  sheet.ignored(keys.alpha, because::kScale);
  if (const Value* dropout = sheet.at(keys.dropout); dropout && is_number(*dropout, number))
    sheet.became(keys.dropout, "peft.lora_dropout", Value::of_number(number));
  take_targets(sheet, keys.targets);
  if (const auto saved = words(sheet.at(keys.saved)); !saved.empty())
    sheet.became(keys.saved, "peft.modules_to_save", list_of(saved));
  for (const auto& [key, to] :
       {std::pair{keys.dora, "peft.use_dora"}, std::pair{keys.rslora, "peft.use_rslora"}}) {
    if (!key.empty() && sheet.has(key)) sheet.became(key, to, Value::of_flag(sheet.flag(key)));
  }
}

void pass_over_lora(Sheet& sheet, const LoraKeys& keys, std::string_view why) {
  for (const std::string_view key :
       {keys.r, keys.alpha, keys.dropout, keys.targets, keys.saved, keys.dora, keys.rslora}) {
    if (!key.empty() && sheet.has(key)) sheet.ignored(key, why);
  }
}

void take_world(Sheet& sheet, std::string_view per_machine, std::string_view machines) {
  const Value* given = sheet.at(per_machine);
  double processes = 0;
  if (!given || !is_number(*given, processes) || processes < 1) {
    if (given) sheet.unsupported(per_machine, "the number of processes must be given as a number");
    return;
  }
  const double all = processes * std::max(1.0, machines.empty() ? 1 : sheet.number(machines, 1));
  sheet.all.together.world = all;
  sheet.all.together.options.push_back({"parallel.world_size",
                                        Value::of_number(all),
                                        Setting::kGiven,
                                        sheet.key_of(per_machine),
                                        {}});
  sheet.ignored(per_machine, all < 2 ? "one process: nothing is shared out" : "see how they share");
  if (!machines.empty()) sheet.ignored(machines, "counted with the processes of each machine");
}

}  // namespace ledger::pasted
