// torch's parallelize_module on each layer: a rank has some of the heads and some of the feed-
// forward's columns, and where the user says so some of the vocabulary.
#pragma once

#include <utility>
#include <vector>

#include "core/models/decoder.hpp"

namespace ledger::parallel {

class TensorParallel {
 public:
  // Divides the weights of a model that is loaded.
  TensorParallel(Tape& t, const Parallel& options, models::Decoder& model);

  // Parameters that are DTensors come first: an optimizer's fused kernels take no mixture. Returns
  // how many they are.
  std::size_t in_order(std::vector<Tensor>& trainable) const;

  // A gradient that does not lie as its parameter does: a copy that does; else the gradient itself.
  // Norms of a sequence-parallel rank have a summand of it, a part of the table all of it.
  Tensor as_parameter(Tape& t, TensorData* parameter, Tensor gradient) const;
  bool differs(const TensorData* parameter) const;

 private:
  void divide_rows(ops::Linear& linear);     // of the weight [out, in]: ColwiseParallel
  void divide_columns(ops::Linear& linear);  // RowwiseParallel
  void take(const Tensor& parameter, Shape part);
  void divide_layer(models::DecoderLayer& layer);
  void divide_vocabulary(models::Decoder& model);
  void distribute(models::Norm& norm);

  Tape& t_;
  const Parallel& options_;
  Count ranks_;
  std::vector<const TensorData*> distributed_;  // parameters that are DTensors
  std::vector<const TensorData*> replicated_;   // norms among them
  const TensorData* table_ = nullptr;           // of the embedding, where it is divided
};

}  // namespace ledger::parallel
