// The tables of what is counted, and the reading of sizes.
#include "core/counts/counts.hpp"

#include <utility>

namespace ledger::counts {
namespace {

constexpr std::string_view kEncoder = "an encoder of text";

constexpr CountedType kCounted[] = {
    {"bert", kEncoder, count_bert},
    {"chatglm", "a decoder", count_chatglm, false},
    {"deberta-v2", kEncoder, count_deberta_v2},
    {"internlm2", "a decoder", count_internlm2, false},
    {"modernbert", kEncoder, count_modernbert},
    {"roberta", kEncoder, count_roberta},
    {"t5", "an encoder and a decoder of text", count_t5},
    {"vit", "an encoder of images", count_vit},
    {"whisper", "an encoder of speech and a decoder", count_whisper},
};

constexpr std::string_view kTextClass = "AutoModelForCausalLM loads the text part alone.";
constexpr std::string_view kWholeClass =
    "AutoModelForCausalLM loads the tower as well; Gemma3ForCausalLM is the text part alone.";
constexpr std::string_view kOnlyWhole =
    "transformers has no class for the text part alone; the whole model holds the tower as well.";

constexpr Composite kComposites[] = {
    {"gemma3", "gemma3_text", "", kWholeClass, siglip_tower},
    {"llama4", "llama4_text", "", kTextClass, llama4_tower},
    {"mistral3", "mistral", "", kOnlyWhole, pixtral_tower},
    {"qwen3_5", "qwen3_5_text", "", kTextClass, qwen_tower},
    {"qwen3_5_moe", "qwen3_5_moe_text", "", kTextClass, qwen_tower},
    {"qwen3_vl", "qwen3_vl_text", "qwen3", kOnlyWhole, deepstack_tower},
    {"qwen3_vl_moe", "qwen3_vl_moe_text", "qwen3_moe", kOnlyWhole, deepstack_tower},
};

constexpr double kLargest = 1e8;  // of any size: the largest vocabularies have a million rows

}  // namespace

const CountedType* find_counted(std::string_view model_type) {
  for (const CountedType& type : kCounted) {
    if (type.model_type == model_type) return &type;
  }
  return nullptr;
}

const Composite* find_composite(std::string_view model_type) {
  for (const Composite& type : kComposites) {
    if (type.model_type == model_type) return &type;
  }
  return nullptr;
}

const json::Value* Sizes::find(std::string_view key) const {
  const json::Value* value = config_ ? config_->find(key) : nullptr;
  return value && value->is_null() ? nullptr : value;
}

void Sizes::keep(std::string_view key, json::Value value) {
  if (!read_.find(key)) read_.add(key, std::move(value));
}

double Sizes::operator()(std::string_view key, double otherwise) {
  const std::string path = path_ + "." + std::string(key);
  const double value =
      reading::number(find(key), {path, 0, kLargest}, findings_).value_or(otherwise);
  keep(key, json::Value::of_number(value));
  return value;
}

double Sizes::above_zero(std::string_view key, double otherwise) {
  const std::string path = path_ + "." + std::string(key);
  const double value = reading::number(find(key), {path, -1, kLargest}, findings_).value_or(-1);
  keep(key, json::Value::of_number(value));
  return value > 0 ? value : otherwise;
}

bool Sizes::flag(std::string_view key, bool otherwise) {
  const std::string path = path_ + "." + std::string(key);
  const bool value = reading::flag(find(key), path, findings_).value_or(otherwise);
  keep(key, json::Value::of_flag(value));
  return value;
}

bool Sizes::names(std::string_view key, std::string_view word) {
  const json::Value* value = find(key);
  if (!value) return false;
  keep(key, *value);
  bool found = value->text.find(word) != std::string::npos;
  for (const json::Value& item : value->list) {
    found = found || item.text.find(word) != std::string::npos;
  }
  return found;
}

double Sizes::entries(std::string_view key, double otherwise) {
  const json::Value* value = find(key);
  if (!value) return otherwise;
  keep(key, *value);
  return static_cast<double>(value->list.size() + value->members.size());
}

double linear(double in, double out, bool bias) { return in * out + (bias ? out : 0); }

double layer_norm(double width) { return 2 * width; }

double encoder_layer(double width, double feed_forward) {
  return 4 * linear(width, width) + linear(width, feed_forward) + linear(feed_forward, width) +
         2 * layer_norm(width);
}

}  // namespace ledger::counts
