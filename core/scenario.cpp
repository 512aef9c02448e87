// Reads a scenario from JSON text: the only reader of input.
#include "core/scenario.hpp"

#include <utility>

#include "core/data/optimizers.hpp"
#include "core/scenario_reader.hpp"

namespace ledger {

double ModelConfig::number_of(const char* key, std::size_t length, double otherwise) const {
  const auto at = numbers.find({key, length});
  return at == numbers.end() ? otherwise : at->second;
}

bool ModelConfig::flag_of(const char* key, std::size_t length) const {
  const auto at = flags.find({key, length});
  return at != flags.end() && at->second;
}

std::string_view ModelConfig::text_of(const char* key, std::size_t length) const {
  const auto at = texts.find({key, length});
  return at == texts.end() ? std::string_view() : std::string_view(at->second);
}

namespace reading {
namespace {

constexpr std::string_view kKeys[] = {"model",
                                      "config",
                                      "dtype",
                                      "attn_implementation",
                                      "trainer",
                                      "training",
                                      "peft",
                                      "quantization",
                                      "attention_mask",
                                      "keep_outputs",
                                      "parallel",
                                      "card",
                                      "device",
                                      "moments",
                                      "allocator",
                                      "serving",
                                      "rl",
                                      "at_event"};

std::vector<std::string_view> ids(std::span<const Choice> choices) {
  std::vector<std::string_view> out;
  for (const Choice& choice : choices) out.push_back(choice.id);
  return out;
}

std::string read_attention(const Value* value, Dtype dtype, const ModelReading& model,
                           Findings& findings) {
  const Value* sdpa = model.type.find("sdpa");
  if (sdpa && !sdpa->flag) {  // transformers refuses to build it with any other
    if (!value || value->is_null() || value->text == "eager") return "eager";
    findings.add("attn_implementation",
                 "attn_implementation is " + as_given(*value) + ", but transformers' " +
                     std::string(model.config.model_type) +
                     " has no attention through scaled_dot_product_attention; it must be "
                     "\"eager\", which is also what is taken where nothing is given.",
                 *value, "eager");
    return "eager";
  }
  if (value && value->is(Kind::kText) && value->text.starts_with("flash_attention")) {
    findings.add(
        "attn_implementation",
        "attn_implementation " + quoted(value->text) +
            " is not modelled yet; sdpa runs PyTorch's own flash kernel and needs the same "
            "or nearly the same memory." +
            (dtype == Dtype::kFloat32
                 ? " In float32 neither can run: flash attention takes 16-bit types only, so "
                   "give dtype bfloat16 or float16, or let autocast make them."
                 : ""),
        *value, "sdpa");
    return "sdpa";
  }
  return choice(value, "attn_implementation", ids(kAttentions), findings).value_or("sdpa");
}

}  // namespace

std::optional<Dtype> dtype(const Value* value, std::string_view path, Findings& findings) {
  const auto name = choice(value, path, ids(kDtypes), findings);
  if (!name) return {};
  return *name == "float32"   ? Dtype::kFloat32
         : *name == "float16" ? Dtype::kFloat16
                              : Dtype::kBFloat16;
}

namespace {

Result<Scenario> read(const json::Parsed& parsed) {
  const Value& text = parsed.value;
  Findings findings;
  Scenario scenario;
  for (const json::Duplicate& twice : parsed.duplicates) {
    const std::string path = json::shortened(twice.path, 120);
    findings.add(path, path + " is given twice; which one is meant cannot be known.");
  }
  check_keys(text, "", kKeys, findings);
  const ModelReading model = read_model(text, findings);
  scenario.model = model.config;
  scenario.dtype = dtype(text.find("dtype"), "dtype", findings).value_or(Dtype::kBFloat16);
  scenario.attn_implementation =
      read_attention(text.find("attn_implementation"), scenario.dtype, model, findings);
  scenario.trainer =
      choice(text.find("trainer"), "trainer", ids(kTrainers), findings).value_or("torch");
  scenario.training = read_training(text, scenario.trainer, findings);
  scenario.rl = read_rl(text, scenario.training, findings);
  scenario.parallel = read_parallel(text, scenario.model, findings);
  scenario.serving = read_serving(text, scenario.dtype, findings);
  scenario.keep_outputs = flag(text.find("keep_outputs"), "keep_outputs", findings).value_or(false);
  scenario.attention_mask =
      flag(text.find("attention_mask"), "attention_mask", findings).value_or(false);
  std::vector<Peft> adapters = read_peft(text, model, findings);
  if (!adapters.empty()) {
    scenario.peft = std::move(adapters.front());
    adapters.erase(adapters.begin());
    scenario.other_adapters = std::move(adapters);
  }
  scenario.quantization = read_quantization(text, model, findings);
  scenario.device = read_device(text, findings);
  scenario.allocator = read_allocator(text.find("allocator"), findings);
  scenario.at_event = number(text.find("at_event"), limit_of("at_event"), findings);
  read_moments(text, model, scenario, findings);
  check_together(scenario, model, findings);
  if (!findings.empty()) return findings.take();
  scenario.normalised = normalised(scenario, model);
  return scenario;
}

}  // namespace
}  // namespace reading

Result<Scenario> read_scenario(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    return Problems{{"",
                     "The scenario is empty; it must be a JSON object, for example "
                     "{\"model\": \"Qwen/Qwen3-0.6B\"}.",
                     "", ""}};
  }
  const json::Parsed parsed = json::parse(text);
  if (!parsed.error.empty()) {
    return Problems{
        {"", "The scenario is not JSON that can be read: " + parsed.error + ".", "", ""}};
  }
  if (!parsed.value.is(json::Value::Kind::kObject)) {
    return Problems{
        {"", "The scenario is " + reading::as_given(parsed.value) + "; it must be a JSON object.",
         reading::as_given(parsed.value), ""}};
  }
  return reading::read(parsed);
}

}  // namespace ledger
