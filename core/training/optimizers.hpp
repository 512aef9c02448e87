// What an optimizer keeps and what it makes for a moment, from its row in core/data/optimizers.hpp.
#pragma once

#include <utility>
#include <vector>

#include "core/data/optimizers.hpp"
#include "core/models/decoder.hpp"
#include "core/tape.hpp"

namespace ledger::training {

// The trainable parameters in the order in which the optimizer works on them.
struct ParameterGroups {
  std::vector<Tensor> parameters;
  std::size_t first_group = 0;  // so many of them are in the first group, the rest in a second
  Flags in_full_bits;           // by parameter: state in 32 bit whatever the optimizer; or empty
  // accelerate moves the state that a constructor made onto the device, its counters included.
  bool counters_on_device = false;
  // Gradients that do not lie as their parameters do are copied for the step's kernel, and die with
  // it: by parameter of the first group, the shape of the copy.
  std::vector<std::pair<std::size_t, Shape>> redistributed;
};

class Optimizer {
 public:
  Optimizer(Tape& tape, const Training& training, ParameterGroups groups);
  void step();
  void zero_grad();  // set_to_none=True
  // State in managed memory, outside the allocator; the driver moves it between host and device.
  double paged_bytes() const { return paged_bytes_; }

 private:
  void make_state_of(std::size_t begin, std::size_t end);
  void step_group(std::size_t begin, std::size_t end);
  bool in_full_bits(std::size_t parameter) const;

  Tape& tape_;
  const Training& training_;
  const OptimizerRow& row_;
  std::vector<Tensor> parameters_;
  std::size_t first_group_;
  Flags in_full_bits_;
  std::vector<std::pair<std::size_t, Shape>> redistributed_;
  std::vector<std::vector<Tensor>> state_;  // by parameter
  std::vector<Tensor> maps_;                // shared by all parameters
  int steps_ = 0;
  double paged_bytes_ = 0;
};

// torch.nn.utils.clip_grad_norm_, for-each, of norm 2. Returns the norm; nothing else stays.
Tensor clip_gradients(Tape& tape, const std::vector<Tensor>& parameters);

// All in one group, as they come.
ParameterGroups one_group(std::vector<Tensor> parameters);
// As transformers' Trainer groups them: with weight decay first, then norms and biases. It has
// bitsandbytes keep the state of embeddings in 32 bit.
ParameterGroups trainer_groups(const Tape& t, const models::Decoder& model,
                               const std::vector<Tensor>& parameters);

// The row that a scenario's `optim` and `optim_args` select.
const OptimizerRow& optimizer_of(const Training& training);

}  // namespace ledger::training
