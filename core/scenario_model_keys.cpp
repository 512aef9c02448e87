// The keys of a config.json beyond those of its type's file, and what keys must hold together.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/nearest.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

// Keys of a config.json that memory does not depend on, for training a causal language model.
// Inside `config` they are let through; anything else unknown there is taken for a misspelling.
constexpr std::string_view kOtherKeys[] = {"_name_or_path",
                                           "architectures",
                                           "auto_map",
                                           "bos_token_id",
                                           "dtype",
                                           "eos_token_id",
                                           "hidden_dropout",
                                           "id2label",
                                           "initializer_range",
                                           "label2id",
                                           "max_position_embeddings",
                                           "name_or_path",
                                           "pad_token_id",
                                           "pretraining_tp",
                                           "rms_norm_eps",
                                           "rope_interleaved",
                                           "rope_parameters",
                                           "rope_scaling",
                                           "rope_theta",
                                           "torch_dtype",
                                           "transformers_version",
                                           "use_cache",
                                           "attention_dropout",
                                           "output_attentions",
                                           "output_hidden_states",
                                           "quantization_config",
                                           "partial_rotary_factor",
                                           "per_layer_config"};

bool is_number(const Value& value, double number) {
  return value.is(Kind::kNumber) && value.number == number;
}

// Why this key of a config.json asks for something that is not modelled; empty if it does not.
std::string not_modelled(std::string_view key, const Value& value) {
  if (value.is_null()) return {};
  if (key == "attention_dropout" && !is_number(value, 0)) {
    return "dropout in attention is not modelled yet; only 0 is accepted.";
  }
  if (key == "is_encoder_decoder" && value.flag) {
    return "models with an encoder are not modelled; only decoders trained on the next token are.";
  }
  if ((key == "output_hidden_states" || key == "output_attentions") && value.flag) {
    return "it keeps the output of every layer alive, which is not modelled yet; only false is "
           "accepted.";
  }
  if (key == "qk_layernorm" && value.flag) {
    return "a norm for each head is not modelled yet; only false is accepted.";
  }
  if ((key == "add_cross_attention" || key == "reorder_and_upcast_attn" ||
       key == "slow_but_exact" || key == "use_bidirectional_attention") &&
      value.flag) {
    return "it makes attention another computation, which is not modelled yet; only false is "
           "accepted.";
  }
  if (key == "layerdrop" && !is_number(value, 0)) {
    return "layers left out at random are not modelled; only 0 is accepted.";
  }
  if (key == "per_layer_config" && !value.members.empty()) {
    return "layers of different shapes are not modelled yet.";
  }
  if (key == "architectures" && value.is(Kind::kList) && !value.list.empty()) {
    const std::string& name = value.list.front().text;
    if (!name.ends_with("ForCausalLM") && !name.ends_with("LMHeadModel")) {
      return "only causal language models (…ForCausalLM) are modelled; another head or an encoder "
             "would need other memory.";
    }
  }
  return {};
}

}  // namespace

void check_other_keys(const Value& object, const std::string& path, const Value& keys, bool pasted,
                      Findings& findings) {
  std::vector<std::string_view> known;
  for (const json::Member& member : keys.members) known.push_back(member.key);
  for (const json::Member& member : object.members) {
    if (findings.full()) return;
    const std::string& key = member.key;
    const std::string where = path + "." + json::shortened(key, 60);
    const std::string why = keys.find(key) ? std::string() : not_modelled(key, member.value);
    if (!why.empty())
      findings.add(where, where + " is " + as_given(member.value) + ": " + why, member.value);
    if (keys.find(key) ||
        std::find(std::begin(kOtherKeys), std::end(kOtherKeys), key) != std::end(kOtherKeys)) {
      continue;
    }
    if (key == "model_type" && pasted) continue;
    // A pasted config.json holds dozens of keys that do not matter: only a near miss of a key that
    // is not there itself is taken for a misspelling.
    std::string near;
    for (const std::string_view candidate : known) {
      const bool close = edit_distance(key, candidate, 2) <= 2;
      if (near.empty() && close && !object.find(candidate)) near = candidate;
    }
    if (pasted && near.empty()) continue;
    if (near.empty() && key != "model_type") {
      const auto found = nearest(key, known, 1);
      if (!found.empty()) near = found.front();
    }
    findings.add(where,
                 key == "model_type"
                     ? where + " cannot be overridden; paste the other model's config.json instead."
                     : where + " is not a key that memory depends on for this model type." +
                           did_you_mean(near),
                 json::shortened(key, 60), near);
  }
}

namespace {

// The key by which this model type knows what most types call `name`.
std::string spelled(const ModelReading& reading, std::string_view name) {
  for (const json::Member& member : reading.type.find("keys")->members) {
    const Value* is = member.value.find("is");
    if (is && is->text == name) return member.key;
  }
  return std::string(name);
}

// Where a problem that several keys share is shown: at the key that was overridden, else at the
// first.
std::string path_of(const ModelReading& reading, std::initializer_list<std::string_view> keys) {
  for (const std::string_view name : keys) {
    const std::string key = spelled(reading, name);
    const auto& names = reading.overridden;
    if (std::find(names.begin(), names.end(), key) != names.end()) return "config." + key;
  }
  return reading.path + "." + spelled(reading, *keys.begin());
}

// The part of a head that is rotated, where it is rotated at all.
double rotated_width(const ModelReading& reading, double head) {
  const Value* rotates = reading.type.find("rotates");
  if (rotates && !rotates->flag) return 0;
  const ModelConfig& config = reading.config;
  if (config.flag("alibi")) return 0;
  const double share = config.number_or("rotary_pct", config.number_or("partial_rotary_factor", 1));
  return std::floor(head * share);
}

void check_heads(ModelReading& reading, Findings& findings) {
  ModelConfig& config = reading.config;
  const double width = config.number("hidden_size"), heads = config.number("num_attention_heads");
  const double groups = config.number("num_key_value_heads");
  const bool split = std::fmod(width, heads) == 0;
  const bool own_width = config.numbers.count("head_dim") > 0;
  const std::string width_key = spelled(reading, "hidden_size");
  const std::string heads_key = spelled(reading, "num_attention_heads");
  const bool must_split =
      reading.type.find("keys")->find(width_key)->find("multiple_of") != nullptr;
  if (!split && (!own_width || must_split)) {
    const std::string path = path_of(reading, {"hidden_size", "num_attention_heads"});
    findings.add(path,
                 path + ": " + width_key + " " + grouped(width) + " is not a multiple of " +
                     heads_key + " " + grouped(heads) +
                     (must_split ? "; transformers refuses that." : "; give head_dim as well."));
  }
  if (std::fmod(heads, groups) != 0) {
    const std::string path = path_of(reading, {"num_key_value_heads", "num_attention_heads"});
    findings.add(path, path + ": num_attention_heads " + grouped(heads) +
                           " is not a multiple of num_key_value_heads " + grouped(groups) +
                           "; each key/value head serves the same number of heads.");
  }
  if (!own_width) config.numbers["head_dim"] = std::floor(width / heads);
  const double head = config.number("head_dim");
  const double rotated = rotated_width(reading, head);
  if (split && std::fmod(rotated, 2) != 0) {
    const std::string path = path_of(reading, {"head_dim", "hidden_size", "num_attention_heads"});
    findings.add(path, path + ": heads are " + grouped(head) + " wide, " + grouped(rotated) +
                           " of it rotated; the rotary embedding needs an even width.");
  }
}

// One entry per layer, as transformers completes it.
void complete_layers(const Value& keys, ModelReading& reading, Findings& findings) {
  ModelConfig& config = reading.config;
  const auto layers = static_cast<std::size_t>(config.number("num_hidden_layers"));
  if (keys.find("use_sliding_window") && !config.flag("use_sliding_window")) {
    config.numbers.erase("sliding_window");
  }
  const bool window = config.numbers.count("sliding_window") > 0;
  if (keys.find("no_rope_layers")) {
    const bool given = config.lists.count("no_rope_layers") > 0;
    std::vector<std::string>& rotated = config.lists["no_rope_layers"];
    const double interval = config.number("no_rope_layer_interval");
    for (std::size_t i = 0; !given && i < layers; ++i) {
      rotated.push_back(std::fmod(static_cast<double>(i + 1), interval) != 0 ? "1" : "0");
    }
    if (rotated.size() < layers) {
      const std::string path = path_of(reading, {"no_rope_layers", "num_hidden_layers"});
      findings.add(path, path + ": no_rope_layers has " +
                             grouped(static_cast<double>(rotated.size())) + " entries for " +
                             grouped(static_cast<double>(layers)) + " layers.");
      return;
    }
    rotated.resize(layers);
  }
  if (!keys.find("layer_types")) return;
  const bool given = config.lists.count("layer_types") > 0;
  if (!given && keys.find("layer_types")->find("completed_by")) return;  // the architecture does
  std::vector<std::string>& types = config.lists["layer_types"];
  if (!given) {
    const bool by_rotation = keys.find("no_rope_layers") != nullptr;
    for (std::size_t i = 0; i < layers; ++i) {
      const bool windowed =
          window && (by_rotation ? config.lists["no_rope_layers"][i] == "0"
                                 : static_cast<double>(i) >= config.number("max_window_layers"));
      types.push_back(windowed ? "sliding_attention" : "full_attention");
    }
  }
  if (types.size() != layers) {
    const std::string path = path_of(reading, {"layer_types", "num_hidden_layers"});
    findings.add(path, path + ": layer_types has " + grouped(static_cast<double>(types.size())) +
                           " entries for " + grouped(static_cast<double>(layers)) + " layers.");
  }
  const bool slides = std::find(types.begin(), types.end(), "sliding_attention") != types.end();
  if (slides && !window) {
    const std::string path =
        path_of(reading, {"layer_types", "sliding_window", "use_sliding_window"});
    findings.add(path, path +
                           ": layer_types names sliding_attention, but no window is in force; it "
                           "needs use_sliding_window true and a sliding_window.");
  }
}

// Falcon says it by two flags; elsewhere every head has its own where nothing is said.
double key_value_heads(const Value& keys, const ModelConfig& config) {
  const double heads = config.number("num_attention_heads");
  if (!keys.find("multi_query")) return heads;
  if (config.flag("new_decoder_architecture")) return config.number_or("num_kv_heads", heads);
  return config.flag("multi_query") ? 1 : heads;
}

}  // namespace

ModelReading complete_model(const Value& keys, ModelReading reading, Findings& findings) {
  ModelConfig& config = reading.config;
  if (config.numbers.count("n_embed") > 0) config.numbers["hidden_size"] = config.number("n_embed");
  if (config.numbers.count("intermediate_size") == 0) {
    config.numbers["intermediate_size"] = 4 * config.number("hidden_size");
  }
  if (config.numbers.count("num_key_value_heads") == 0) {
    config.numbers["num_key_value_heads"] = key_value_heads(keys, config);
  }
  const std::size_t before = findings.size();
  check_heads(reading, findings);
  complete_layers(keys, reading, findings);
  reading.read = findings.size() == before;
  return reading;
}

}  // namespace ledger::reading
