// Group-relative policy optimisation as trl's GRPOTrainer runs it without an engine: sample
// completions, ask for log-probabilities, train.
// Source: trl/trainer/grpo_trainer.py. What only metrics and rewards use is left out: numbers of a
// completion, not of a token.
#include <algorithm>
#include <cmath>

#include "core/models/generate.hpp"
#include "core/training/scored_pass.hpp"

namespace ledger::training {
namespace {

// From the log-probabilities of all tokens [B,T-1] to a number.
void of_policy(BackwardCall& call) {
  Tape& t = call.tape;
  const Shape shape = call.node.edges[0].shape;
  {
    Tensor first = t.scratch(call.node.shape, Dtype::kFloat32, "gradient of each token's loss");
    Tensor second = t.scratch(call.node.shape, Dtype::kFloat32, "gradient of each token's loss");
  }
  call.results[0] = t.output(shape, Dtype::kFloat32, "gradient of the log-probabilities");
}

constexpr Rule kPolicy{"policy loss", "trl/trainer/grpo_trainer.py: _compute_loss", of_policy};

Tensor loss_of_policy(Tape& t, const Tensor& log_probs, Count completion, bool with_reference) {
  Recording recording(t, kPolicy, {&log_probs});
  const Shape tokens = t.shape({log_probs.dim(0), completion});
  const auto of_each = [&](const char* what) { return t.output(tokens, Dtype::kFloat32, what); };
  Tensor ratio = of_each("ratio of the probabilities");
  Tensor divergence, distance;
  if (with_reference) {
    distance = of_each("ratio to the reference");
    divergence = of_each("divergence from the reference");
  }
  Tensor plain = of_each("loss of each token");
  Tensor clipped = of_each("loss of each token, clipped");
  Tensor count = t.output(t.shape({1}), Dtype::kFloat32, "number of tokens");
  Tensor loss = t.output(t.shape({1}), Dtype::kFloat32, "loss");
  if (recording) recording->shape = tokens;
  for (const Tensor* saved : {&ratio, &plain, &clipped, &count}) recording.save(*saved);
  if (with_reference) {
    recording.save(distance);
    recording.save(divergence);
  }
  recording.outputs({&loss});
  return loss;
}

// What job.kept holds: completions of all micro-batches of a generation, until the next ones are
// there.
enum Kept : std::size_t {
  kPrompts,
  kPromptMask,
  kCompletions,
  kCompletionMask,
  kAdvantages,
  kOldLogProbs,        // where a generation serves more than one step
  kReferenceLogProbs,  // where a reference is asked
  kCount,
  kKeptCount
};

constexpr double kPassesOfLater = 8;  // tokens that later generations of a step show
constexpr double kPartsShown = 4;     // micro-batches whose log-probabilities are replayed

// Of one generation.
struct Sampling {
  Job& job;
  Tape& t;
  const Rl& rl;
  Count prompt, completion, rows;

  Tensor numbers(Count length, const char* what) {
    return t.make(t.shape({rows, length}), Dtype::kInt64, what, Role::kInput);
  }

  void sample() {
    // An engine on the same device does it; what it holds is no part of this process.
    if (job.scenario.serving && job.scenario.serving->colocated) return;
    models::GenerateRequest request;
    request.ids = numbers(prompt, "token ids");
    request.attention_mask = numbers(prompt, "attention mask");
    t.mark(Mark::Kind::kGenerate, job.step, job.micro_batch);
    request.prompt = prompt;
    request.new_tokens = rl.max_completion_length;
    request.passes_shown = job.micro_batch == 0 ? 0 : kPassesOfLater;
    // A model with adapters calls the one inside for it, which accelerate has not wrapped.
    request.autocast = job.autocasts() && !job.scenario.peft;
    request.autocast_dtype = job.autocast_dtype();
    Tensor all = models::generate(t, job.model, request).ids;
  }

  // Of all rows, as many at a time as are trained on at a time.
  Tensor log_probs_of(const models::Decoder& model, const Tensor& ids, const Tensor& mask,
                      const char* what) {
    const NoGrad no_grad(t);
    const Shape part = job.ids_shape();
    const double shown = std::min(rl.steps_per_generation, kPartsShown);
    std::vector<Tensor> parts;
    if (rl.steps_per_generation > shown) {
      const Count tokens = Count(rl.steps_per_generation - shown) * part[0] * (part[1] - Count(1));
      parts.push_back(
          t.scratch(t.shape({tokens}), Dtype::kFloat32, "those of other micro-batches"));
    }
    ScoredRequest request;
    ScoredOutput outputs;  // a name holds the last ones
    for (double i = 0; i < shown; ++i) {
      request.inputs.ids = t.view(ids, part, false);
      request.inputs.attention_mask = t.view(mask, part, false);
      request.inputs.padded = false;
      request.scored = completion;
      Tensor of_part = request.inputs.ids;
      request.labels = labels_of(t, of_part);
      request.wanted.entropy = &model == &job.model;
      outputs = scored_pass(job, model, request);
      parts.push_back(outputs.each.log_probs);
    }
    return t.make(t.shape({rows, completion}), Dtype::kFloat32, what, Role::kInput);
  }

  bool needs_old() const {
    const double every = rl.steps_per_generation * rl.num_iterations;
    return std::fmod(job.training().gradient_accumulation_steps, every) != 0;
  }

  std::vector<Tensor> run() {
    sample();
    std::vector<Tensor> made(kKeptCount);
    made[kPrompts] = numbers(prompt, "prompts");
    made[kPromptMask] = numbers(prompt, "mask of the prompts");
    made[kCompletions] = numbers(completion, "completions");
    made[kCompletionMask] = numbers(completion, "mask of the completions");
    made[kCount] = t.make(t.shape({1}), Dtype::kInt64, "number of completion tokens", Role::kInput);
    if (needs_old() || rl.beta > 0) {
      Tensor ids = numbers(prompt + completion, "prompts and completions");
      Tensor mask = numbers(prompt + completion, "attention mask");
      t.mark(Mark::Kind::kLogProbabilities, job.step, job.micro_batch);
      if (needs_old()) {
        made[kOldLogProbs] =
            log_probs_of(job.model, ids, mask, "log-probabilities before the update");
      }
      if (rl.beta > 0) {
        const WithoutAdapters without(t, !job.reference);
        made[kReferenceLogProbs] = log_probs_of(job.reference ? *job.reference : job.model, ids,
                                                mask, "log-probabilities of the reference");
      }
    }
    made[kAdvantages] = t.make(t.shape({rows}), Dtype::kFloat32, "advantages", Role::kInput);
    shuffle(made);
    return made;
  }

  // x[permutation] of each; the old ones go when all are there.
  void shuffle(std::vector<Tensor>& made) {
    const std::vector<Tensor> before = made;
    for (std::size_t i = 0; i < kCount; ++i) {
      if (!made[i]) continue;
      Tensor order = t.scratch(t.shape({rows}), Dtype::kInt64, "permutation");
      made[i] = t.make(made[i].shape(), made[i].dtype(), "completions, shuffled", Role::kInput);
    }
  }
};

// Prompts are text until they are needed.
Batch collate(Job&) { return {}; }

void prepare(Job& job) {
  const Rl& rl = *job.scenario.rl;
  const double every = rl.steps_per_generation * rl.num_iterations;
  const double before = (job.step - 1) * job.training().gradient_accumulation_steps +
                        static_cast<double>(job.micro_batch);
  if (std::fmod(before, every) != 0) return;
  Tape& t = job.t;
  const Within here(t, t.place("completions"), -1);
  const Count rows = job.ids_shape()[0] * Count(rl.steps_per_generation);
  const Count completion = job.completion_length();
  Sampling sampling{job, t, rl, t.workings().named("T_p", rl.prompt_length), completion, rows};
  job.kept = sampling.run();
}

Tensor compute_loss(Job& job, const Batch&, const Tensor&) {
  Tape& t = job.t;
  const Shape shape = job.ids_shape();
  const Count completion = job.completion_length();
  ScoredRequest request;
  request.inputs.ids = t.make(shape, Dtype::kInt64, "prompts and completions", Role::kInput);
  request.inputs.attention_mask = t.make(shape, Dtype::kInt64, "attention mask", Role::kInput);
  request.inputs.padded = false;
  request.scored = completion;
  request.wanted.entropy = true;
  request.labels = labels_of(t, request.inputs.ids);
  const Shape tokens = t.shape({shape[0], completion});
  ScoredOutput output = scored_pass(job, job.model, request);
  Tensor own = t.scratch(tokens, Dtype::kFloat32, "log-probabilities of the completions");
  Tensor entropies = t.scratch(tokens, Dtype::kFloat32, "entropies of the completions");
  request.labels.reset();
  Tensor log_probs = std::move(output.each.log_probs);
  output = {};
  return loss_of_policy(t, std::move(log_probs), completion, job.scenario.rl->beta > 0);
}

}  // namespace

const Method kPolicy{collate, compute_loss, prepare};

}  // namespace ledger::training
