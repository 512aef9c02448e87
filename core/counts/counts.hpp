// Exact parameter counts of what has no program in core/models: models whose training step is not
// modelled, and the parts of a model that training on text leaves out.
//
// To add a family: a function that counts from its config.json, and its row in table.cpp.
#pragma once

#include <string>
#include <string_view>

#include "core/scenario_reader.hpp"

namespace ledger::counts {

// Reads the sizes that a count needs. A key that is missing or null has the default that the
// counting function names, transformers' own; what is not a size is a problem. `read` keeps what
// was read, for the normalised scenario.
class Sizes {
 public:
  // `config` may be null: then every key has its default.
  Sizes(const json::Value* config, std::string path, reading::Findings& findings)
      : config_(config), path_(std::move(path)), findings_(findings) {}

  double operator()(std::string_view key, double otherwise);
  // Sizes that may be -1 for none.
  double above_zero(std::string_view key, double otherwise);
  bool flag(std::string_view key, bool otherwise);
  // Whether the text, or a text of the list, under the key holds the word.
  bool names(std::string_view key, std::string_view word);
  // Entries of a list or an object.
  double entries(std::string_view key, double otherwise);

  const json::Value& read() const { return read_; }

 private:
  const json::Value* find(std::string_view key) const;
  void keep(std::string_view key, json::Value value);

  const json::Value* config_;
  std::string path_;
  reading::Findings& findings_;
  json::Value read_ = json::Value::object();
};

struct Count {
  double parameters = 0;
  std::string_view as;  // the class of transformers that was counted
};

struct CountedType {
  std::string_view model_type;
  std::string_view what;  // "an encoder of text"
  Count (*count)(Sizes&);
  bool in_transformers = true;
};

// A model of several parts, of which the one for text can be trained alone.
struct Composite {
  std::string_view model_type;
  std::string_view text_type;  // the text part's where its config does not say it
  std::string_view same_as;    // the type whose layers the text part has; empty: it is its own
  std::string_view loading;    // how transformers loads the text part: a sentence
  // Of the tower and what joins it to the text part.
  double (*tower)(Sizes& whole, Sizes& vision, const ModelConfig& text);
};

// Null where the type is not known.
const CountedType* find_counted(std::string_view model_type);
const Composite* find_composite(std::string_view model_type);

// Layers that predict further tokens: in the checkpoints of qwen3_5, not loaded by transformers.
double prediction_layers(const ModelConfig& text, double layers);

double linear(double in, double out, bool bias = true);
double layer_norm(double width);
// Four projections, two layer norms and a plain feed-forward, all with biases.
double encoder_layer(double width, double feed_forward);

Count count_bert(Sizes& size);
Count count_roberta(Sizes& size);
Count count_deberta_v2(Sizes& size);
Count count_modernbert(Sizes& size);
Count count_vit(Sizes& size);
Count count_t5(Sizes& size);
Count count_whisper(Sizes& size);
Count count_chatglm(Sizes& size);
Count count_internlm2(Sizes& size);

double siglip_tower(Sizes& whole, Sizes& vision, const ModelConfig& text);   // gemma3
double pixtral_tower(Sizes& whole, Sizes& vision, const ModelConfig& text);  // mistral3
double qwen_tower(Sizes& whole, Sizes& vision, const ModelConfig& text);
double deepstack_tower(Sizes& whole, Sizes& vision, const ModelConfig& text);  // qwen3_vl
double llama4_tower(Sizes& whole, Sizes& vision, const ModelConfig& text);

}  // namespace ledger::counts
