// The losses of a causal language model: transformers', and the kernels that take their place.
#pragma once

#include "core/tape.hpp"

namespace ledger::ops {

// transformers' ForCausalLMLoss: logits [B,T,V] in 32 bit, labels shifted. With num_items_in_batch
// a sum divided by it, else a mean. `liger`: Liger's cross entropy in place of PyTorch's, which
// puts the gradient where the logits were.
Tensor causal_lm_loss(Tape& t, Tensor logits, const Tensor& num_items_in_batch = {},
                      bool liger = false);

// torch.nn.functional.cross_entropy of so many rows of logits in 32 bit.
Tensor cross_entropy(Tape& t, Tensor wide, Count rows, const Tensor& targets);

// torchtune's CEWithChunkedOutputLoss: the sequence cut into chunks of so many tokens, and the loss
// of their logits, one after the other.
std::vector<Tensor> chunks_of(Tape& t, const Tensor& hidden, Count tokens);
Tensor chunked_loss(Tape& t, const std::vector<Tensor>& logits, Count batch, Count length);

// Liger's head and loss in one: hidden states [B,T,d] are scored in chunks, and their gradient and
// the head's are made in the forward pass.
Tensor fused_linear_cross_entropy(Tape& t, Tensor hidden, const Tensor& weight,
                                  const Tensor& num_items_in_batch = {});

// transformers' LabelSmoother on logits [B,T,V], labels shifted.
Tensor smoothed_loss(Tape& t, Tensor logits, const Tensor& num_items_in_batch);

// What the two above share: labels [B,T] as each token's target.
struct ShiftedLabels {
  Tensor padded;
  Tensor shifted;  // a copy where there is more than one sequence
};
ShiftedLabels shifted_labels(Tape& t, Count batch, Count length);
// Liger's cross entropy of logits in 32 bit.
Tensor liger_cross_entropy(Tape& t, Tensor wide, Count rows);

// x / n, where n is a number on the device.
Tensor divide(Tape& t, Tensor x, const Tensor& n);

// x.sum(): one value. Its gradient is a view of one value spread over all.
Tensor sum_all(Tape& t, const Tensor& x);
// A sum over all elements: one value, with the scratch of the reduction. Without a gradient.
Tensor total(Tape& t, const Tensor& x, const char* what);
// How many of n truth values hold: one 64-bit integer.
Tensor count_true(Tape& t, Count n, const char* what);

}  // namespace ledger::ops
