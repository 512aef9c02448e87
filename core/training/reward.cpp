// A reward model as trl's RewardTrainer trains it: a head of one number where the last token is,
// and pairs of a better and a worse text.
// Source: trl/trainer/reward_trainer.py, compute_loss; transformers/modeling_layers.py,
// GenericForSequenceClassification. What only metrics use is left out.
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/training/job.hpp"

namespace ledger::training {
namespace {

// logits[range, last] by two indices: zeros, and a sort to add up what is picked twice.
void of_pooling(BackwardCall& call) {
  Tape& t = call.tape;
  call.results[0] = t.output(call.node.edges[0].shape, call.grads[0].dtype(),
                             "gradient of the scores, zeros elsewhere");
  const Shape index = call.saved[0].shape();
  Tensor linear = t.scratch(index, Dtype::kInt64, "index in elements");
  Tensor range = t.scratch(index, Dtype::kInt64, "positions");
  Tensor sorted = t.scratch(index, Dtype::kInt64, "index, sorted");
  Tensor order = t.scratch(index, Dtype::kInt64, "order of the sorted index");
}

void of_margins(BackwardCall& call) {
  Tape& t = call.tape;
  Tensor of_each = t.scratch(call.saved[0].shape(), Dtype::kFloat32, "gradient of the margins");
  call.results[0] = t.output(call.node.edges[0].shape, Dtype::kFloat32, "gradient of the rewards");
}

constexpr Rule kPooling{"rows by index", "derivatives.yaml: index.Tensor", of_pooling};
constexpr Rule kMargins{"margin loss", "trl/trainer/reward_trainer.py: compute_loss", of_margins};

// The score of each text's last token that is no padding, which is looked for.
Tensor pooled(Tape& t, const Tensor& scores, const Tensor& ids) {
  Recording recording(t, kPooling, {&scores});
  const Count rows = scores.dim(0);
  Tensor unlike = t.scratch(ids.shape(), Dtype::kBool, "tokens that are no padding");
  Tensor mask = t.scratch(ids.shape(), Dtype::kInt32, "mask as numbers");
  unlike.reset();
  Tensor range = t.scratch(t.shape({ids.dim(1)}), Dtype::kInt32, "positions");
  Tensor last;
  {
    Tensor product = t.scratch(ids.shape(), Dtype::kInt32, "positions of no padding");
    last = t.output(t.shape({rows}), Dtype::kInt64, "positions of the last tokens");
  }
  Tensor row = t.output(t.shape({rows}), Dtype::kInt64, "indices of the texts");
  Tensor out = t.output(t.shape({rows, 1}), scores.dtype(), "rewards");
  recording.save(row);
  recording.save(last);
  recording.outputs({&out});
  return out;
}

Tensor loss_of_margins(Tape& t, const Tensor& rewards) {
  Recording recording(t, kMargins, {&rewards});
  Tensor margins = t.output(t.shape({rewards.dim(0) / 2}), Dtype::kFloat32, "margins");
  recording.save(margins);
  Tensor loss = t.output(t.shape({1}), Dtype::kFloat32, "loss");
  recording.outputs({&loss});
  return loss;
}

Tensor rewards_of(Job& job, const models::Inputs& in) {
  Tape& t = job.t;
  Tensor narrow;
  {
    const Autocast autocast(t, job.autocasts(), job.autocast_dtype());
    Tensor hidden = models::backbone(t, job.model, in);
    Tensor scores = ops::linear(t.as("scores of all tokens"), job.model.lm_head, hidden);
    narrow = pooled(t, scores, in.ids);
  }
  return job.autocasts() ? ops::to(t.as("rewards in 32 bit"), narrow, Dtype::kFloat32) : narrow;
}

Batch collate(Job& job) {
  Batch batch;
  const auto ids = [&](const char* what) {
    return job.t.make(job.pairs_shape(), Dtype::kInt64, what, Role::kInput);
  };
  batch.inputs.ids = ids("token ids");
  batch.inputs.attention_mask = ids("attention mask");
  batch.inputs.padded = false;
  return batch;
}

Tensor compute_loss(Job& job, const Batch& batch, const Tensor&) {
  Tensor rewards = rewards_of(job, batch.inputs);
  Tensor loss = loss_of_margins(job.t, rewards);
  return ops::mul_constant(job.t.as("loss of a micro-batch"), loss);
}

}  // namespace

const Method kReward{collate, compute_loss, nullptr};

}  // namespace ledger::training
