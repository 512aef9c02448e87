// Makes the weights of a model one after the other, each under its place.
#pragma once

#include "core/models/decoder.hpp"

namespace ledger::models {

class Builder {
 public:
  Builder(Tape& tape, Decoder& model, Dtype dtype) : tape_(tape), model_(model), dtype_(dtype) {}

  Tape& tape() { return tape_; }
  const DecoderConfig& config() const { return model_.config; }
  Dtype dtype() const { return dtype_; }

  // Paths are literals such as "layers.*.self_attn.q_proj".
  Tensor parameter(const char* path, Shape shape, const char* what = "weight");
  void linear(ops::Linear& made, const char* path, Count in, Count out, bool bias,
              ops::Linear::Kind kind = ops::Linear::Kind::kLinear);
  void router(ops::Linear& made, const char* path, Shape shape, bool bias = false);
  void stacked(ops::Stacked& made, const char* path, Shape shape);
  void norm(Norm& made, const char* path, Count width, bool bias = false);
  // model.parameters() names a module's own parameters before those of the modules in it: puts the
  // one made last where `count` parameters stood before.
  std::size_t parameter_count() const { return model_.parameters.size(); }
  void move_last_to(std::size_t count);
  // With weight and bias, or neither.
  void layer_norm(Norm& made, const char* path, Count width);
  // In the order of model.buffers.
  void buffer(Shape shape, Dtype dtype, const char* what);

 private:
  Tape& tape_;
  Decoder& model_;
  Dtype dtype_;
};

// The parts of a llama-like layer, in the order in which transformers makes them.
void make_attention(Builder& b, DecoderLayer& layer);
void make_mlp(Builder& b, DecoderLayer& layer);
void make_layer_norms(Builder& b, DecoderLayer& layer);

}  // namespace ledger::models
