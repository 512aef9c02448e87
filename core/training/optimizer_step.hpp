// What the step of an optimizer works on, and the tensors it makes beside a parameter.
#pragma once

#include <string_view>
#include <vector>

#include "core/data/optimizers.hpp"
#include "core/tape.hpp"

namespace ledger::training {

// One call of step(). Functions that are a step of their own take this.
struct Step {
  Tape& t;
  const Training& training;
  const std::vector<Tensor>& parameters;
  std::vector<std::vector<Tensor>>& state;  // by parameter
  int number = 0;                           // from 0

  bool first() const { return number == 0; }
  double arg(std::string_view name) const;  // from optim_args, else the library's default
};

// The value of an argument of the optimizer that `training` names.
double argument(const Training& training, std::string_view name);

// A tensor that belongs to a parameter: under its place and layer.
Tensor beside(Tape& t, const Tensor& parameter, Shape shape, Dtype dtype, const char* what,
              Role role);
// The same, in the parameter's shape, for a moment.
Tensor scratch_like(Tape& t, const Tensor& parameter, Dtype dtype, const char* what);
// The same, kept: in the parameter's shape and type.
Tensor state_like(Tape& t, const Tensor& parameter, const char* what);
// One value.
Tensor scratch_one(Tape& t, const Tensor& parameter, Dtype dtype, const char* what);

// A sum, mean or norm of `rows` values for each output, with the scratch of the reduction kernel,
// which is gone on return. `contiguous`: the values lie side by side.
Tensor reduced(Tape& t, const Tensor& parameter, Shape shape, Dtype dtype, const char* what,
               Count rows, bool contiguous, Count matrices = 1);
// The norm of a tensor of the parameter's size.
Tensor norm_of(Tape& t, const Tensor& parameter, Dtype dtype, const char* what);

constexpr bool in_sixteen_bit(Dtype dtype) {
  return dtype == Dtype::kFloat16 || dtype == Dtype::kBFloat16;
}
// A matrix of one of the model's layers.
bool is_layer_matrix(const Tape& t, const Tensor& parameter);
// The weight of a linear layer: those, and the head where it is not the embedding.
bool is_linear_weight(const Tape& t, const Tensor& parameter);

// Steps that are programs of their own, named after their sources.
void adafactor(Step& s);        // transformers/optimization.py
void adafactor_torch(Step& s);  // torch/optim/_adafactor.py
void muon(Step& s);             // torch/optim/_muon.py, its other parameters by torch's AdamW
void grokadamw(Step& s);        // grokadamw/grokadamw.py
void galore_adamw(Step& s);     // galore_torch/adamw.py
void apollo_adamw(Step& s);     // apollo_torch/apollo.py

// The statements of a row, see core/data/optimizers.hpp. `chosen` are indices of parameters.
void run_statements(Step& s, const OptimizerRow& row, const std::vector<std::size_t>& chosen);
// Makes the state of one parameter as the row lists it. What is paged is not made; its bytes are
// returned.
// `in_full_bits`: as if the parameter were too small for codes.
double make_state(Step& s, const OptimizerRow& row, std::size_t parameter,
                  bool in_full_bits = false);

}  // namespace ledger::training
