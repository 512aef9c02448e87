// What formats have in common: optimizers by other names, adapters, packed weights, types,
// attention.
#pragma once

#include <string>
#include <string_view>

#include "core/import/sheet.hpp"

namespace ledger::pasted {

// The scenario's name of an attention implementation, and whether it is another one.
void take_attention(Sheet& sheet, std::string_view key);

// transformers' name of an optimizer; axolotl, LLaMA-Factory and torchtune have names of their own.
void take_optimizer(Sheet& sheet, std::string_view key);
// "a=1,b=2" or an object.
void take_optimizer_arguments(Sheet& sheet, std::string_view key);

// A type by any of its names: "bf16", "torch.bfloat16", "float". Empty for none.
std::string dtype_named(std::string_view name);

// A list of linears, or "all-linear" by one of its names.
void take_targets(Sheet& sheet, std::string_view key);

// The keys of an adapter by the names that a format gives them; empty ones are absent.
struct LoraKeys {
  std::string_view r{}, alpha{}, dropout{}, targets{}, saved{}, dora{}, rslora{};
};
void take_lora(Sheet& sheet, const LoraKeys& keys);

// Marks the keys of an adapter that is not asked for.
void pass_over_lora(Sheet& sheet, const LoraKeys& keys, std::string_view why);

// Processes that a launcher starts.
void take_world(Sheet& sheet, std::string_view per_machine, std::string_view machines);

}  // namespace ledger::pasted
