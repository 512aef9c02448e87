// What an optimizer keeps and what it makes for a moment, from its row in core/data/optimizers.hpp.
#pragma once

#include <vector>

#include "core/data/optimizers.hpp"
#include "core/tape.hpp"

namespace ledger::training {

class Optimizer {
 public:
  // `parameters` are the trainable ones, in the order of model.parameters().
  Optimizer(Tape& tape, const Training& training, std::vector<Tensor> parameters);
  void step();
  void zero_grad();  // set_to_none=True
  // State in managed memory, outside the allocator; the driver moves it between host and device.
  double paged_bytes() const { return paged_bytes_; }

 private:
  void make_all_state();

  Tape& tape_;
  const Training& training_;
  const OptimizerRow& row_;
  std::vector<Tensor> parameters_;
  std::vector<std::vector<Tensor>> state_;  // by parameter
  std::vector<Tensor> maps_;                // shared by all parameters
  int steps_ = 0;
  double paged_bytes_ = 0;
};

// torch.nn.utils.clip_grad_norm_, for-each, of norm 2. Nothing of it stays.
void clip_gradients(Tape& tape, const std::vector<Tensor>& parameters);

// The row that a scenario's `optim` and `optim_args` select.
const OptimizerRow& optimizer_of(const Training& training);

}  // namespace ledger::training
