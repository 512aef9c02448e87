// torch.nn.utils.clip_grad_norm_: what clipping the gradients allocates.
#include "core/training/optimizers.hpp"

namespace ledger::training {

Tensor clip_gradients(Tape& t, const std::vector<Tensor>& parameters) {
  if (parameters.empty()) return {};
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
  Tensor partials =
      t.scratch(t.shape({count, pieces}), Dtype::kFloat32, "norms of pieces of gradients");
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
  return total;
}

}  // namespace ledger::training
