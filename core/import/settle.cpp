// Puts the settings of all files together: what they say only together, which wins, and what the
// estimate refuses.
#include "core/import/settle.hpp"

#include <algorithm>

#include "core/import/model_names.hpp"
#include "core/import/settle_parts.hpp"

namespace ledger::pasted {
namespace {

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
