// The loss of chunks of the sequence, one after the other: only one chunk at a time is raised to 32
// bit. All logits exist until the loss does, and all log-probabilities until the backward pass.
// Source: torchtune 0.6.1 modules/loss/ce_chunked_output_loss.py, modules/transformer.py
// chunked_output, recipes/full_finetune_single_device.py _loss_step; not compiled.
#include <cmath>

#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/loss.hpp"

namespace ledger::ops {
namespace {

void of_chunks(BackwardCall& call) {
  const Edge& edge = call.node.edges[0];
  call.results[0] = call.tape.output(edge.shape, edge.dtype, "gradients of the chunks, joined");
}

void of_sum_in_place(BackwardCall& call) { call.results[0] = call.results[1] = call.grads[0]; }

constexpr Rule kChunks{"split", "derivatives.yaml: split.Tensor", of_chunks};
constexpr Rule kSumInPlace{"sum in place", "derivatives.yaml: add_.Tensor", of_sum_in_place};

Tensor add_to(Tape& t, const Tensor& sum, const Tensor& more) {
  Recording recording(t, kSumInPlace, {&sum, &more});
  Tensor out = t.view(sum, sum.shape(), false);
  recording.outputs({&out});
  return out;
}

Tensor numbers(Tape& t, Shape shape, const char* what) {
  return t.make(shape, Dtype::kInt64, what, Role::kInput);
}

}  // namespace

std::vector<Tensor> chunks_of(Tape& t, const Tensor& hidden, Count tokens) {
  const Count batch = hidden.dim(0), length = hidden.dim(1), width = hidden.dim(2);
  Recording recording(t, kChunks, {&hidden});
  std::vector<Tensor> chunks;
  const double count = std::ceil(length.value() / tokens.value());
  for (double i = 0; i < count; ++i) {
    const Count own = i + 1 < count ? tokens : length - Count(count - 1) * tokens;
    chunks.push_back(t.view(hidden, t.shape({batch, own, width}), false));
    chunks.back()->sliced = batch.value() > 1;
  }
  recording.outputs_of(chunks);
  return chunks;
}

Tensor chunked_loss(Tape& t, const std::vector<Tensor>& logits, Count batch, Count length) {
  Tensor shifted = numbers(t, t.shape({batch, length}), "labels, shifted");
  Tensor total_elements;
  {
    Tensor counts = t.bytes(batch * length, "labels that count");
    total_elements = count_true(t, batch * length, "number of labels that count");
  }
  std::vector<Tensor> labels;
  for (const Tensor& chunk : logits) {
    const bool copies = batch.value() > 1;
    const Shape rows = t.shape({batch * chunk.dim(1)});
    labels.push_back(copies ? numbers(t, rows, "labels of a chunk") : shifted);
  }
  Tensor total_loss;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    Tensor wide = to(t.as("logits of a chunk in 32 bit"), logits[i], Dtype::kFloat32);
    Tensor loss = cross_entropy(t, std::move(wide), batch * logits[i].dim(1), labels[i]);
    total_loss = total_loss ? add_to(t, total_loss, loss)
                            : add_constant(t.as("sum of the losses"), std::move(loss));
  }
  return divide(t, std::move(total_loss), total_elements);
}

}  // namespace ledger::ops
