// torch's fully_shard on every layer and on the whole: each rank keeps a part of every weight, its
// gradient and its state. A group of weights is gathered before it is used and let go after it;
// its gradients are reduced, and each rank keeps its part of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/models/decoder.hpp"
#include "core/parallel/buckets.hpp"
#include "core/parallel/tensor_parallel.hpp"

namespace ledger::parallel {

// A weight whose data lie on all ranks: `whole` is what the model computes with.
struct ShardedParameter {
  Tensor whole;
  Tensor shard{};     // this rank's part along the first dimension, padded to equal parts
  Tensor gathered{};  // the memory of `whole` while the group is gathered
  Dtype dtype = Dtype::kFloat32;  // in which it is gathered
  bool cast = false;              // which is not the shard's
  Shape padded{};                 // all shards together
  std::uint32_t place = 0;
  std::int16_t layer = -1;
};

// Bytes of host memory.
struct Host {
  double weights = 0, gradients = 0, optimizer = 0;
  double managed = 0;   // CUDA's managed memory, which the driver moves: bitsandbytes' paged state
  std::string figures;  // the working, where it is a short one
  const char* source = "torch/distributed/fsdp/_fully_shard: CPUOffloadPolicy";
};

// Where it lies in memory must not change: tape and model call it.
class FullyShard {
 public:
  // `parameters`: of the model in their order. The model's layers are groups, the rest is another.
  FullyShard(Tape& t, const Parallel& options, models::Decoder& model,
             std::vector<Tensor> parameters, const TensorParallel* tensor_parallel);
  FullyShard(const FullyShard&) = delete;
  FullyShard& operator=(const FullyShard&) = delete;
  ~FullyShard();

  // The shards that are trained, in the order of `parameters`.
  std::vector<Tensor> trainable() const;
  // What lies on the host: shards, and of those that are trained gradients and AdamW's state.
  Host on_host() const;

  void begin_forward();
  void end_forward(models::Output& output);

 private:
  enum class State : std::uint8_t { kIdle, kForward, kBeforeBackward, kAfterBackward };
  struct Group {
    FullyShard* home = nullptr;
    std::int16_t layer = -1;  // -1: the root
    std::vector<ShardedParameter> parameters{};
    bool reshards = true;  // after the forward pass
    State state = State::kIdle;
    bool whole = false;             // gathered, and copied out
    Tensor result{};                // gathered, and not yet copied out
    std::vector<int> passes{};      // when it was used, as numbers of `used_`
    std::vector<Tensor> reduced{};  // kept until the backward pass is over
  };

  static void enter(void* self, std::int16_t layer, Tensor& hidden);
  static void leave(void* self, std::int16_t layer, Tensor& hidden);
  static void backward_over(void* self);
  static void before_backward(BackwardCall& call);
  static void after_backward(BackwardCall& call);
  static const Rule kBefore, kAfter;

  void shard(Group& group);
  void gather(Group& group);
  std::vector<Tensor> copies(const Group& group);
  void copy_out(Group& group);
  void let_go(Group& group);
  void reduce(Group& group);
  void begin(Group& group);
  void end(Group& group);
  void announce(Group& group, const Rule& rule, Tensor& t);
  Group& root() { return groups_.back(); }
  Group* group_of(std::int16_t layer);

  Tape& t_;
  const Parallel& options_;
  models::Decoder& model_;
  const TensorParallel* tensor_parallel_;  // that divided the weights before, or null
  std::size_t layers_ = 0;                 // that are groups
  std::vector<Group> groups_;    // layers, then embedding and head if they are, then the root
  std::vector<Tensor> trained_;  // wholes, in the order of parameters
  std::vector<Group*> used_;     // in the order of the forward pass
  Tensor gathered_before_;       // the last group's, held until the next copies out
  std::vector<Tensor> reduce_inputs_;
};

}  // namespace ledger::parallel
