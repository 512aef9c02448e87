// Reads `peft`: adapters, and what is trained beside them. Names and defaults: peft's LoraConfig.
#include <algorithm>
#include <utility>

#include "core/nearest.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

constexpr std::string_view kPeftKeys[] = {"peft_type",         "r",
                                          "target_modules",    "rank_pattern",
                                          "lora_dropout",      "autocast_adapter_dtype",
                                          "lora_alpha",        "bias",
                                          "use_rslora",        "use_dora",
                                          "modules_to_save",   "trainable_token_indices",
                                          "target_parameters", "task_type",
                                          "init_lora_weights"};

void refuse_unless(bool fine, const std::string& path, const Value* value, std::string_view what,
                   Findings& findings) {
  if (!value || value->is_null() || fine) return;
  findings.add(path, path + " is " + as_given(*value) + ": " + std::string(what), *value);
}

// Without target_parameters peft has defaults for some types, and else insists.
std::vector<std::string> read_targets(const Value* given, const std::string& path, bool optional,
                                      const Value& type, Findings& findings) {
  std::vector<std::string> linears = texts(type.find("linears"));
  linears.emplace_back("lm_head");
  linears.emplace_back(embedding_of(type));
  std::vector<std::string_view> known(linears.begin(), linears.end());
  if (!given || given->is_null()) {
    if (optional) return {};
    std::vector<std::string> usual = texts(type.find("lora_targets"));
    if (usual.empty() && type.find("linears")) {
      findings.add(path, path +
                             " is missing, and peft has no default for this model type; give "
                             "\"all-linear\" or a list of " +
                             listed(known) + ".");
    }
    return usual;
  }
  if (given->is(Kind::kText) && lower(given->text) == "all-linear") return {"all-linear"};
  if (given->is(Kind::kText)) {
    findings.add(path,
                 path + " is " + as_given(*given) +
                     ". To peft a text is a regular expression for whole paths, and a plain name "
                     "matches none; give \"all-linear\" or a list of names such as [" +
                     quoted(known.front()) + "].",
                 *given, "all-linear");
    return {};
  }
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
    if (findings.full()) break;
    findings.add_unmatched(path, item, known);
  }
  return targets;
}

void check_dora(const Peft& peft, const std::string& path, const Value& type, Findings& findings) {
  const std::vector<std::string> experts = texts(type.find("expert_targets"));
  const auto named = [&](std::string_view name) {
    return std::any_of(peft.target_modules.begin(), peft.target_modules.end(),
                       [&](const std::string& target) { return last_name(target) == name; });
  };
  const bool wraps = std::any_of(experts.begin(), experts.end(), named) ||
                     (!experts.empty() && named("all-linear")) || !peft.target_parameters.empty();
  if (wraps) {
    findings.add(path + ".use_dora",
                 path +
                     ".use_dora must be false where target_modules reach the router or the "
                     "experts: peft refuses DoRA on parameters.",
                 "true");
  }
  if (named(embedding_of(type))) {
    findings.add(path + ".use_dora",
                 path + ".use_dora on the embedding is not modelled; leave " +
                     std::string(embedding_of(type)) + " out of target_modules.",
                 "true");
  }
}

// Where peft wraps a mixture's parameters: the names of its router, of the two halves of
// gate_up_proj and of down_proj.
void check_expert_targets(const Peft& peft, const std::string& path, bool alone, const Value& type,
                          Findings& findings) {
  const bool by_name = !peft.target_parameters.empty();
  if (by_name && peft.lora_dropout > 0) {
    findings.add(path + ".lora_dropout",
                 path +
                     ".lora_dropout must be 0 with target_parameters: peft refuses dropout on "
                     "parameters.");
  }
  const std::vector<std::string> experts = texts(type.find("expert_targets"));
  if (experts.size() != 4) return;
  const auto aims_at = [&](const std::string& name) {
    const auto& targets = peft.target_modules;
    return std::find(targets.begin(), targets.end(), name) != targets.end() ||
           (targets.size() == 1 && targets.front() == "all-linear");
  };
  if (aims_at(experts[1]) != aims_at(experts[2])) {
    findings.add(path + ".target_modules",
                 path + ".target_modules names one of " + experts[1] + " and " + experts[2] +
                     "; they are one parameter here, and peft refuses one without the other.");
  }
  const bool wraps = std::any_of(experts.begin(), experts.end(), aims_at);
  if (wraps && by_name) {
    findings.add(path + ".target_parameters",
                 path +
                     ".target_parameters goes with target_modules that reach the router or the "
                     "experts as well; give one of them.");
  }
  if (wraps && peft.lora_dropout > 0) {
    findings.add(path + ".lora_dropout",
                 path +
                     ".lora_dropout must be 0 where target_modules reach the router or the "
                     "experts: peft refuses dropout on parameters.");
  }
  if (wraps && !alone) {
    findings.add(path + ".target_modules",
                 path +
                     ".target_modules reaches the router or the experts; more than one adapter on "
                     "them is not modelled.");
  }
  if (wraps && !peft.rank_pattern.empty()) {
    findings.add(path + ".rank_pattern", path +
                                             ".rank_pattern is not modelled where target_modules "
                                             "reach the router or the experts.");
  }
}

Peft read_adapter(const Value& given, const std::string& path, bool alone,
                  const ModelReading& model, Findings& findings) {
  check_keys(given, path, kPeftKeys, findings);
  const auto at = [&](std::string_view key) { return path + "." + std::string(key); };
  const auto within = [&](std::string_view key, const std::string& where) {
    Limit limit = limit_of(key);
    limit.path = where;
    return limit;
  };
  const auto read_flag = [&](std::string_view key, bool otherwise) {
    return flag(given.find(key), at(key), findings).value_or(otherwise);
  };
  Peft peft;
  const Value* kind = given.find("peft_type");
  refuse_unless(kind && kind->text == "LORA", at("peft_type"), kind, "only LORA is modelled.",
                findings);
  const std::string r_path = at("r"), dropout_path = at("lora_dropout");
  peft.r = number(given.find("r"), within("peft.r", r_path), findings).value_or(peft.r);
  peft.target_parameters = read_parameters(given.find("target_parameters"), at("target_parameters"),
                                           alone, model.type, findings);
  peft.target_modules = read_targets(given.find("target_modules"), at("target_modules"),
                                     !peft.target_parameters.empty(), model.type, findings);
  peft.lora_dropout =
      number(given.find("lora_dropout"), within("peft.lora_dropout", dropout_path), findings)
          .value_or(0);
  peft.autocast_adapter_dtype = read_flag("autocast_adapter_dtype", true);
  peft.use_rslora = read_flag("use_rslora", false);
  peft.bias = choice(given.find("bias"), at("bias"), {"none", "all", "lora_only"}, findings)
                  .value_or("none");
  peft.rank_pattern =
      read_rank_pattern(given.find("rank_pattern"), at("rank_pattern"), model.type, findings);
  check_expert_targets(peft, path, alone, model.type, findings);
  peft.use_dora = read_flag("use_dora", false);
  if (peft.use_dora) check_dora(peft, path, model.type, findings);
  peft.modules_to_save =
      read_saved(given.find("modules_to_save"), at("modules_to_save"), model.type, findings);
  peft.trainable_token_indices = read_tokens(given.find("trainable_token_indices"),
                                             at("trainable_token_indices"), peft, model, findings);
  return peft;
}

}  // namespace

// One adapter, or a list: the first is trained, the others are loaded beside it.
std::vector<Peft> read_peft(const Value& scenario, const ModelReading& model, Findings& findings) {
  constexpr std::size_t kMostAdapters = 16;
  const Value* given = scenario.find("peft");
  std::vector<Peft> adapters;
  if (!given || given->is_null()) return adapters;
  if (!given->is(Kind::kList)) {
    const Value* one = object(given, "peft", findings);
    if (one) adapters.push_back(read_adapter(*one, "peft", true, model, findings));
    return adapters;
  }
  if (given->list.empty() || given->list.size() > kMostAdapters) {
    findings.add("peft", "peft is a list of " + grouped(static_cast<double>(given->list.size())) +
                             " adapters; it must have 1 to " +
                             grouped(static_cast<double>(kMostAdapters)) +
                             ", of which the first is trained.");
    return adapters;
  }
  const bool alone = given->list.size() == 1;
  for (std::size_t i = 0; i < given->list.size(); ++i) {
    const std::string path = "peft[" + std::to_string(i) + "]";
    const Value* one = object(&given->list[i], path, findings);
    if (one) {
      adapters.push_back(read_adapter(*one, path, alone, model, findings));
    } else if (given->list[i].is_null()) {
      findings.add(path,
                   path + " is null; it must be an object such as {\"peft_type\": \"LORA\"}.");
    }
  }
  return adapters;
}

}  // namespace ledger::reading
