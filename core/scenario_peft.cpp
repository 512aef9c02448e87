// Reads `peft` and `quantization`: adapters, and weights in four bits.
#include <algorithm>
#include <utility>

#include "core/nearest.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

constexpr std::string_view kPeftKeys[] = {"peft_type",
                                          "r",
                                          "target_modules",
                                          "lora_dropout",
                                          "autocast_adapter_dtype",
                                          "lora_alpha",
                                          "bias",
                                          "use_rslora",
                                          "use_dora",
                                          "modules_to_save",
                                          "task_type",
                                          "init_lora_weights"};
constexpr std::string_view kQuantizationKeys[] = {
    "load_in_4bit",           "load_in_8bit",
    "bnb_4bit_quant_type",    "bnb_4bit_use_double_quant",
    "bnb_4bit_compute_dtype", "bnb_4bit_quant_storage",
    "quant_method",           "prepare_model_for_kbit_training"};

void refuse_unless(bool fine, const std::string& path, const Value* value, std::string_view what,
                   Findings& findings) {
  if (!value || value->is_null() || fine) return;
  findings.add(path, path + " is " + as_given(*value) + ": " + std::string(what), *value);
}

std::vector<std::string> texts(const Value* list) {
  std::vector<std::string> out;
  if (!list) return out;
  for (const Value& item : list->list) out.push_back(item.text);
  return out;
}

// "self_attn.q_proj" names the same linear as "q_proj": peft compares the ends of paths.
std::string_view last_name(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == path.npos ? path : path.substr(dot + 1);
}

std::vector<std::string> read_targets(const Value* given, const Value& type, Findings& findings) {
  const std::string path = "peft.target_modules";
  const std::vector<std::string> linears = texts(type.find("linears"));
  std::vector<std::string_view> known(linears.begin(), linears.end());
  if (!given || given->is_null()) {
    std::vector<std::string> usual = texts(type.find("lora_targets"));
    if (usual.empty() && !linears.empty()) {
      findings.add(path, path +
                             " is missing, and peft has no default for this model type; give "
                             "\"all-linear\" or a list of " +
                             listed(known) + ".");
    }
    return usual;
  }
  if (given->is(Kind::kText) && given->text == "all-linear") return {"all-linear"};
  if (!given->is(Kind::kList) || given->list.empty()) {
    findings.add(path,
                 path + " is " + as_given(*given) + "; it must be \"all-linear\" or a list of " +
                     listed(known) + ".",
                 *given, "all-linear");
    return {};
  }
  std::vector<std::string> targets;
  for (const Value& item : given->list) {
    const std::string_view name = last_name(item.text);
    if (item.is(Kind::kText) && std::find(known.begin(), known.end(), name) != known.end()) {
      if (std::find(targets.begin(), targets.end(), name) == targets.end()) {
        targets.emplace_back(name);
      }
      continue;
    }
    const auto near = nearest(item.text, known, 1);
    findings.add(path,
                 path + " has " + as_given(item) +
                     ", which matches no linear of this model; there are " + listed(known, "and") +
                     ".",
                 item, near.empty() ? "" : std::string(near.front()));
  }
  return targets;
}

// Where peft wraps a mixture's parameters: the names of its router, of the two halves of
// gate_up_proj and of down_proj.
void check_expert_targets(const Peft& peft, const Value& type, Findings& findings) {
  const std::vector<std::string> experts = texts(type.find("expert_targets"));
  if (experts.size() != 4) return;
  const auto aims_at = [&](const std::string& name) {
    const auto& targets = peft.target_modules;
    return std::find(targets.begin(), targets.end(), name) != targets.end() ||
           (targets.size() == 1 && targets.front() == "all-linear");
  };
  if (aims_at(experts[1]) != aims_at(experts[2])) {
    findings.add("peft.target_modules",
                 "peft.target_modules names one of " + experts[1] + " and " + experts[2] +
                     "; they are one parameter here, and peft refuses one without the other.");
  }
  const bool wraps = std::any_of(experts.begin(), experts.end(), aims_at);
  if (wraps && peft.lora_dropout > 0) {
    findings.add("peft.lora_dropout",
                 "peft.lora_dropout must be 0 where target_modules reach the router or the "
                 "experts: peft refuses dropout on parameters.");
  }
}

}  // namespace

std::optional<Peft> read_peft(const Value& scenario, const ModelReading& model,
                              Findings& findings) {
  const Value* given = object(scenario.find("peft"), "peft", findings);
  if (!given) return {};
  check_keys(*given, "peft", kPeftKeys, findings);
  Peft peft;
  const Value* kind = given->find("peft_type");
  refuse_unless(kind && kind->text == "LORA", "peft.peft_type", kind, "only LORA is modelled.",
                findings);
  peft.r = number(given->find("r"), limit_of("peft.r"), findings).value_or(peft.r);
  peft.target_modules = read_targets(given->find("target_modules"), model.type, findings);
  peft.lora_dropout =
      number(given->find("lora_dropout"), limit_of("peft.lora_dropout"), findings).value_or(0);
  peft.autocast_adapter_dtype =
      flag(given->find("autocast_adapter_dtype"), "peft.autocast_adapter_dtype", findings)
          .value_or(true);
  check_expert_targets(peft, model.type, findings);
  const Value* bias = given->find("bias");
  refuse_unless(bias && bias->text == "none", "peft.bias", bias,
                "training biases beside the adapters is not modelled yet; only \"none\" is.",
                findings);
  const Value* dora = given->find("use_dora");
  refuse_unless(dora && dora->is(Kind::kFlag) && !dora->flag, "peft.use_dora", dora,
                "DoRA is not modelled yet; only false is accepted.", findings);
  const Value* saved = given->find("modules_to_save");
  refuse_unless(saved && saved->is(Kind::kList) && saved->list.empty(), "peft.modules_to_save",
                saved, "modules trained as a whole beside the adapters are not modelled yet.",
                findings);
  return peft;
}

std::optional<Quantization> read_quantization(const Value& scenario, Findings& findings) {
  const Value* given = object(scenario.find("quantization"), "quantization", findings);
  if (!given) return {};
  check_keys(*given, "quantization", kQuantizationKeys, findings);
  const std::string path = "quantization.";
  const auto read_flag = [&](std::string_view key, bool otherwise) {
    return flag(given->find(key), path + std::string(key), findings).value_or(otherwise);
  };
  Quantization q;
  const bool four = read_flag("load_in_4bit", false);
  const bool eight = read_flag("load_in_8bit", false);
  if (eight) {
    findings.add(path + "load_in_8bit",
                 path + "load_in_8bit (LLM.int8) is not modelled yet; load_in_4bit is.", "true");
  }
  q.bnb_4bit_quant_type = choice(given->find("bnb_4bit_quant_type"), path + "bnb_4bit_quant_type",
                                 {"nf4", "fp4"}, findings)
                              .value_or("fp4");
  q.bnb_4bit_use_double_quant = read_flag("bnb_4bit_use_double_quant", false);
  q.bnb_4bit_compute_dtype =
      dtype(given->find("bnb_4bit_compute_dtype"), path + "bnb_4bit_compute_dtype", findings)
          .value_or(Dtype::kFloat32);
  q.prepare_model_for_kbit_training = read_flag("prepare_model_for_kbit_training", true);
  if (!four && !eight) {
    findings.add(path + "load_in_4bit",
                 q.bnb_4bit_use_double_quant
                     ? path +
                           "bnb_4bit_use_double_quant quantises the scales of 4-bit weights; it "
                           "needs load_in_4bit true."
                     : path +
                           "load_in_4bit is not true, so nothing would be quantised; set it, or "
                           "leave quantization out.");
    return {};
  }
  return q;
}

}  // namespace ledger::reading
