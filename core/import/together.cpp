// What several files say only together: processes and how they share, precision, accumulation.
#include <algorithm>
#include <cmath>

#include "core/import/settle_parts.hpp"
#include "core/scenario_limits.hpp"

namespace ledger::pasted {
namespace {

constexpr std::string_view kOneProcess =
    "the estimate is of one process that holds everything, and is higher";

}  // namespace

void mark(Sheets& sheets, std::size_t key, Status status, std::string why) {
  if (key == Setting::kNoKey) return;
  sheets.keys[key].status = status;
  sheets.keys[key].why = std::move(why);
}

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

}  // namespace ledger::pasted
