// Reads `moments`: what is replayed beside the steps, and how an evaluation runs.
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

constexpr std::string_view kMoments[] = {"load", "train", "evaluate", "save"};

std::string path_of(std::string_view key) { return "training." + std::string(key); }

void check_evaluation(const Scenario& s, const Evaluation& e, Findings& findings) {
  const auto refuse = [&](std::string_view key, std::string_view why) {
    const std::string path = key == "moments" ? "moments" : path_of(key);
    findings.add(path, path + " " + std::string(why));
  };
  if (s.rl) {
    refuse("moments", "has \"evaluate\", which is not modelled together with rl; leave it out.");
  }
  if (s.model.model_type == "phimoe") {
    refuse("moments",
           "has \"evaluate\", which is not modelled for phimoe: its router chooses otherwise then; "
           "leave it out.");
  }
  if (e.bf16_full_eval && e.fp16_full_eval) {
    refuse("fp16_full_eval", "and training.bf16_full_eval are both true; give one of them.");
  }
  const bool converts = e.bf16_full_eval || e.fp16_full_eval;
  if (s.trainer == "torch") {
    if (e.compute_metrics) refuse("compute_metrics", "belongs to trainer transformers.");
    if (converts) refuse("bf16_full_eval", "belongs to trainer transformers.");
    if (e.eval_accumulation_steps > 0) {
      refuse("eval_accumulation_steps", "belongs to trainer transformers.");
    }
    return;
  }
  if (converts && (s.peft || s.quantization)) {
    refuse(e.bf16_full_eval ? "bf16_full_eval" : "fp16_full_eval",
           "converts the whole model for good; with adapters that is not modelled. Give false.");
  }
  if (!e.compute_metrics) return;
  if (s.trainer == "trl") {
    refuse("compute_metrics",
           "is not modelled for trainer trl, which would compute the logits once more for it; "
           "trainer transformers is.");
  }
  if (s.training.use_liger_kernel) {
    refuse("compute_metrics",
           "together with use_liger_kernel is not modelled: Liger would build the logits then.");
  }
  if (e.max_eval_samples == 0 && !e.prediction_loss_only) {
    refuse("max_eval_samples",
           "must be given with compute_metrics: the logits of all samples are gathered on the "
           "device.");
  }
}

Evaluation read_evaluation(const Value& scenario, const Scenario& s, Findings& findings) {
  Evaluation e;
  if (s.trainer == "torch") e.per_device_eval_batch_size = s.training.per_device_train_batch_size;
  const Value* training = scenario.find("training");
  if (!training || !training->is(Kind::kObject)) return e;
  const auto number_of = [&](std::string_view key, double otherwise) {
    return number(training->find(key), limit_of(path_of(key)), findings).value_or(otherwise);
  };
  const auto flag_of = [&](std::string_view key) {
    return flag(training->find(key), path_of(key), findings).value_or(false);
  };
  e.per_device_eval_batch_size =
      number_of("per_device_eval_batch_size", e.per_device_eval_batch_size);
  e.eval_accumulation_steps = number_of("eval_accumulation_steps", 0);
  e.max_eval_samples = number_of("max_eval_samples", 0);
  e.prediction_loss_only = flag_of("prediction_loss_only");
  e.bf16_full_eval = flag_of("bf16_full_eval");
  e.fp16_full_eval = flag_of("fp16_full_eval");
  e.compute_metrics = flag_of("compute_metrics");
  return e;
}

}  // namespace

void read_moments(const Value& scenario, const ModelReading& model, Scenario& out,
                  Findings& findings) {
  const Evaluation evaluation = read_evaluation(scenario, out, findings);
  const Value* value = scenario.find("moments");
  if (!value || value->is_null()) return;
  bool train = false, evaluate = false, known = value->is(Kind::kList);
  for (const Value& item : value->list) {
    const auto is = [&](std::string_view name) {
      return item.is(Kind::kText) && item.text == name;
    };
    out.load = out.load || is("load");
    train = train || is("train");
    evaluate = evaluate || is("evaluate");
    out.save = out.save || is("save");
    bool one_of = false;
    for (const std::string_view moment : kMoments) one_of = one_of || is(moment);
    known = known && one_of;
  }
  if (!known || !train) {
    findings.add("moments",
                 "moments is " + as_given(*value) +
                     "; it must be a list with \"train\", beside it \"load\", \"evaluate\" and "
                     "\"save\" where they are wanted.",
                 *value);
    return;
  }
  const Value* keys = model.type.find("keys");
  const bool experts = keys && keys->find("num_experts_per_tok");
  if (out.load && experts) {
    findings.add("moments",
                 "moments has \"load\", which is not modelled yet for mixtures of experts: "
                 "transformers joins their experts' matrices while it loads.",
                 *value);
  }
  if (!evaluate) return;
  out.evaluate = evaluation;
  check_evaluation(out, *out.evaluate, findings);
}

void add_evaluation(const Evaluation& e, Value& training) {
  const auto or_null = [](double value) { return value > 0 ? Value::of_number(value) : Value(); };
  training.add_number("per_device_eval_batch_size", e.per_device_eval_batch_size);
  training.add("eval_accumulation_steps", or_null(e.eval_accumulation_steps));
  training.add_flag("prediction_loss_only", e.prediction_loss_only);
  training.add_flag("bf16_full_eval", e.bf16_full_eval);
  training.add_flag("fp16_full_eval", e.fp16_full_eval);
  training.add_flag("compute_metrics", e.compute_metrics);
  training.add("max_eval_samples", or_null(e.max_eval_samples));
}

std::vector<std::string> moments_of(const Scenario& scenario) {
  std::vector<std::string> out;
  if (scenario.load) out.emplace_back("load");
  out.emplace_back("train");
  if (scenario.evaluate) out.emplace_back("evaluate");
  if (scenario.save) out.emplace_back("save");
  return out;
}

}  // namespace ledger::reading
