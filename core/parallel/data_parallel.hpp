// torch.nn.parallel.DistributedDataParallel: every rank has the whole model, and gradients are
// reduced over all ranks in buckets.
#pragma once

#include <vector>

#include "core/models/decoder.hpp"
#include "core/parallel/buckets.hpp"

namespace ledger::parallel {

// Where it lies in memory must not change: the tape calls it.
class DataParallel {
 public:
  // Broadcasts the model's states and makes the first buckets. `states`: parameters, then buffers.
  DataParallel(Tape& t, const Parallel& options, std::vector<Tensor> states,
               std::vector<Tensor> buffers, std::vector<Tensor> trainable);
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;
  ~DataParallel();

  void begin_forward();
  void end_forward(models::Output& output);

 private:
  static void backward_over(void* self);
  static void gradient_ready(void* self, TensorData* parameter);
  void make_buckets(const std::vector<Indices>& assigned);
  void rebuild_buckets();
  void into_bucket(std::size_t parameter);
  void count_down(std::size_t parameter);
  void compress(const Tensor& bucket);
  bool delays() const { return options_.static_graph && forwards_ == 1; }

  Tape& t_;
  const Parallel& options_;
  std::vector<Tensor> buffers_, trainable_;
  std::vector<std::pair<const TensorData*, std::size_t>> numbers_;  // sorted, to find a parameter
  std::vector<Tensor> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter
  std::vector<std::size_t> missing_;    // by bucket: gradients that have not come yet
  std::size_t next_ = 0;                // bucket that is reduced next
  Tensor used_;                         // local_used_map
  Indices ready_;                       // parameters in the order in which gradients came
  bool rebuilt_ = false;
  int forwards_ = 0;
};

}  // namespace ledger::parallel
