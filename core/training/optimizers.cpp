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

Optimizer::Optimizer(Tape& tape, const Training& training, std::vector<Tensor> parameters)
    : tape_(tape),
      training_(training),
      row_(optimizer_of(training)),
      parameters_(std::move(parameters)),
      state_(parameters_.size()) {
  if (row_.created == StateCreated::kByConstructor) make_all_state();
}

void Optimizer::make_all_state() {
  Step s{tape_, training_, parameters_, state_, steps_};
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
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

void Optimizer::step() {
  if (row_.created == StateCreated::kAtFirstStep && steps_ == 0) make_all_state();
  Step s{tape_, training_, parameters_, state_, steps_++};
  switch (row_.work.kind) {
    case StepWork::Kind::kNone: break;
    case StepWork::Kind::kForEach:
    case StepWork::Kind::kSingle:
    case StepWork::Kind::kFunction: {
      std::vector<std::size_t> all(parameters_.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      run_statements(s, row_, all);
      break;
    }
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
