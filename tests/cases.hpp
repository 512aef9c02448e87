// The measured cases of losses, trainers and optimizers in their own form, turned into scenarios.
#pragma once

#include <optional>
#include <string>

#include "tests/rows.hpp"

namespace ledger::rows {

inline std::string dtype_of(const std::string& name) {
  return name == "fp32" ? "float32" : name == "fp16" ? "float16" : "bfloat16";
}

// Liger's kernels by the short names of the cases.
inline json liger_config(const json& kinds) {
  json config;
  for (const auto& [key, name] : {std::pair{"rope", "rope"},
                                  {"rms_norm", "rms"},
                                  {"swiglu", "swiglu"},
                                  {"cross_entropy", "ce"},
                                  {"fused_linear_cross_entropy", "flce"}}) {
    bool on = false;
    for (const json& kind : kinds) on = on || kind == name;
    config[key] = on;
  }
  return config;
}

inline json training_of(const json& c) {
  json t = {{"per_device_train_batch_size", c.at("batch")},
            {"max_length", c.at("seq")},
            {"gradient_accumulation_steps", c.value("accumulation", 1)},
            {"gradient_checkpointing", c.value("checkpointing", false)},
            {"bf16", c.value("autocast", "") == "bf16"},
            {"optim", c.value("optim", "adamw_torch_fused")}};
  if (c.contains("liger")) {
    t["use_liger_kernel"] = true;
    t["liger_kernel_config"] = liger_config(c.at("liger"));
  }
  const json args = c.value("args", json::object());
  for (const char* key : {"use_liger_kernel", "label_smoothing_factor"}) {
    if (args.contains(key)) t[key] = args.at(key);
  }
  // transformers takes them as text: "rank=64, scale=0.10". Memory depends on the rank.
  const std::string text = args.value("optim_args", "");
  if (const std::size_t at = text.find("rank="); at != text.npos) {
    t["optim_args"] = {{"rank", std::stoi(text.substr(at + 5))}};
  }
  const json sft = c.value("sft", json::object());
  for (const auto& [key, value] : sft.items()) t[key] = value;
  if (c.contains("packing")) {
    t["packing"] = true;
    t["packing_strategy"] = c.at("packing");
  }
  if (c.value("padding_free", false)) t["padding_free"] = true;
  if (c.contains("lengths")) t["sample_lengths"] = c.at("lengths");
  return t;
}

inline json scenario_of(const json& c) {
  const std::string via = c.value("via", "trainer");
  json s = {{"model", c.at("model")},
            {"dtype", dtype_of(c.at("weights"))},
            {"attn_implementation", c.value("attention", "sdpa")},
            {"trainer", via == "loop"  ? "torch"
                        : via == "sft" ? "trl"
                                       : "transformers"},
            {"training", training_of(c)}};
  if (c.at("method") == "lora") s["peft"] = {{"r", 16}, {"target_modules", "all-linear"}};
  return s;
}

// The scenario of a case of save.jsonl, or nothing where it is outside the contract.
inline std::optional<json> scenario_of_moment(const json& c) {
  const std::string kind = c.at("kind");
  if (kind == "merge_and_save") return {};  // merges the adapters first
  const bool evaluates = kind.starts_with("eval");
  const std::string moment = evaluates ? "evaluate" : "save";
  json training = {{"max_length", c.value("seq", 256)},
                   {"per_device_train_batch_size", c.value("batch", 1)},
                   {"optim", "adamw_torch_fused"},
                   {"bf16", c.value("autocast", "") == "bf16"}};
  if (evaluates) training["per_device_eval_batch_size"] = c.at("batch");
  if (c.value("compute_metrics", false)) training["compute_metrics"] = true;
  if (c.contains("eval_rows")) training["max_eval_samples"] = c.at("eval_rows");
  if (kind == "eval_sft") training["gradient_checkpointing"] = false;
  const json args = c.value("args", json::object());
  for (const auto& [key, value] : args.items()) training[key] = value;
  json scenario = {{"model", c.at("model")},
                   {"dtype", c.at("weights") == "fp32" ? "float32" : "bfloat16"},
                   {"trainer", kind == "eval_sft" ? "trl"
                               : evaluates        ? "transformers"
                                                  : "torch"},
                   {"training", training}};
  scenario["moments"] = json::array({"train", moment});
  return scenario;
}

}  // namespace ledger::rows
