// Reads `rl`: training by preferences or by rewards, as trl's trainers do it.
#include <algorithm>
#include <cmath>

#include "core/nearest.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

constexpr std::string_view kRlKeys[] = {
    "method",          "prompt_length", "max_completion_length", "precompute_ref_log_probs",
    "num_generations", "beta",          "num_iterations",        "steps_per_generation"};

struct RlKey {
  std::string_view key;
  std::string_view methods;  // that have it
};
constexpr RlKey kOnlyIn[] = {
    {"prompt_length", "dpo kto grpo"},
    {"max_completion_length", "dpo kto grpo"},
    {"precompute_ref_log_probs", "dpo kto"},
    {"num_generations", "grpo"},
    {"beta", "grpo"},
    {"num_iterations", "grpo"},
    {"steps_per_generation", "grpo"},
};

void refuse_keys_of_other_methods(const Value& given, const Rl& rl, Findings& findings) {
  for (const RlKey& row : kOnlyIn) {
    const Value* value = given.find(row.key);
    if (!value || value->is_null() || row.methods.find(rl.method) != row.methods.npos) continue;
    const std::string path = "rl." + std::string(row.key);
    const bool beta = row.key == "beta";
    findings.add(path,
                 beta ? "rl.beta decides about memory in grpo only, where it asks for a reference "
                        "model; leave it out."
                      : path + " has no meaning in " + rl.method + "; leave it out.",
                 *value);
  }
}

// The whole sequence, its prompt and its completion: any two give the third.
void settle_lengths(const Value& scenario, Rl& rl, Training& training, Findings& findings) {
  const Value* written = scenario.find("training");
  const Value* length =
      written && written->is(Kind::kObject) ? written->find("max_length") : nullptr;
  const bool whole = length && length->is(Kind::kNumber);
  const double total = training.max_length;
  if (rl.prompt_length > 0 && rl.max_completion_length > 0) {
    const double sum = rl.prompt_length + rl.max_completion_length;
    if (whole && total != sum) {
      findings.add("training.max_length",
                   "training.max_length is " + grouped(total) +
                       ", but rl.prompt_length and rl.max_completion_length make " + grouped(sum) +
                       "; leave one of the three out.",
                   grouped(total), grouped(sum));
    }
    training.max_length = sum;
  } else if (rl.prompt_length > 0) {
    if (!whole && rl.method == "grpo") {
      rl.max_completion_length = kGrpoCompletion;
      training.max_length = rl.prompt_length + rl.max_completion_length;
    } else {
      rl.max_completion_length = total - rl.prompt_length;
    }
  } else {
    if (rl.max_completion_length == 0) rl.max_completion_length = std::floor(total / 2);
    rl.prompt_length = total - rl.max_completion_length;
  }
  if (rl.prompt_length < 1 || rl.max_completion_length < 1) {
    findings.add("training.max_length",
                 "training.max_length is " + grouped(total) +
                     ", which leaves no token for prompt or completion; it must be above both "
                     "rl.prompt_length and rl.max_completion_length.",
                 grouped(total));
  }
}

void check_groups(const Rl& rl, const Training& training, Findings& findings) {
  const double rows = training.per_device_train_batch_size * rl.steps_per_generation;
  if (std::fmod(rows, rl.num_generations) != 0) {
    findings.add("rl.num_generations",
                 "rl.num_generations is " + grouped(rl.num_generations) +
                     ", which does not divide the completions generated at once, " + grouped(rows) +
                     " (training.per_device_train_batch_size times rl.steps_per_generation); trl "
                     "refuses that.",
                 grouped(rl.num_generations));
  }
}

}  // namespace

std::optional<Rl> read_rl(const Value& scenario, Training& training, Findings& findings) {
  const Value* given = object(scenario.find("rl"), "rl", findings);
  if (!given) return {};
  check_keys(*given, "rl", kRlKeys, findings);
  std::vector<std::string_view> methods;
  for (const Choice& c : kRlMethods) methods.push_back(c.id);
  const Value* method = given->find("method");
  if (!method || method->is_null()) {
    findings.add("rl.method", "rl.method is missing; it must be " + listed(methods) + ".");
    return {};
  }
  const auto chosen = choice(method, "rl.method", methods, findings);
  if (!chosen) return {};
  Rl rl;
  rl.method = *chosen;
  refuse_keys_of_other_methods(*given, rl, findings);
  const auto read = [&](std::string_view key, double& field) {
    const Limit limit = limit_of("rl." + std::string(key));
    const std::string path = "rl." + std::string(key);
    field = number(given->find(key), {path, limit.min, limit.max, limit.whole}, findings)
                .value_or(field);
  };
  read("prompt_length", rl.prompt_length);
  read("max_completion_length", rl.max_completion_length);
  read("num_generations", rl.num_generations);
  read("beta", rl.beta);
  read("num_iterations", rl.num_iterations);
  rl.steps_per_generation = training.gradient_accumulation_steps;
  read("steps_per_generation", rl.steps_per_generation);
  rl.precompute_ref_log_probs =
      flag(given->find("precompute_ref_log_probs"), "rl.precompute_ref_log_probs", findings)
          .value_or(false);
  if (rl.method != "reward") settle_lengths(scenario, rl, training, findings);
  if (rl.method == "grpo") check_groups(rl, training, findings);
  return rl;
}

Value rl_of(const Rl& rl) {
  Value out = Value::object();
  out.add("method", Value::of_text(rl.method));
  if (rl.method != "reward") {
    out.add("prompt_length", Value::of_number(rl.prompt_length));
    out.add("max_completion_length", Value::of_number(rl.max_completion_length));
  }
  if (rl.method == "dpo" || rl.method == "kto") {
    out.add("precompute_ref_log_probs", Value::of_flag(rl.precompute_ref_log_probs));
  }
  if (rl.method == "grpo") {
    out.add("num_generations", Value::of_number(rl.num_generations));
    out.add("beta", Value::of_number(rl.beta));
    out.add("num_iterations", Value::of_number(rl.num_iterations));
    out.add("steps_per_generation", Value::of_number(rl.steps_per_generation));
  }
  return out;
}

}  // namespace ledger::reading
