// Evaluation between two steps as transformers' Trainer runs it, statement by statement: batches
// under no_grad, their losses, and where metrics want them the logits of all of them, until they go
// to the host. Source: transformers 5.18.0 trainer.py evaluation_loop, prediction_step;
// trainer_pt_utils.py EvalLoopContainer; accelerate 1.15.0 operations.py pad_across_processes.
#include <algorithm>
#include <cmath>

#include "core/training/job.hpp"

namespace ledger::training {
namespace {

constexpr double kBatches = 2;  // where max_eval_samples does not say; later ones are alike

constexpr double kMostShown = 16;     // batches that are replayed as a whole
constexpr double kMostGrown = 20000;  // and those of which only what is kept is

double samples_of(const Evaluation& options) {
  if (options.max_eval_samples > 0) return options.max_eval_samples;
  return kBatches * options.per_device_eval_batch_size;
}

double number_of_batches(const Evaluation& options) {
  return std::ceil(samples_of(options) / options.per_device_eval_batch_size);
}

// Tensors of all batches so far, joined whenever one is added.
struct Container {
  Tape& t;
  const char* what;
  Tensor held{};

  void add(const Tensor& more) {
    if (!held) {
      held = more;
      return;
    }
    grow(held.dim(0) + more.dim(0));
  }

  void grow(Count rows) {
    if (!held) return;
    const Shape s = held.shape();
    const Shape joined = s.rank() == 1   ? t.shape({rows})
                         : s.rank() == 2 ? t.shape({rows, s[1]})
                                         : t.shape({rows, s[1], s[2]});
    held = t.scratch(joined, held.dtype(), what);
  }
};

struct Loop {
  Job& job;
  const Method& method;
  Tape& t;
  const Evaluation& options;
  Container losses, logits, labels;
  Batch inputs;
  Tensor loss, batch_logits, batch_labels;  // names of the loop

  bool keeps_logits() const { return options.compute_metrics && !options.prediction_loss_only; }

  // The mean of a loss that is one number already.
  Tensor predict() {
    const NoGrad no_grad(t);
    Tensor items;
    if (job.scenario.trainer != "trl") items = count_items(t, {inputs});
    Tensor of_batch = method.compute_loss(job, inputs, items);
    if (job.scenario.trainer == "trl") return of_batch;
    return t.scratch(t.shape({1}), Dtype::kFloat32, "mean loss");
  }

  // Asks all processes for their sizes.
  void pad_across_processes(const Tensor& tensor) {
    Tensor size = t.scratch(t.shape({Count(tensor.shape().rank())}), Dtype::kInt64, "size");
  }

  void batch(double rows) {
    job.evaluated_rows = rows;
    {
      const Within here(t, t.place("batch"), -1);
      inputs = method.collate(job);
    }
    Tensor predicted = predict();
    if (keeps_logits()) {
      batch_logits = std::move(job.logits);
      batch_labels = inputs.labels;
    }
    job.logits.reset();
    const Within here(t, t.place("evaluation"), -1);
    const Count repeated = t.workings().named("B_eval", options.per_device_eval_batch_size);
    loss = t.scratch(t.shape({repeated}), Dtype::kFloat32, "loss of each sequence");
    predicted.reset();
    losses.add(loss);
    if (!keeps_logits()) return;
    pad_across_processes(batch_labels);
    pad_across_processes(batch_logits);
    logits.add(batch_logits);
    labels.add(batch_labels);
  }

  void to_host() {
    for (Tensor* held : {&losses.held, &logits.held, &labels.held}) held->reset();
  }

  // del losses, logits, labels, inputs. The loader's own name holds the batch a little longer.
  void drop_names() {
    for (Tensor* name : {&loss, &batch_logits, &batch_labels}) name->reset();
  }

  // Of a batch that is not replayed: what is kept of it.
  void keep_alike() {
    loss = t.scratch(loss.shape(), loss.dtype(), "loss of each sequence");
    losses.add(loss);
    if (!keeps_logits()) return;
    const Shape shape = batch_logits.shape();
    const Dtype dtype = batch_logits.dtype();
    batch_logits = t.scratch(shape, dtype, "logits");
    logits.add(batch_logits);
    batch_labels = t.scratch(batch_labels.shape(), Dtype::kInt64, "labels");
    labels.add(batch_labels);
  }

  // Batches in the middle only make the containers grow.
  void skip(double every, double batches) {
    if (every > 0) {
      const double rows = options.per_device_eval_batch_size;
      const double kept = std::fmod(kMostShown - 1 + batches, every);
      if (kept == 0) return to_host();
      for (Container* c : {&losses, &logits, &labels}) c->grow(Count(kept * rows));
      return;
    }
    const Within here(t, t.place("evaluation"), -1);
    const double one_by_one = std::min(batches, kMostGrown);
    for (double i = 0; i < one_by_one; ++i) keep_alike();
    const double rest = (batches - one_by_one) * options.per_device_eval_batch_size;
    if (rest == 0) return;
    for (Container* c : {&losses, &logits, &labels}) {
      if (c->held) c->grow(c->held.dim(0) + Count(rest));
    }
  }

  void run() {
    const std::vector<double> batches = evaluated_batches(job.scenario);
    const double every = options.eval_accumulation_steps;
    const double all = number_of_batches(options);
    double step = 0;
    for (const double rows : batches) {
      if (step == kMostShown - 1 && all > kMostShown) {
        skip(every, all - 1 - step);
        step = all - 1;
      }
      batch(rows);
      step += 1;
      if (every == 0 || std::fmod(step, every) != 0) continue;
      to_host();
      drop_names();
      t.empty_cache();
      inputs = {};
    }
    to_host();
  }
};

// model.to(dtype): parameter by parameter, for good.
void convert(Job& job, Dtype dtype) {
  for (const Tensor& p : job.model.parameters) {
    if (p && p.dtype() != dtype) job.t.replace_data(p, dtype);
  }
}

}  // namespace

std::vector<double> evaluated_batches(const Scenario& scenario) {
  const Evaluation& options = *scenario.evaluate;
  const double rows = options.per_device_eval_batch_size;
  const double all = number_of_batches(options);
  const double last = samples_of(options) - (all - 1) * rows;
  std::vector<double> batches(static_cast<std::size_t>(std::min(all, kMostShown)), rows);
  batches.back() = last;
  return batches;
}

bool shortens_evaluation(const Scenario& scenario) {
  return number_of_batches(*scenario.evaluate) > kMostShown;
}

void evaluate(Job& job, const Method& method) {
  Tape& t = job.t;
  const Evaluation& options = *job.scenario.evaluate;
  t.mark(Mark::Kind::kEvaluate, kSteps);
  if (options.fp16_full_eval) {
    convert(job, Dtype::kFloat16);
  } else if (options.bf16_full_eval) {
    convert(job, Dtype::kBFloat16);
  }
  {
    const Evaluating evaluating(t);
    Loop loop{job,
              method,
              t,
              options,
              {t, "losses of all sequences"},
              {t, "logits of all sequences"},
              {t, "labels of all sequences"},
              {},
              {},
              {},
              {}};
    loop.run();
  }
  job.evaluated_rows = 0;
  t.mark(Mark::Kind::kEnd, kSteps);
}

}  // namespace ledger::training
