// What a training loop works on, and the loops themselves. Each trainer is a program of its own: to
// add one, write a file beside plain_loop.cpp and choose it in program.cpp. What a subclass of
// transformers' Trainer changes is a Method.
#pragma once

#include <vector>

#include "core/models/decoder.hpp"
#include "core/parallel/rank.hpp"
#include "core/tape.hpp"
#include "core/training/optimizers.hpp"
#include "core/training/program.hpp"

namespace ledger::training {

// The model under training, loaded and wrapped, and its optimizer.
struct Job {
  Tape& t;
  const Scenario& scenario;
  const models::Decoder& model;
  const std::vector<Tensor>& trainable;
  Optimizer& optimizer;
  int micro_batches;                           // of one step
  const models::Decoder* reference = nullptr;  // a second model, frozen
  parallel::Rank* rank = nullptr;              // of a parallel run; null on one device
  int step = 0, micro_batch = 0;               // that are running
  std::vector<Tensor> kept{};                  // by a method, from step to step
  Tensor positions{};                          // that the loop hands in, for all batches
  double evaluated_rows = 0;                   // of the batch, while the model is evaluated
  Tensor logits{};                             // that the evaluation keeps

  const Training& training() const { return scenario.training; }
  Shape ids_shape() const;          // [B,T]
  Shape pairs_shape() const;        // [2B,T]
  Count completion_length() const;  // of a sequence, where `rl` says so
  bool autocasts() const { return training().bf16 || training().fp16; }
  Dtype autocast_dtype() const { return training().fp16 ? Dtype::kFloat16 : Dtype::kBFloat16; }
};

// Two steps of a plain loop in PyTorch, and what follows them.
void run_plain_loop(Job& job);

// Sequences of each batch of the evaluation.
std::vector<double> evaluated_batches(const Scenario& scenario);

// One batch as the data loader hands it over: all tensors on the device.
struct Batch {
  models::Inputs inputs;
  Tensor labels;             // [B,T]
  Count scored = 0;          // labels that count when shifted by one
  std::vector<Tensor> rest;  // what else the collator makes, in its order
};

// What a trainer does with a batch.
struct Method {
  Batch (*collate)(Job& job);
  // The loss of one batch. `num_items_in_batch`: labels that count in all of the step's batches.
  Tensor (*compute_loss)(Job& job, const Batch& batch, const Tensor& num_items_in_batch);
  // What comes before the forward pass of a micro-batch, if anything.
  void (*prepare)(Job& job) = nullptr;
};

// The model called without labels, as accelerate wraps it: autocast ends with the forward pass, and
// 16-bit outputs become 32-bit ones.
Tensor logits_under_autocast(Job& job, const models::Inputs& inputs);

// labels[..., 1:].ne(-100).sum() of each batch, added up; nothing where there are no labels.
Tensor count_items(Tape& t, const std::vector<Batch>& samples);

// Two steps of transformers' Trainer with that method, and what follows them.
void run_trainer(Job& job, const Method& method);
// Trainer's evaluation_loop.
void evaluate(Job& job, const Method& method);
// What saving a checkpoint allocates.
void save(Job& job);

extern const Method kTransformersTrainer;  // Trainer itself
extern const Method kSupervised;           // trl's SFTTrainer
extern const Method kPreferences;          // its DPOTrainer and KTOTrainer
// What the reference makes of the data, before training and without a reference then.
void precompute_reference(Job& job);
extern const Method kReward;  // its RewardTrainer
extern const Method kPolicy;  // its GRPOTrainer

}  // namespace ledger::training
