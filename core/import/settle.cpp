// Puts the settings of all files together: what they say only together, which wins, and what the
// estimate refuses.
#include "core/import/settle.hpp"

#include <algorithm>
#include <cmath>

#include "core/import/model_names.hpp"
#include "core/import/reasons.hpp"
#include "core/scenario.hpp"
#include "core/scenario_limits.hpp"

namespace ledger::pasted {
namespace {

constexpr std::string_view kOneProcess =
    "the estimate is of one process that holds everything, and is higher";

void mark(Sheets& sheets, std::size_t key, Status status, std::string why) {
  if (key == Setting::kNoKey) return;
  sheets.keys[key].status = status;
  sheets.keys[key].why = std::move(why);
}

// The value that wins so far; null where there is none.
const Setting* winner(const Sheets& sheets, std::string_view path) {
  const Setting* best = nullptr;
  for (const Setting& setting : sheets.settings) {
    if (setting.path == path && (!best || setting.rank >= best->rank)) best = &setting;
  }
  return best;
}

void share_out(Sheets& sheets) {
  Together& together = sheets.together;
  if (together.strategy.empty() && together.world > 1) together.strategy = "ddp";
  const auto drop_options = [&](std::string_view why) {
    for (Setting& setting : together.options)
      mark(sheets, setting.key, Status::kIgnored, std::string(why));
    for (Setting& setting : sheets.settings) {
      if (setting.path.starts_with("parallel."))
        mark(sheets, setting.key, Status::kIgnored, std::string(why));
    }
    std::erase_if(sheets.settings,
                  [](const Setting& s) { return s.path.starts_with("parallel."); });
  };
  if (together.strategy.empty() || together.world == 1) {
    drop_options("one process: nothing is shared out");
    if (!together.strategy.empty())
      mark(sheets, together.strategy_key, Status::kIgnored, "one process: nothing is shared out");
    return;
  }
  if (together.world == 0) {
    drop_options("belongs to how weights are shared out, which needs the number of processes");
    mark(sheets, together.strategy_key, Status::kUnsupported,
         "over how many processes is not said: give accelerate's YAML with num_processes, or the "
         "command line; until then " +
             std::string(kOneProcess));
    return;
  }
  const bool known = std::any_of(kStrategies.begin(), kStrategies.end(),
                                 [&](const Choice& c) { return c.id == together.strategy; });
  if (!known) {
    drop_options("belongs to how weights are shared out");
    const bool fully = together.strategy == "fsdp1";
    mark(sheets, together.strategy_key, Status::kUnsupported,
         (fully ? std::string("the first version of FSDP") : "DeepSpeed's ZeRO") +
             " is not modelled yet; " + std::string(kOneProcess) +
             (fully ? "; fsdp_version 2 is modelled for a plain loop" : ""));
    return;
  }
  sheets.settings.push_back({"parallel.strategy",
                             Value::of_text(together.strategy),
                             Setting::kGiven,
                             together.strategy_key,
                             {}});
  mark(sheets, together.strategy_key, Status::kBecame, {});
  for (Setting& option : together.options) {
    mark(sheets, option.key, Status::kBecame, {});
    sheets.settings.push_back(option);
  }
}

void settle_precision(Sheets& sheets) {
  Together& together = sheets.together;
  if (together.mixed_precision.empty()) return;
  const std::string dtype = together.mixed_precision == "bf16" ? "bfloat16" : "float16";
  const Setting* trainer = winner(sheets, "trainer");
  const bool plain = !trainer || trainer->value.text == "torch";
  const Setting* strategy = winner(sheets, "parallel.strategy");
  if (plain && strategy && (strategy->value.text == "fsdp2" || strategy->value.text == "hsdp")) {
    for (const char* path : {"parallel.param_dtype", "parallel.reduce_dtype"}) {
      sheets.settings.push_back(
          {path, Value::of_text(dtype), Setting::kGiven, together.mixed_precision_key, {}});
    }
    sheets.settings.push_back(
        {"dtype", Value::of_text("float32"), Setting::kImplied, Setting::kNoKey,
         "accelerate casts what is trained to 32 bit where it mixes precision"});
    mark(sheets, together.mixed_precision_key, Status::kBecame,
         "fully_shard's own mixed precision");
    return;
  }
  const std::string path = "training." + together.mixed_precision;
  mark(sheets, together.mixed_precision_key, Status::kBecame, "autocast");
  sheets.settings.push_back(
      {path, Value::of_flag(true), Setting::kGiven, together.mixed_precision_key, {}});
}

// The sequences of one optimizer step over all processes give the accumulation.
void settle_accumulation(Sheets& sheets) {
  Together& together = sheets.together;
  if (together.all_sequences < 1) return;
  const Setting* micro = winner(sheets, "training.per_device_train_batch_size");
  const Setting* steps = winner(sheets, "training.gradient_accumulation_steps");
  const double world = std::max(1.0, together.world);
  if (micro && micro->value.number >= 1 && !steps) {
    const double each = together.all_sequences / (micro->value.number * world);
    if (each >= 1 && each == std::floor(each)) {
      sheets.settings.push_back({"training.gradient_accumulation_steps",
                                 Value::of_number(each),
                                 Setting::kGiven,
                                 together.all_sequences_key,
                                 {}});
      mark(sheets, together.all_sequences_key, Status::kBecame,
           together.world == 0 ? "over the micro-batch; one process is taken, as none are counted"
                               : "over micro-batch and processes");
    } else {
      mark(sheets, together.all_sequences_key, Status::kUnsupported,
           "is no multiple of micro-batch and processes; DeepSpeed refuses that");
    }
  } else if (steps && !micro) {
    const double each = together.all_sequences / (std::max(1.0, steps->value.number) * world);
    if (each >= 1 && each == std::floor(each)) {
      sheets.settings.push_back({"training.per_device_train_batch_size",
                                 Value::of_number(each),
                                 Setting::kGiven,
                                 together.all_sequences_key,
                                 {}});
      mark(sheets, together.all_sequences_key, Status::kBecame, "over accumulation and processes");
    }
  } else if (micro && steps && together.world > 0 &&
             micro->value.number * steps->value.number * world != together.all_sequences) {
    mark(
        sheets, together.all_sequences_key, Status::kUnsupported,
        "contradicts micro-batch, accumulation and processes; DeepSpeed refuses that. The estimate "
        "goes by those");
  } else if (!micro) {
    mark(sheets, together.all_sequences_key, Status::kUnsupported,
         "says no micro-batch by itself; the estimate takes the default");
  }
}

// Of equal ranks the later one wins, and the earlier is told so.
void say_contradictions(Sheets& sheets) {
  for (std::size_t i = 0; i < sheets.settings.size(); ++i) {
    const Setting& one = sheets.settings[i];
    if (one.rank != Setting::kGiven || one.key == Setting::kNoKey) continue;
    for (std::size_t j = i + 1; j < sheets.settings.size(); ++j) {
      const Setting& other = sheets.settings[j];
      if (other.path != one.path || other.rank != one.rank || other.key == one.key) continue;
      if (json::write(other.value) == json::write(one.value)) continue;
      mark(sheets, one.key, Status::kIgnored,
           "another key says otherwise of " + one.path + ": " + as_written(other.value));
      break;
    }
  }
}

void compose(const Sheets& sheets, Value& scenario) {
  for (const Setting::Rank rank : {Setting::kCheckpoint, Setting::kImplied, Setting::kGiven}) {
    // Of implied ones the first holds: what a file says comes before what goes with it.
    for (const Setting& setting : sheets.settings) {
      if (setting.rank != rank) continue;
      if (rank == Setting::kImplied) {
        const Setting* first = nullptr;
        for (const Setting& other : sheets.settings) {
          if (other.rank == rank && other.path == setting.path && !first) first = &other;
        }
        if (first != &setting) continue;
      }
      set_path(scenario, setting.path, setting.value);
    }
  }
}

void settle_model(Sheets& sheets, Settled& out) {
  const Value* model = out.scenario.find("model");
  if (!model) {
    out.problems.push_back({"model",
                            "These settings name no model; choose one, or give its config.json as "
                            "well.",
                            "", ""});
    return;
  }
  if (model->is(Kind::kObject)) return;
  const std::string given = model->text;
  Meant meant = meant_model(given);
  const Setting* setting = winner(sheets, "model");
  if (!meant.id.empty()) {
    if (setting && setting->key != Setting::kNoKey && !meant.why.empty())
      sheets.keys[setting->key].why = meant.why;
    for (Setting& own : sheets.settings) {
      if (own.path == "model" && own.value.text == given) own.value = Value::of_text(meant.id);
    }
    set_path(out.scenario, "model", Value::of_text(meant.id));
    if (meant.packed && !get_path(out.scenario, "quantization")) {
      for (const auto& [path, value] :
           {std::pair{"quantization.load_in_4bit", Value::of_flag(true)},
            std::pair{"quantization.bnb_4bit_quant_type", Value::of_text("nf4")},
            std::pair{"quantization.bnb_4bit_use_double_quant", Value::of_flag(true)},
            std::pair{"quantization.bnb_4bit_compute_dtype", Value::of_text("bfloat16")}}) {
        sheets.settings.push_back({path, value, Setting::kImplied, Setting::kNoKey,
                                   "the checkpoint's name says that it is packed in four bits"});
        set_path(out.scenario, path, value);
      }
    }
    return;
  }
  std::string message = json::shortened(given, 120) +
                        " is no model that is known here. Give its config.json as well, and it is "
                        "taken from there";
  for (std::size_t i = 0; i < meant.near.size(); ++i)
    message += (i == 0 ? "; or choose one of the nearest: " : ", ") + meant.near[i];
  out.near = meant.near;
  out.problems.push_back({"model", message + ".", json::shortened(given, 120),
                          meant.near.empty() ? std::string() : meant.near.front()});
  remove_path(out.scenario, "model");
}

// What may be left out where the estimate refuses it, and what that means.
struct Droppable {
  std::string_view path, consequence;
};
constexpr Droppable kDroppable[] = {
    {"parallel", "The estimate is of one process that holds everything, and is higher."},
    {"training.use_liger_kernel", "The estimate is without Liger's kernels, and is higher."},
    {"training.packing", "The estimate has rows of one sample each, which are full."},
    {"training.packing_strategy", "The estimate has rows that are full."},
    {"training.padding_free", "The estimate has rows of one sample each, which are full."},
    {"training.optim_args", "The estimate takes the optimizer's defaults."},
    {"training.optim", "The estimate takes adamw_torch_fused."},
    {"training.label_smoothing_factor", "The estimate is without it."},
    {"training.loss_type", "The estimate takes the usual loss."},
    {"attn_implementation", "The estimate takes the usual attention."},
    {"peft.use_dora", "The estimate has plain LoRA, and is lower."},
    {"peft.modules_to_save", "The estimate trains no copies of them, and is lower."},
    {"peft.trainable_token_indices", "The estimate trains none, and is a little lower."},
    {"peft.rank_pattern", "The estimate has one rank."},
    {"peft.bias", "The estimate trains no biases."},
    {"training.max_grad_norm", "The estimate does not clip, which is not in the peak."},
    {"training.num_output_chunks", "The estimate takes the usual number of chunks."},
};

Problems problems_of(const Value& scenario) {
  const Result<Scenario> read = read_scenario(json::write(scenario));
  return read.ok() ? Problems() : read.problems();
}

std::string vanished(const Problems& before, const Problems& after) {
  for (const Problem& one : before) {
    const bool stays = std::any_of(after.begin(), after.end(),
                                   [&](const Problem& p) { return p.message == one.message; });
    if (!stays) return one.message;
  }
  return {};
}

void leave_out(Sheets& sheets, Settled& out) {
  out.problems = problems_of(out.scenario);
  for (const Droppable& row : kDroppable) {
    if (out.problems.empty()) return;
    if (!get_path(out.scenario, row.path)) continue;
    Value without = out.scenario;
    remove_path(without, row.path);
    if (row.path == "training.use_liger_kernel")
      remove_path(without, "training.liger_kernel_config");
    if (row.path == "training.optim") remove_path(without, "training.optim_args");
    Problems left = problems_of(without);
    if (left.size() >= out.problems.size()) continue;
    const Value* strategy = get_path(out.scenario, "parallel.strategy");
    const bool copies = row.path == "parallel" && strategy && strategy->text == "ddp";
    const std::string why =
        vanished(out.problems, left) + " " +
        std::string(copies ? "The estimate is of one process; DistributedDataParallel's buckets of "
                             "gradients come on top."
                           : row.consequence);
    bool told = false;
    for (const Setting& setting : sheets.settings) {
      const bool within = setting.path == row.path ||
                          setting.path.starts_with(std::string(row.path) + ".") ||
                          (row.path == "training.use_liger_kernel" &&
                           setting.path.starts_with("training.liger_kernel_config"));
      if (!within || setting.key == Setting::kNoKey) continue;
      mark(sheets, setting.key, Status::kUnsupported, why);
      told = true;
    }
    if (!told) sheets.notes.push_back(why);
    std::erase_if(sheets.settings, [&](const Setting& s) {
      return s.path == row.path || s.path.starts_with(std::string(row.path) + ".");
    });
    out.scenario = std::move(without);
    out.problems = std::move(left);
  }
}

// In the order of the contract.
void put_in_order(Value& scenario) {
  constexpr std::string_view kOrder[] = {"model",   "config",   "dtype", "attn_implementation",
                                         "trainer", "training", "peft",  "quantization",
                                         "rl",      "parallel"};
  Value out = Value::object();
  for (const std::string_view key : kOrder) {
    if (const Value* own = scenario.find(key)) out.add(key, *own);
  }
  for (json::Member& member : scenario.members) {
    if (!out.find(member.key)) out.add(member.key, std::move(member.value));
  }
  scenario = std::move(out);
}

}  // namespace

Settled settle(Sheets& sheets, const Value& keep, const Value& with) {
  share_out(sheets);
  settle_precision(sheets);
  settle_accumulation(sheets);
  say_contradictions(sheets);
  Settled out;
  for (const json::Member& member : keep.members) set_path(out.scenario, member.key, member.value);
  compose(sheets, out.scenario);
  // A method whose lengths are all given has no other.
  if (get_path(out.scenario, "rl.prompt_length") &&
      get_path(out.scenario, "rl.max_completion_length"))
    remove_path(out.scenario, "training.max_length");
  for (const json::Member& member : with.members) set_path(out.scenario, member.key, member.value);
  if (!get_path(out.scenario, "training.max_length") && !get_path(out.scenario, "rl"))
    sheets.notes.push_back(
        "No length of sequences is given; the usual one is taken, and memory grows with it.");
  settle_model(sheets, out);
  if (out.problems.empty()) leave_out(sheets, out);
  put_in_order(out.scenario);
  out.whole = out.problems.empty();
  return out;
}

}  // namespace ledger::pasted
