// Files of a checkpoint: a model's config.json and an adapter's adapter_config.json (peft 0.21).
#include "core/import/formats.hpp"
#include "core/import/parts.hpp"
#include "core/import/reasons.hpp"

namespace ledger::pasted {
namespace {

using enum Act;
namespace why = because;

// Only what tells a config.json from other files: the whole of it becomes the model.
constexpr KeyRow kConfigKeys[] = {
    {"model_type", kOther, {}, {}, true},
    {"architectures", kOther, {}, {}, true},
    {"hidden_size", kOther, {}, {}, true},
    {"num_hidden_layers", kOther, {}, {}, true},
    {"vocab_size", kOther, {}, {}, true},
    {"num_attention_heads", kOther, {}, {}, true},
    {"n_embd", kOther, {}, {}, true},
    {"n_layer", kOther, {}, {}, true},
    {"text_config*", kOther, {}, {}, true},
    {"transformers_version", kOther, {}, {}, true},
    {"intermediate_size", kOther, {}, {}, true},
    {"*", kOther},
};

constexpr std::string_view kShape =
    "adapters of another shape are not modelled; the estimate has LoRA's";

constexpr KeyRow kAdapterKeys[] = {
    {"base_model_name_or_path", kText, "model", {}, true},
    {"peft_type", kText, "peft.peft_type", {}, true},
    {"r", kNumber, "peft.r", {}, true},
    {"target_modules", kOther},
    {"target_parameters", kOther},
    {"lora_alpha", kIgnored, {}, why::kScale},
    {"lora_dropout", kNumber, "peft.lora_dropout"},
    {"bias", kText, "peft.bias"},
    {"use_rslora", kFlag, "peft.use_rslora"},
    {"use_dora", kFlag, "peft.use_dora"},
    {"modules_to_save", kOther},
    {"rank_pattern", kOther},
    {"trainable_token_indices", kAsIs, "peft.trainable_token_indices"},
    {"alpha_pattern*", kIgnored, {}, why::kScale, true},
    {"task_type", kIgnored, {}, "names the kind of model", true},
    {"init_lora_weights", kIgnored, {}, "values, not sizes"},
    {"fan_in_fan_out", kIgnored, {}, "an order of the same numbers", true},
    {"inference_mode", kIgnored, {}, "training is taken", true},
    {"layers_to_transform",
     kUnsupported,
     {},
     "adapters on some layers only are not modelled; the estimate has them on all, and is higher",
     true},
    {"layers_pattern", kIgnored, {}, "see layers_to_transform", true},
    {"layer_replication",
     kUnsupported,
     {},
     "layers that share weights are not modelled; the estimate is lower",
     true},
    {"exclude_modules",
     kUnsupported,
     {},
     "the estimate has adapters on all targets, and is higher"},
    {"lora_bias", kUnsupported, {}, "biases of adapters are not modelled; they are small"},
    {"use_qalora", kUnsupported, {}, kShape},
    {"use_bdlora*", kUnsupported, {}, kShape},
    {"qalora_group_size", kIgnored, {}, "has an effect with use_qalora only"},
    {"loftq_config*", kIgnored, {}, "values, not sizes"},
    {"eva_config*", kIgnored, {}, "values, not sizes"},
    {"corda_config*", kIgnored, {}, "values, not sizes"},
    {"lora_ga_config*", kIgnored, {}, "values, not sizes"},
    {"megatron_*", kUnsupported, {}, why::kSplitModel},
    {"alora_invocation_tokens", kUnsupported, {}, kShape},
    {"arrow_config*", kUnsupported, {}, kShape},
    {"velora_config*", kUnsupported, {}, kShape},
    {"monteclora_config*", kUnsupported, {}, kShape},
    {"kasa_config*", kUnsupported, {}, kShape},
    {"runtime_config*", kIgnored, {}, why::kHost},
    {"ensure_weight_tying", kIgnored, {}, "one adapter for tied weights, or two"},
    {"auto_mapping", kIgnored, {}, why::kHub},
    {"revision", kIgnored, {}, why::kHub},
    {"peft_version", kIgnored, {}, why::kHub, true},
};

void finish_adapter(Sheet& sheet) {
  const Value* targets = sheet.at("target_modules");
  if (targets && targets->is(Kind::kText) && targets->text != "all-linear") {
    sheet.became("target_modules", "peft.target_modules", *targets, "a regular expression");
  } else {
    take_targets(sheet, "target_modules");
  }
  for (const auto& [key, to] : {std::pair{"modules_to_save", "peft.modules_to_save"},
                                std::pair{"target_parameters", "peft.target_parameters"}}) {
    if (const auto names = words(sheet.at(key)); !names.empty())
      sheet.became(key, to, list_of(names));
  }
  if (const Value* pattern = sheet.at("rank_pattern"); pattern && !pattern->members.empty())
    sheet.became("rank_pattern", "peft.rank_pattern", *pattern);
}

}  // namespace

Format config_format() {
  return {"config", "config.json", "transformers 5.18", kConfigKeys, nullptr};
}

Format adapter_format() {
  return {"adapter", "adapter_config.json", "peft 0.21", kAdapterKeys, &finish_adapter};
}

}  // namespace ledger::pasted
