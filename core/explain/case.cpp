// Reads scenarios for their sizes, also those whose training step is not modelled.
#include "core/explain/case.hpp"

#include <algorithm>
#include <cmath>

#include "core/models/decoder.hpp"
#include "core/nearest.hpp"
#include "core/presets.hpp"
#include "core/short_sort.hpp"

namespace ledger::message {
namespace {

using json::Value;

// The keys under which configurations name a letter, most usual first.
struct Alias {
  Letter letter;
  std::string_view key;
};
constexpr std::array kAliases = {
    Alias{Letter::d, "hidden_size"},
    Alias{Letter::d, "n_embd"},
    Alias{Letter::d, "d_model"},
    Alias{Letter::d, "dim"},
    Alias{Letter::L, "num_hidden_layers"},
    Alias{Letter::L, "n_layer"},
    Alias{Letter::L, "num_layers"},
    Alias{Letter::L, "n_layers"},
    Alias{Letter::H, "num_attention_heads"},
    Alias{Letter::H, "n_head"},
    Alias{Letter::H, "num_heads"},
    Alias{Letter::H, "n_heads"},
    Alias{Letter::H_kv, "num_key_value_heads"},
    Alias{Letter::H_kv, "n_kv_heads"},
    Alias{Letter::H_kv, "multi_query_group_num"},
    Alias{Letter::d_h, "head_dim"},
    Alias{Letter::d_h, "kv_channels"},
    Alias{Letter::d_h, "d_kv"},
    Alias{Letter::f, "intermediate_size"},
    Alias{Letter::f, "n_inner"},
    Alias{Letter::f, "ffn_dim"},
    Alias{Letter::f, "d_ff"},
    Alias{Letter::f, "inner_hidden_size"},
    Alias{Letter::f, "ffn_hidden_size"},
    Alias{Letter::V, "vocab_size"},
    Alias{Letter::V, "padded_vocab_size"},
    Alias{Letter::V, "n_vocab"},
    Alias{Letter::f_e, "moe_intermediate_size"},
    Alias{Letter::E, "num_experts"},
    Alias{Letter::E, "num_local_experts"},
    Alias{Letter::E, "n_routed_experts"},
    Alias{Letter::k, "num_experts_per_tok"},
    Alias{Letter::w, "sliding_window"},
};

double number_in(const Value* object, std::string_view key) {
  const Value* found = object ? object->find(key) : nullptr;
  const bool usable =
      found && found->is(Value::Kind::kNumber) && found->number > 0 && found->number < 1e12;
  return usable ? found->number : 0;
}

void set(Case& c, Letter letter, double value) {
  if (value > 0) c.letters[static_cast<std::size_t>(letter)] = c.workings.letter(letter, value);
}

// Letters from config.json's own keys, the scenario's overrides first.
void read_config(Case& c, const Value* overrides, const Value& config) {
  const Value* text = config.find("text_config");
  for (const Alias& alias : kAliases) {
    if (c.value(alias.letter) > 0) continue;
    for (const Value* object : {overrides, &config, text}) {
      const double value = number_in(object, alias.key);
      if (value <= 0) continue;
      set(c, alias.letter, value);
      break;
    }
  }
  if (c.value(Letter::f) == 0 && c.value(Letter::d) > 0) set(c, Letter::f, 4 * c.value(Letter::d));
  if (c.value(Letter::H_kv) == 0) set(c, Letter::H_kv, c.value(Letter::H));
  if (c.value(Letter::d_h) == 0 && c.value(Letter::H) > 0)
    set(c, Letter::d_h, std::floor(c.value(Letter::d) / c.value(Letter::H)));
}

int width_of(const Value* scenario_dtype) {
  if (!scenario_dtype) return 2;
  return scenario_dtype->text == "float32" ? 4 : 2;
}

void read_letters_only(Case& c) {
  const Value& s = c.given;
  const Value* model = s.find("model");
  const Value* overrides = s.find("config");
  if (model && model->is(Value::Kind::kObject)) {
    read_config(c, overrides, *model);
    if (const Value* type = model->find("model_type")) c.model = type->text;
  } else if (model && model->is(Value::Kind::kText)) {
    c.model = model->text;
    Value preset = find_counted_preset(model->text);
    if (!preset.is(Value::Kind::kObject)) {
      const Value file = read_preset(find_preset(model->text).id);
      if (const Value* config = file.find("config")) preset = *config;
    }
    if (preset.is(Value::Kind::kObject)) read_config(c, overrides, preset);
  }
  const Value* training = s.find("training");
  const double batch = number_in(training, "per_device_train_batch_size");
  const double length = number_in(training, "max_length");
  set(c, Letter::B, batch > 0 ? batch : 1);
  set(c, Letter::T, length > 0 ? length : 1024);
  c.width = width_of(s.find("dtype"));
  c.adapters = s.find("peft") && !s.find("peft")->is_null();
}

void read_modelled(Case& c, bool replay) {
  const Scenario& s = *c.scenario;
  const models::DecoderConfig config =
      models::find_architecture(s.model.model_type)->configure(s.model, c.workings);
  const auto take = [&](Letter letter, Count count) {
    if (count.value() > 0) set(c, letter, count.value());
  };
  take(Letter::d, config.hidden);
  take(Letter::L, config.layers);
  take(Letter::H, config.heads);
  take(Letter::H_kv, config.key_value_heads);
  take(Letter::d_h, config.head_width);
  take(Letter::f, config.feed_forward);
  take(Letter::V, config.vocabulary);
  take(Letter::w, config.window);
  take(Letter::E, config.mixture.experts);
  take(Letter::k, config.mixture.chosen);
  take(Letter::f_e, config.mixture.feed_forward);
  set(c, Letter::B, s.training.per_device_train_batch_size);
  set(c, Letter::T, s.training.max_length);
  if (s.peft) set(c, Letter::r, s.peft->r);
  c.width = bytes_of(s.dtype);
  c.adapters = s.peft.has_value();
  c.model = s.model.id.empty() ? s.model.model_type : s.model.id;
  if (!replay) return;
  c.simulation = simulate(s, c.workings);
  c.parameters = c.simulation->run.parameters;
  c.trainable = c.simulation->run.trainable;
}

// Letters and figures only, in lower case: "Qwen2.5-7B" and "qwen2_5 7b" are one name.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : lower(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out += c;
  }
  return out;
}

}  // namespace

Case::Case(const Value& scenario_json)
    : given(scenario_json),
      read(read_scenario(json::write(scenario_json))),
      scenario(read.ok() ? &read.value() : nullptr) {}

std::unique_ptr<Case> read_case(const Value& scenario, bool replay) {
  auto out = std::make_unique<Case>(scenario);
  Case& c = *out;
  const Value* training = scenario.find("training");
  c.batch_given = number_in(training, "max_length") > 0 &&
                  number_in(training, "per_device_train_batch_size") > 0;
  if (c.scenario) {
    read_modelled(c, replay);
    return out;
  }
  for (const Problem& p : c.read.problems()) c.parameters = std::max(c.parameters, p.parameters);
  if (scenario.is(Value::Kind::kObject)) read_letters_only(c);
  return out;
}

void set_length(Case& c, double tokens) {
  if (tokens >= 1 && tokens < 1e12) set(c, Letter::T, tokens);
}

std::vector<std::string> named_presets(std::string_view text, std::size_t most) {
  constexpr std::size_t kLongest = 200000;  // bytes that are looked through
  const std::string all = plain(text.substr(0, kLongest));
  struct Found {
    std::string id;
    std::string name;
  };
  std::vector<Found> found;
  for (const std::string& id : preset_ids()) {
    const std::string name = plain(std::string_view(id).substr(id.find('/') + 1));
    if (name.size() >= 4 && all.find(name) != all.npos) found.push_back({id, name});
  }
  short_sort(found, [](const Found& a, const Found& b) { return a.name.size() > b.name.size(); });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < found.size() && out.size() < most; ++i) {
    bool inside = false;  // "gpt2" of "gpt2-large"
    for (std::size_t j = 0; j < i; ++j) {
      inside = inside || found[j].name.find(found[i].name) != found[j].name.npos;
    }
    if (!inside) out.push_back(found[i].id);
  }
  return out;
}

}  // namespace ledger::message
