// What an optimizer keeps and what it makes for a moment, from its row in core/data/optimizers.hpp.
#pragma once

#include <vector>

#include "core/data/optimizers.hpp"
#include "core/tape.hpp"

namespace ledger::training {

class Optimizer {
 public:
  // `parameters` are the trainable ones, in the order of model.parameters().
  Optimizer(Tape& tape, const OptimizerRow& row, std::vector<Tensor> parameters);
  void step();
  void zero_grad();  // set_to_none=True

 private:
  void make_state();
  void work_for_each();
  void work_single();

  Tape& tape_;
  const OptimizerRow& row_;
  std::vector<Tensor> parameters_;
  std::vector<Tensor> state_;
  bool has_state_ = false;
};

// torch.nn.utils.clip_grad_norm_, for-each, of norm 2. Nothing of it stays.
void clip_gradients(Tape& tape, const std::vector<Tensor>& parameters);

// The row that a scenario's `optim` and `optim_args` select.
const OptimizerRow& optimizer_of(const Training& training);

}  // namespace ledger::training
