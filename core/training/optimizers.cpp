// The optimizers' rows turned into allocations.
#include "core/training/optimizers.hpp"

#include <numeric>
#include <utility>

#include "core/training/optimizer_step.hpp"

namespace ledger::training {
namespace {

// Whether the state of this parameter consists of codes that the shared maps explain.
bool needs_maps(const OptimizerRow& row, const Tensor& parameter) {
  return row.maps > 0 && parameter.shape().elements().value() >= row.low_bit.min_elements;
}

}  // namespace

Optimizer::Optimizer(Tape& tape, const Training& training, ParameterGroups groups)
    : tape_(tape),
      training_(training),
      row_(optimizer_of(training)),
      parameters_(std::move(groups.parameters)),
      first_group_(groups.first_group),
      in_full_bits_(std::move(groups.in_full_bits)),
      redistributed_(std::move(groups.redistributed)),
      state_(parameters_.size()) {
  if (row_.created != StateCreated::kByConstructor) return;
  make_state_of(0, parameters_.size());
  if (!groups.counters_on_device) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    state_[i].push_back(
        beside(tape_, parameters_[i], tape_.shape({1}), Dtype::kFloat32, "step", Role::kState));
  }
}

bool Optimizer::in_full_bits(std::size_t parameter) const {
  return parameter < in_full_bits_.size() && in_full_bits_[parameter] && row_.maps > 0;
}

void Optimizer::make_state_of(std::size_t begin, std::size_t end) {
  Step s{tape_, training_, parameters_, state_, steps_};
  for (std::size_t i = begin; i < end; ++i) {
    if (in_full_bits(i)) {
      paged_bytes_ += make_state(s, row_, i, true);
      continue;
    }
    if (maps_.empty() && needs_maps(row_, parameters_[i])) {
      const Within nowhere(tape_, 0, -1);
      for (int map = 0; map < row_.maps; ++map) {
        maps_.push_back(tape_.make(tape_.shape({256}), Dtype::kFloat32, "map from codes to values",
                                   Role::kState));
      }
    }
    paged_bytes_ += make_state(s, row_, i);
  }
}

void Optimizer::step_group(std::size_t begin, std::size_t end) {
  if (row_.created == StateCreated::kAtFirstStep && steps_ == 0) make_state_of(begin, end);
  Step s{tape_, training_, parameters_, state_, steps_};
  std::vector<Tensor> copies;
  for (const auto& [parameter, shape] : redistributed_) {
    if (parameter < begin || parameter >= end) continue;
    const Tensor& p = parameters_[parameter];
    if (!p->grad) continue;
    copies.push_back(
        beside(tape_, p, shape, p.dtype(), "gradient as its parameter lies", Role::kScratch));
  }
  std::vector<std::size_t> group(end - begin);
  std::iota(group.begin(), group.end(), begin);
  run_statements(s, row_, group);
}

void Optimizer::step() {
  switch (row_.work.kind) {
    case StepWork::Kind::kNone:
    case StepWork::Kind::kForEach:
    case StepWork::Kind::kSingle:
    case StepWork::Kind::kFunction:
      step_group(0, first_group_);
      step_group(first_group_, parameters_.size());
      ++steps_;
      return;
    default: break;
  }
  if (row_.created == StateCreated::kAtFirstStep && steps_ == 0) {
    make_state_of(0, parameters_.size());
  }
  Step s{tape_, training_, parameters_, state_, steps_++};
  switch (row_.work.kind) {
    case StepWork::Kind::kNone:
    case StepWork::Kind::kForEach:
    case StepWork::Kind::kSingle:
    case StepWork::Kind::kFunction: break;
    case StepWork::Kind::kAdafactor: adafactor(s); break;
    case StepWork::Kind::kAdafactorTorch: adafactor_torch(s); break;
    case StepWork::Kind::kMuon: muon(s); break;
    case StepWork::Kind::kGrokAdamw: grokadamw(s); break;
    case StepWork::Kind::kGalore: galore_adamw(s); break;
    case StepWork::Kind::kApollo: apollo_adamw(s); break;
  }
}

void Optimizer::zero_grad() {
  for (const Tensor& p : parameters_) tape_.detach_gradient(p.get());
}

const OptimizerRow& optimizer_of(const Training& training) {
  const OptimizerRow* row = find_optimizer(
      training.optim, [&](std::string_view name) { return argument(training, name); });
  return row ? *row : kOptimizers[0];
}

}  // namespace ledger::training
