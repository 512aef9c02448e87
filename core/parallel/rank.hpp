// One rank of a parallel run: what wraps the model, and what it does around each pass.
#pragma once

#include <optional>
#include <vector>

#include "core/parallel/data_parallel.hpp"
#include "core/parallel/fully_shard.hpp"
#include "core/parallel/tensor_parallel.hpp"

namespace ledger::parallel {

// Where it lies in memory must not change: the tape calls it.
class Rank {
 public:
  // Wraps a model that is loaded. `all`: its parameters in their order; `trainable`: those that are
  // trained.
  Rank(Tape& t, const Parallel& options, models::Decoder& model, std::vector<Tensor> all,
       std::vector<Tensor> trainable);

  void begin_forward();
  void end_forward(models::Output& output);
  void zero_grad();  // of parameters that another rank's optimizer steps

  const std::vector<Tensor>& trainable() const { return trainable_; }
  // What of it this rank's optimizer steps, which is about to be made.
  std::vector<Tensor> stepped();
  // So many of them come first, in a group of their own.
  std::size_t first_group() const { return first_group_; }
  // Of those, gradients that the step brings into their parameters' shape.
  std::vector<std::pair<std::size_t, Shape>> redistributed() const;
  Host on_host() const { return fully_shard_ ? fully_shard_->on_host() : Host(); }

 private:
  Tape& t_;
  const Parallel& options_;
  std::vector<Tensor> trainable_;
  std::vector<Tensor> buckets_;  // of ZeroRedundancyOptimizer, one for each rank
  std::size_t first_group_ = 0;
  std::optional<TensorParallel> tensor_parallel_;
  std::optional<DataParallel> data_parallel_;
  std::optional<FullyShard> fully_shard_;
};

}  // namespace ledger::parallel
