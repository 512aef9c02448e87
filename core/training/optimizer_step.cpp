// Tensors that an optimizer's step makes beside a parameter.
#include "core/training/optimizer_step.hpp"

#include "core/reduction.hpp"

namespace ledger::training {

double argument(const Training& training, std::string_view name) {
  const auto given = training.optim_args.find(name);
  if (given != training.optim_args.end()) return given->second;
  for (const OptimizerRow& row : kOptimizers) {
    if (row.optim != training.optim) continue;
    for (const OptimizerArg& arg : row.args) {
      if (arg.name == name) return arg.otherwise;
    }
  }
  return 0;
}

double Step::arg(std::string_view name) const { return argument(training, name); }

Tensor beside(Tape& t, const Tensor& parameter, Shape shape, Dtype dtype, const char* what,
              Role role) {
  const StorageRecord& owner = t.record().storages[parameter->storage];
  const Within here(t, owner.place, owner.layer);
  return t.make(shape, dtype, what, role);
}

Tensor scratch_like(Tape& t, const Tensor& parameter, Dtype dtype, const char* what) {
  return beside(t, parameter, parameter.shape(), dtype, what, Role::kScratch);
}

Tensor state_like(Tape& t, const Tensor& parameter, const char* what) {
  return beside(t, parameter, parameter.shape(), parameter.dtype(), what, Role::kState);
}

Tensor scratch_one(Tape& t, const Tensor& parameter, Dtype dtype, const char* what) {
  return beside(t, parameter, t.shape({1}), dtype, what, Role::kScratch);
}

Tensor reduced(Tape& t, const Tensor& parameter, Shape shape, Dtype dtype, const char* what,
               Count rows, bool contiguous, Count matrices) {
  Tensor result = beside(t, parameter, shape, dtype, what, Role::kScratch);
  const StorageRecord& owner = t.record().storages[parameter->storage];
  const Within here(t, owner.place, owner.layer);
  allocate_working_space(t, {rows, shape.elements(), contiguous, dtype, matrices});
  return result;
}

Tensor norm_of(Tape& t, const Tensor& parameter, Dtype dtype, const char* what) {
  return reduced(t, parameter, t.shape({1}), dtype, what, parameter.shape().elements(), true);
}

bool is_layer_matrix(const Tape& t, const Tensor& parameter) {
  return parameter.shape().rank() == 2 && t.record().storages[parameter->storage].layer >= 0;
}

bool is_linear_weight(const Tape& t, const Tensor& parameter) {
  if (is_layer_matrix(t, parameter)) return true;
  const StorageRecord& owner = t.record().storages[parameter->storage];
  return parameter.shape().rank() == 2 && t.record().places[owner.place] == "lm_head";
}

}  // namespace ledger::training
