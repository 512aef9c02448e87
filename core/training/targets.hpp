// Which modules a name in a configuration means, by the ends of their paths.
#pragma once

#include <string_view>

#include "core/scenario.hpp"

namespace ledger::training {

// "q_proj" of "layers.*.self_attn.q_proj".
constexpr std::string_view last_name(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

// peft: "self_attn.q_proj" and "q_proj" name "layers.*.self_attn.q_proj"; "proj" does not.
constexpr bool is_named(std::string_view path, std::string_view name) {
  if (!path.ends_with(name)) return false;
  return path.size() == name.size() || path[path.size() - name.size() - 1] == '.';
}

inline bool is_saved(const Peft& peft, std::string_view name) {
  for (const std::string& saved : peft.modules_to_save) {
    if (saved == name) return true;
  }
  return false;
}

// llm_int8_skip_modules. Source: transformers quantizers/quantizers_utils.py should_convert_module,
// which compares the ends of paths letter by letter.
inline bool is_skipped(std::string_view path, const Quantization& quantization) {
  for (const std::string& name : quantization.llm_int8_skip_modules) {
    if (path.ends_with(name)) return true;
  }
  return false;
}

}  // namespace ledger::training
