// Parts of the reading of a scenario that its files share: checks that collect problems.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"
#include "core/scenario.hpp"
#include "core/scenario_limits.hpp"

namespace ledger::reading {

using json::Value;
using Kind = json::Value::Kind;

// Collects problems up to a number that a person can read.
class Findings {
 public:
  void add(std::string path, std::string message, std::string given = {}, std::string nearest = {});
  void add(std::string path, std::string message, const Value& given, std::string nearest = {});
  // A name in a list that matches none of the model's linears.
  void add_unmatched(const std::string& path, const Value& item,
                     const std::vector<std::string_view>& known);
  // A model that is counted, though it cannot be estimated.
  void add_counted(std::string path, std::string message, double parameters);
  bool full() const { return problems_.size() >= kMost; }
  bool empty() const { return problems_.empty(); }
  std::size_t size() const { return problems_.size(); }
  Problems take();

 private:
  static constexpr std::size_t kMost = 100;
  Problems problems_;
  std::size_t left_out_ = 0;
};

std::string as_given(const Value& value);  // compact JSON, shortened
std::string grouped(double number);        // 16,777,216
std::string quoted(std::string_view text);
// "a", "a or b", "a, b or c"
std::string listed(const std::vector<std::string_view>& words, std::string_view last = "or");
std::vector<std::string> texts(const Value* list);  // of a list of texts, or nothing
// "self_attn.q_proj" names the same linear as "q_proj": peft compares the ends of paths.
std::string_view last_name(std::string_view path);
std::string did_you_mean(std::string_view word);  // a sentence with a blank before it, or nothing

// Each of these reads one value. Absent and null give nothing and are no problem; a value of the
// wrong kind or out of range is a problem and gives nothing.
std::optional<double> number(const Value* value, const Limit& limit, Findings& findings);
std::optional<bool> flag(const Value* value, std::string_view path, Findings& findings);
std::optional<Dtype> dtype(const Value* value, std::string_view path, Findings& findings);
std::string_view name_of(Dtype dtype);
std::optional<std::string> choice(const Value* value, std::string_view path,
                                  const std::vector<std::string_view>& accepted,
                                  Findings& findings);
// The value if it is an object.
const Value* object(const Value* value, std::string_view path, Findings& findings);

// Every key of the object that is not known is a problem.
void check_keys(const Value& object, std::string_view path, std::span<const std::string_view> known,
                Findings& findings);

struct ModelReading {
  ModelConfig config;
  bool read = false;                    // whether config is complete and sound
  std::string path = "model";           // where its keys stand, e.g. "model.text_config"
  std::vector<std::string> overridden;  // keys that the scenario's `config` gives
  Value model, overrides;               // as in the normalised scenario
  // quantization_config of a pasted config.json, in the scenario's text; null where there is none.
  const Value* quantization = nullptr;
  Value type;  // core/data/model_types/<model_type>.json
};

ModelReading read_model(const Value& scenario, Findings& findings);
// Keys of a config.json that are not in its type's file: misspellings, and what is not modelled.
void check_other_keys(const Value& object, const std::string& path, const Value& keys, bool pasted,
                      Findings& findings);
// Completes the lists of layers and checks what keys must hold together.
ModelReading complete_model(const Value& keys, ModelReading reading, Findings& findings);
// `trainer` decides the defaults.
Training read_training(const Value& scenario, std::string_view trainer, Findings& findings);
// The part of it that chooses losses, kernels and how samples become batches.
void read_loss(const Value& training, std::string_view trainer, Training& out, Findings& findings);
// `moments`, and with it how an evaluation runs, which stands in `training`.
void read_moments(const Value& scenario, const ModelReading& model, Scenario& out,
                  Findings& findings);
void add_evaluation(const Evaluation& evaluation, Value& training);  // as in the normalised one
std::vector<std::string> moments_of(const Scenario& scenario);
// Settles the lengths of `training` too.
std::optional<Rl> read_rl(const Value& scenario, Training& training, Findings& findings);
Value rl_of(const Rl& rl);  // as in the normalised scenario
std::optional<Serving> read_serving(const Value& scenario, Dtype dtype, Findings& findings);
// What it does not go together with.
void check_serving(const Scenario& scenario, Findings& findings);
Value serving_of(const Serving& serving);  // as in the normalised scenario
std::optional<Parallel> read_parallel(const Value& scenario, const ModelConfig& model,
                                      Findings& findings);
// What it does not go together with.
void check_parallel(const Scenario& scenario, Findings& findings);
void check_tensor_parallel(const Scenario& scenario, Findings& findings);
Value parallel_of(const Parallel& parallel);  // as in the normalised scenario
// The name of the embedding in transformers' module.
std::string_view embedding_of(const Value& type);
// What `peft` names beside target_modules.
std::vector<std::string> read_parameters(const Value* given, const std::string& path, bool alone,
                                         const Value& type, Findings& findings);
std::vector<std::string> read_saved(const Value* given, const std::string& path, const Value& type,
                                    Findings& findings);
std::vector<double> read_tokens(const Value* given, const std::string& path, const Peft& peft,
                                const ModelReading& model, Findings& findings);
std::vector<std::pair<std::string, double>> read_rank_pattern(const Value* given,
                                                              const std::string& path,
                                                              const Value& type,
                                                              Findings& findings);
std::vector<Peft> read_peft(const Value& scenario, const ModelReading& model, Findings& findings);
std::optional<Quantization> read_quantization(const Value& scenario, const ModelReading& model,
                                              Findings& findings);
Device read_device(const Value& scenario, Findings& findings);
// An object of PyTorch's options, or the text of PYTORCH_ALLOC_CONF.
AllocatorOptions read_allocator(const Value* value, Findings& findings);
Value allocator_of(const AllocatorOptions& options);  // as in the normalised scenario
// What is wrong only in combination, and sizes beyond what can be counted.
void check_together(const Scenario& scenario, const ModelReading& model, Findings& findings);
std::string normalised(const Scenario& scenario, const ModelReading& model);

}  // namespace ledger::reading
