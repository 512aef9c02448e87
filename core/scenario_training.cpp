// Reads `training` and `device` of a scenario.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/data/optimizers.hpp"
#include "core/device/cards.hpp"
#include "core/nearest.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

constexpr std::string_view kTrainingKeys[] = {"per_device_train_batch_size",
                                              "max_length",
                                              "gradient_accumulation_steps",
                                              "gradient_checkpointing",
                                              "gradient_checkpointing_kwargs",
                                              "bf16",
                                              "fp16",
                                              "optim",
                                              "optim_args",
                                              "max_grad_norm",
                                              "use_liger_kernel",
                                              "liger_kernel_config",
                                              "label_smoothing_factor",
                                              "loss_type",
                                              "num_output_chunks",
                                              "packing",
                                              "packing_strategy",
                                              "padding_free",
                                              "sample_lengths",
                                              "per_device_eval_batch_size",
                                              "eval_accumulation_steps",
                                              "prediction_loss_only",
                                              "bf16_full_eval",
                                              "fp16_full_eval",
                                              "compute_metrics",
                                              "max_eval_samples"};
constexpr std::string_view kCheckpointingKeys[] = {"use_reentrant"};
constexpr std::string_view kDeviceKeys[] = {"compute_capability",
                                            "multiprocessors",
                                            "threads_per_multiprocessor",
                                            "total_bytes",
                                            "other_bytes",
                                            "os",
                                            "headroom"};

std::string read_optim(const Value* value, Findings& findings) {
  const std::string otherwise(kOptimizers.front().optim);
  if (!value || value->is_null()) return otherwise;
  std::vector<std::string_view> names;
  for (const OptimizerRow& row : kOptimizers) {
    if (names.empty() || names.back() != row.optim) names.push_back(row.optim);
  }
  const bool known = std::find(names.begin(), names.end(), value->text) != names.end();
  if (value->is(Kind::kText) && known) return value->text;
  for (const Choice& optimizer : kOptimizersToCome) {
    if (!value->is(Kind::kText) || value->text != optimizer.id) continue;
    findings.add("training.optim",
                 "training.optim " + quoted(value->text) + " is not modelled: " +
                     std::string(optimizer.what) + ". It must be " + listed(names) + ".",
                 *value);
    return {};
  }
  choice(value, "training.optim", names, findings);
  return {};
}

// All arguments of the optimizer, those not given at their defaults.
Named<double> read_optim_args(const Value* value, const std::string& optim, Findings& findings) {
  Named<double> args;
  const std::string path = "training.optim_args";
  const Value* given = object(value, path, findings);
  if (optim.empty()) return args;  // whatever was given cannot be judged
  std::vector<std::string_view> names;
  for (const OptimizerRow& row : kOptimizers) {
    if (row.optim != optim) continue;
    for (const OptimizerArg& arg : row.args) {
      const std::string name(arg.name);
      if (args.count(name) > 0) continue;
      args[name] = arg.otherwise;
      names.push_back(arg.name);
      const Value* own = given ? given->find(arg.name) : nullptr;
      const std::string where = path + "." + name;
      if (arg.kind == OptimizerArg::Kind::kFlag) {
        if (const auto set = flag(own, where, findings)) args[name] = *set ? 1 : 0;
      } else if (arg.kind == OptimizerArg::Kind::kChoice) {
        if (const auto set =
                choice(own, where, {arg.choices.begin(), arg.choices.end()}, findings)) {
          const auto at = std::find(arg.choices.begin(), arg.choices.end(), *set);
          args[name] = static_cast<double>(at - arg.choices.begin());
        }
      } else if (const auto set = number(own, {where, arg.min, arg.max, false}, findings)) {
        args[name] = *set;
      }
    }
  }
  for (const OptimizerRow& row : kOptimizers) {
    for (const OptimizerArg& arg : row.args) {
      if (row.optim != optim || arg.needs.empty() || findings.full()) continue;
      const auto needed = args.find(arg.needs);
      if (args[std::string(arg.name)] == 0 || (needed != args.end() && needed->second != 0))
        continue;
      const std::string where = path + "." + std::string(arg.name);
      findings.add(where, where + " has an effect only with " + std::string(arg.needs) +
                              ", which is 0; torch refuses that.");
      return args;
    }
  }
  if (!given) return args;
  for (const json::Member& member : given->members) {
    if (findings.full() || args.count(member.key) > 0) continue;
    const auto near = nearest(member.key, names, 1);
    const std::string where = path + "." + json::shortened(member.key, 60);
    findings.add(
        where,
        where + " is not an argument of " + optim + " that memory depends on" +
            (names.empty() ? "; it has none." : "; those are " + listed(names, "and") + "."),
        json::shortened(member.key, 60), near.empty() ? "" : std::string(near.front()));
  }
  return args;
}

struct Capability {
  int major = 0, minor = 0;
};

// "8.6", or 8.6 as a number.
std::optional<Capability> read_capability(const Value* value, Findings& findings) {
  if (!value || value->is_null()) return {};
  std::string text = value->text;
  if (value->is(Kind::kNumber)) {
    text = json::write(*value);
    if (text.find('.') == text.npos) text += ".0";
  }
  const std::vector<std::string_view> known(kComputeCapabilities.begin(),
                                            kComputeCapabilities.end());
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    const std::string path = "device.compute_capability";
    findings.add(path,
                 path + " is " + as_given(*value) + "; it must be " + listed(known) +
                     ", which is what the PyTorch that is modelled runs on.",
                 *value);
    return {};
  }
  const auto point = text.find('.');
  Capability capability;
  for (std::size_t i = 0; i < point; ++i)
    capability.major = 10 * capability.major + (text[i] - '0');
  capability.minor = text[point + 1] - '0';
  return capability;
}

// Sets what the card named by the scenario says.
void apply_card(const Value* value, bool size_given, Device& device, Findings& findings) {
  if (!value || value->is_null()) return;
  if (!value->is(Kind::kText)) {
    findings.add("card", "card is " + as_given(*value) + "; it must be a card's id, name or alias.",
                 *value);
    return;
  }
  const device::CardSearch search = device::find_card(value->text);
  if (!search.card) {
    const std::vector<std::string_view> near(search.near.begin(), search.near.end());
    findings.add(
        "card",
        "card is " + quoted(value->text) +
            (near.empty() ? ", which is not among the cards; give device.total_bytes instead."
                          : ", which does not name one card. Nearest: " + listed(near) + "."),
        *value, near.empty() ? "" : std::string(near.front()));
    return;
  }
  const device::Card& card = *search.card;
  device.card = card.id;
  device.cuda = card.compute_major > 0;
  device.unified = card.unified;
  const bool windows = device.os != "linux" && card.usable_bytes_windows;
  device.total_bytes = windows ? card.usable_bytes_windows : card.usable_bytes;
  if (!card.usable_bytes && !size_given) {
    findings.add("card",
                 "card " + card.id + " (" + card.name +
                     ") has no known usable size; give device.total_bytes as well.",
                 *value);
  }
  if (device::kernels_known(card)) {
    device.compute_major = card.compute_major;
    device.compute_minor = card.compute_minor;
    device.multiprocessors = *card.multiprocessors;
    device.threads_per_multiprocessor = card.threads_per_multiprocessor.value_or(
        device::threads_per_multiprocessor(card.compute_major, card.compute_minor));
  }
}

}  // namespace

Training read_training(const Value& scenario, std::string_view trainer, Findings& findings) {
  Training training;
  // TrainingArguments, and what TRL's _BaseConfig changes in it.
  if (trainer != "torch") {
    training.per_device_train_batch_size = 8;
    training.max_grad_norm = 1;
  }
  training.gradient_checkpointing = trainer == "trl";
  const Value none = Value::object();
  const Value* given = object(scenario.find("training"), "training", findings);
  if (!given) given = &none;
  check_keys(*given, "training", kTrainingKeys, findings);

  const auto read_number = [&](std::string_view key, double& field) {
    const std::string path = "training." + std::string(key);
    const Limit limit = limit_of(path);
    field = number(given->find(key), {path, limit.min, limit.max, limit.whole}, findings)
                .value_or(field);
  };
  const auto read_flag = [&](std::string_view key, bool& field) {
    field = flag(given->find(key), "training." + std::string(key), findings).value_or(field);
  };
  read_number("per_device_train_batch_size", training.per_device_train_batch_size);
  read_number("max_length", training.max_length);
  read_number("gradient_accumulation_steps", training.gradient_accumulation_steps);
  read_flag("gradient_checkpointing", training.gradient_checkpointing);
  const std::string path = "training.gradient_checkpointing_kwargs";
  if (const Value* kwargs = object(given->find("gradient_checkpointing_kwargs"), path, findings)) {
    check_keys(*kwargs, path, kCheckpointingKeys, findings);
    training.use_reentrant =
        flag(kwargs->find("use_reentrant"), path + ".use_reentrant", findings).value_or(false);
  }
  read_flag("fp16", training.fp16);
  training.bf16 = trainer == "trl" && !training.fp16;
  read_flag("bf16", training.bf16);
  training.optim = read_optim(given->find("optim"), findings);
  training.optim_args = read_optim_args(given->find("optim_args"), training.optim, findings);
  read_number("max_grad_norm", training.max_grad_norm);
  read_loss(*given, trainer, training, findings);
  return training;
}

Device read_device(const Value& scenario, Findings& findings) {
  Device device;
  const Value none = Value::object();
  const Value* given = object(scenario.find("device"), "device", findings);
  if (!given) given = &none;
  check_keys(*given, "device", kDeviceKeys, findings);
  const auto read = [&](std::string_view path) {
    return number(given->find(path.substr(7)), limit_of(path), findings);  // after "device."
  };
  const auto total = read("device.total_bytes");
  std::vector<std::string_view> systems;
  for (const Choice& system : kSystems) systems.push_back(system.id);
  device.os = choice(given->find("os"), "device.os", systems, findings).value_or(device.os);
  apply_card(scenario.find("card"), total.has_value(), device, findings);
  if (total) device.total_bytes = total;
  device.other_bytes = read("device.other_bytes").value_or(0);
  device.headroom = read("device.headroom").value_or(device.headroom);

  const auto capability = read_capability(given->find("compute_capability"), findings);
  const auto multiprocessors = read("device.multiprocessors");
  const auto threads = read("device.threads_per_multiprocessor");
  if (capability) {
    const bool other =
        capability->major != device.compute_major || capability->minor != device.compute_minor;
    if (other && !multiprocessors) {
      findings.add("device.multiprocessors",
                   "device.multiprocessors is missing; chips of compute capability " +
                       as_given(*given->find("compute_capability")) +
                       " differ in it, and sizes of working space follow it. A card sets it too.");
    }
    device.compute_major = capability->major;
    device.compute_minor = capability->minor;
    if (other) {
      device.threads_per_multiprocessor =
          device::threads_per_multiprocessor(capability->major, capability->minor);
    }
  }
  if (multiprocessors) device.multiprocessors = *multiprocessors;
  if (threads) device.threads_per_multiprocessor = *threads;
  return device;
}

}  // namespace ledger::reading
