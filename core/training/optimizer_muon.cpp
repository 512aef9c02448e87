// Muon and GrokAdamW: steps that loop, or that keep their state on the host.
#include <utility>

#include "core/training/optimizer_step.hpp"
#include "core/training/optimizers.hpp"

namespace ledger::training {
namespace {

// _zeropower_via_newtonschulz. `update` is what the caller holds; the result is in bfloat16.
Tensor orthogonalised(Step& s, const Tensor& p, const Tensor& update) {
  Tape& t = s.t;
  const Count smaller = minimum(p.dim(0), p.dim(1));
  const Shape square = t.shape({smaller, smaller});
  constexpr Dtype kType = Dtype::kBFloat16;
  Tensor ortho_grad = update;
  if (!ortho_grad || ortho_grad.dtype() != kType) {
    ortho_grad = p.dtype() == kType ? Tensor() : scratch_like(t, p, kType, "update in bfloat16");
  }
  Tensor norm = norm_of(t, p, kType, "norm of the update");
  Tensor clamped = scratch_one(t, p, kType, "norm, not too small");
  norm.reset();
  clamped.reset();
  Tensor gram_matrix, gram_update;
  const int iterations = static_cast<int>(s.arg("ns_steps"));
  for (int i = 0; i < iterations; ++i) {
    gram_matrix = beside(t, p, square, kType, "Gram matrix", Role::kScratch);
    t.matrix_product_done();
    gram_update = beside(t, p, square, kType, "polynomial of the Gram matrix", Role::kScratch);
    ortho_grad = scratch_like(t, p, kType, "update, more orthogonal");
  }
  return ortho_grad;
}

}  // namespace

// Muon takes matrices only, and of those the layers' own: embedding, head and vectors go to AdamW,
// as its documentation asks for.
void muon(Step& s) {
  Tape& t = s.t;
  std::vector<std::size_t> matrices, others;
  for (std::size_t i = 0; i < s.parameters.size(); ++i) {
    (is_layer_matrix(t, s.parameters[i]) ? matrices : others).push_back(i);
  }
  if (s.first()) {
    for (const std::size_t i : matrices) {
      s.state[i].push_back(state_like(t, s.parameters[i], "momentum_buffer"));
    }
  }
  {
    Tensor update;
    for (const std::size_t i : matrices) {
      const Tensor& p = s.parameters[i];
      if (s.arg("nesterov") != 0) {
        update = scratch_like(t, p, p.dtype(), "gradient with momentum");
      } else {
        update.reset();  // the name is bound to the momentum buffer
      }
      update = orthogonalised(s, p, update);
    }
  }
  if (others.empty()) return;
  const OptimizerRow* adamw = find_optimizer("adamw_torch", [](std::string_view) { return 1.0; });
  if (s.first()) {
    for (const std::size_t i : others) make_state(s, *adamw, i);
  }
  run_statements(s, *adamw, others);
}

// State lives on the host; a copy of it is on the device while its parameter's turn lasts.
void grokadamw(Step& s) {
  Tape& t = s.t;
  Tensor exp_avg, exp_avg_sq, grok_ema, grok_grad;
  for (const Tensor& p : s.parameters) {
    Tensor first = scratch_like(t, p, p.dtype(), "exp_avg, from the host");
    Tensor second = scratch_like(t, p, p.dtype(), "exp_avg_sq, from the host");
    exp_avg_sq = std::move(second);
    exp_avg = std::move(first);
    grok_ema = scratch_like(t, p, p.dtype(), "grok_ema, from the host");
    clip_gradients(t, {p});
    Tensor scaled = scratch_like(t, p, p.dtype(), "scaled grok_ema");
    Tensor sum = scratch_like(t, p, p.dtype(), "amplified gradient");
    scaled.reset();
    grok_grad = std::move(sum);
    scratch_like(t, p, p.dtype(), "denominator");
  }
}

}  // namespace ledger::training
