// The optimizers' rows turned into allocations, and the clipping of gradients.
#include "core/training/optimizers.hpp"

#include <algorithm>

namespace ledger::training {
namespace {

// Makes tensors that belong to one parameter, under the parameter's place and layer.
Tensor beside(Tape& t, const Tensor& parameter, Shape shape, Dtype dtype, const char* what, Role role) {
  const StorageRecord& owner = t.record().storages[parameter->storage];
  const Within here(t, owner.place, owner.layer);
  return t.make(shape, dtype, what, role);
}

}  // namespace

Optimizer::Optimizer(Tape& tape, const OptimizerRow& row, std::vector<Tensor> parameters)
    : tape_(tape), row_(row), parameters_(std::move(parameters)) {
  if (row_.created == StateCreated::kByConstructor) make_state();
}

void Optimizer::make_state() {
  has_state_ = true;
  for (const Tensor& p : parameters_) {
    for (const StateTensor& s : row_.state) {
      const bool one = s.elements == StateTensor::Elements::kOne;
      const Dtype dtype = s.type == StateTensor::Type::kFloat32 ? Dtype::kFloat32 : p.dtype();
      state_.push_back(beside(tape_, p, one ? tape_.shape({1}) : p.shape(), dtype, s.name.data(),
                              Role::kState));
    }
  }
}

void Optimizer::step() {
  if (!has_state_) make_state();
  switch (row_.work.kind) {
    case StepWork::Kind::kNone: break;
    case StepWork::Kind::kForEach: work_for_each(); break;
    case StepWork::Kind::kSingle: work_single(); break;
  }
}

void Optimizer::work_for_each() {
  for (const Dtype dtype : {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32}) {
    std::vector<Tensor> made;
    for (const std::string_view what : row_.work.tensors) {
      for (const Tensor& p : parameters_) {
        if (p.dtype() != dtype) continue;
        made.push_back(beside(tape_, p, p.shape(), dtype, what.data(), Role::kScratch));
      }
    }
  }
}

void Optimizer::work_single() {
  Tensor last;
  for (const Tensor& p : parameters_) {
    std::vector<Tensor> made;
    for (const std::string_view what : row_.work.tensors) {
      made.push_back(beside(tape_, p, p.shape(), p.dtype(), what.data(), Role::kScratch));
    }
    if (made.empty()) continue;
    last = std::move(made.back());
  }
}

void Optimizer::zero_grad() {
  for (const Tensor& p : parameters_) tape_.detach_gradient(p.get());
}

void clip_gradients(Tape& t, const std::vector<Tensor>& parameters) {
  if (parameters.empty()) return;
  const Within here(t, t.place("clip_grad_norm_"), -1);
  const Dtype dtype = parameters[0].dtype();
  const Count count(static_cast<double>(parameters.size()));
  // A norm of each piece of 65,536 elements, as many pieces for each tensor as the largest has.
  Count most = 0;
  for (const Tensor& p : parameters) {
    const Count elements = p.shape().elements();
    if (elements.value() > most.value()) most = elements;
  }
  const Count pieces = ceil_div(most, 65536);
  auto one = [&](const char* what) { return t.scratch(t.shape({1}), dtype, what); };
  Tensor partials = t.scratch(t.shape({count, pieces}), Dtype::kFloat32, "norms of pieces of gradients");
  std::vector<Tensor> norms;
  for (std::size_t i = 0; i < parameters.size(); ++i) norms.push_back(one("norm of a gradient"));
  partials.reset();
  Tensor stack = t.scratch(t.shape({count}), dtype, "norms of all gradients");
  Tensor total = one("total norm");
  stack.reset();
  norms.clear();
  Tensor shifted = one("total norm, shifted");
  Tensor reciprocal = one("its reciprocal");
  Tensor coefficient = one("coefficient");
  shifted.reset();
  reciprocal.reset();
  Tensor clamped = one("coefficient, at most one");
}

const OptimizerRow& optimizer_of(const Training& training) {
  const OptimizerRow* row = find_optimizer(training.optim, [&](std::string_view name) {
    const auto given = training.optim_args.find(name);
    if (given != training.optim_args.end()) return given->second;
    for (const OptimizerRow& candidate : kOptimizers) {
      if (candidate.optim != training.optim) continue;
      for (const OptimizerArg& arg : candidate.args) {
        if (arg.name == name) return arg.otherwise;
      }
    }
    return 0.0;
  });
  return row ? *row : kOptimizers[0];
}

}  // namespace ledger::training
