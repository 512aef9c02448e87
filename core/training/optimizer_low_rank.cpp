// GaLore and APOLLO: AdamW whose state for linear layers is kept at a low rank.
#include <utility>

#include "core/training/optimizer_step.hpp"

namespace ledger::training {
namespace {

// Shapes of a projection of an m × n gradient: its smaller dimension shrinks to the rank.
struct Projection {
  Shape matrix;    // projects
  Shape low_rank;  // the projected gradient
  Shape scales;    // one for each row or column that is left
  Count rank;      // not above the smaller dimension where singular vectors are taken
  Count smaller;
  bool right;  // the matrix stands to the right of the gradient
};

Projection projection_of(Tape& t, const Tensor& p, double rank, bool of_singular_vectors) {
  const Count m = p.dim(0), n = p.dim(1);
  Projection out;
  out.right = m.value() >= n.value();
  out.smaller = out.right ? n : m;
  out.rank = t.workings().named("rank", rank);
  if (of_singular_vectors && rank > out.smaller.value()) out.rank = out.smaller;
  out.matrix = out.right ? t.shape({out.rank, n}) : t.shape({m, out.rank});
  out.low_rank = out.right ? t.shape({m, out.rank}) : t.shape({out.rank, n});
  out.scales = t.shape({out.right ? m : n});
  return out;
}

Tensor in(Step& s, const Tensor& p, Shape shape, Dtype dtype, const char* what) {
  return beside(s.t, p, shape, dtype, what, Role::kScratch);
}

// torch.linalg.svd(full_matrices=False) by cuSOLVER's gesvdj. The solver's own workspace is not
// known here; it is not counted.
struct Singular {
  Tensor u, s, vh;
};
Singular singular_values(Step& s, const Tensor& p, Count smaller) {
  const Count m = p.dim(0), n = p.dim(1);
  Singular out;
  out.u = in(s, p, s.t.shape({m, smaller}), Dtype::kFloat32, "left singular vectors");
  out.vh = in(s, p, s.t.shape({smaller, n}), Dtype::kFloat32, "right singular vectors");
  out.s = in(s, p, s.t.shape({smaller}), Dtype::kFloat32, "singular values");
  Tensor info = scratch_one(s.t, p, Dtype::kInt32, "the solver's return code");
  in(s, p, p.shape(), Dtype::kFloat32, "matrix that the solver overwrites");
  Tensor wrong = scratch_one(s.t, p, Dtype::kBool, "whether the solver failed");
  Tensor any = scratch_one(s.t, p, Dtype::kBool, "whether any solver failed");
  return out;
}

// GaLoreProjector.get_orthogonal_matrix. In 32 bit the result is a view: all vectors stay.
Tensor orthogonal_matrix(Step& s, const Tensor& p, const Projection& projection) {
  Tensor copy;
  if (p.dtype() != Dtype::kFloat32) {
    copy = scratch_like(s.t, p, Dtype::kFloat32, "gradient in 32 bit");
  }
  Singular svd = singular_values(s, p, projection.smaller);
  const Shape square = s.t.shape({projection.rank, projection.rank});
  Tensor diagonal = in(s, p, square, Dtype::kFloat32, "diagonal of singular values");
  Tensor product = in(s, p, projection.low_rank, Dtype::kFloat32, "singular vectors times values");
  s.t.matrix_product_done();
  diagonal.reset();
  if (p.dtype() == Dtype::kFloat32) return projection.right ? svd.vh : svd.u;
  return beside(s.t, p, projection.matrix, p.dtype(), "projector", Role::kState);
}

// GradientProjector.get_orthogonal_matrix: random numbers, the same for the same seed.
Tensor random_matrix(Step& s, const Tensor& p, const Projection& projection) {
  const bool cast = p.dtype() != Dtype::kFloat32;
  Tensor copy;
  if (cast) copy = scratch_like(s.t, p, Dtype::kFloat32, "gradient in 32 bit");
  Tensor random = in(s, p, projection.matrix, Dtype::kFloat32, "random numbers");
  if (!cast) return beside(s.t, p, projection.matrix, p.dtype(), "projector", Role::kState);
  Tensor scaled = in(s, p, projection.matrix, Dtype::kFloat32, "scaled random numbers");
  random.reset();
  return beside(s.t, p, projection.matrix, p.dtype(), "projector", Role::kState);
}

// Order of the two groups that transformers makes for optim_target_modules="all-linear".
std::vector<std::size_t> others_then_targets(const Step& s) {
  std::vector<std::size_t> order;
  for (const bool target : {false, true}) {
    for (std::size_t i = 0; i < s.parameters.size(); ++i) {
      if (is_linear_weight(s.t, s.parameters[i]) == target) order.push_back(i);
    }
  }
  return order;
}

bool projects_anew(const Step& s) {
  const auto gap = static_cast<int>(s.arg("update_proj_gap"));
  return s.first() || s.number % gap == 0;
}

// What both do for every parameter: moments, and the update that AdamW would make.
struct Names {
  Tensor grad, denom, norm_grad;
};
enum StateAt : std::size_t { kProjector, kExpAvg, kExpAvgSq, kLimiter };

void moments(Step& s, std::size_t i, Shape shape, Names& names) {
  const Tensor& p = s.parameters[i];
  std::vector<Tensor>& state = s.state[i];
  if (s.first()) {
    state[kExpAvg] = beside(s.t, p, shape, p.dtype(), "exp_avg", Role::kState);
    state[kExpAvgSq] = beside(s.t, p, shape, p.dtype(), "exp_avg_sq", Role::kState);
  }
  names.denom = in(s, p, shape, p.dtype(), "denominator");
  names.norm_grad = in(s, p, shape, p.dtype(), "update");
}

}  // namespace

void galore_adamw(Step& s) {
  Names names;
  for (const std::size_t i : others_then_targets(s)) {
    const Tensor& p = s.parameters[i];
    if (s.first()) s.state[i].resize(kLimiter + 1);
    names.grad.reset();
    if (!is_linear_weight(s.t, p)) {
      moments(s, i, p.shape(), names);
      continue;
    }
    const Projection projection = projection_of(s.t, p, s.arg("rank"), true);
    if (projects_anew(s)) s.state[i][kProjector] = orthogonal_matrix(s, p, projection);
    names.grad = in(s, p, projection.low_rank, p.dtype(), "projected gradient");
    s.t.matrix_product_done();
    moments(s, i, projection.low_rank, names);
    Tensor full = scratch_like(s.t, p, p.dtype(), "update, projected back");
    Tensor scaled = scratch_like(s.t, p, p.dtype(), "scaled update");
    full.reset();
    names.norm_grad = std::move(scaled);
  }
}

void apollo_adamw(Step& s) {
  const bool by_channel = s.arg("scale_type") == 0;
  Names names;
  Tensor grad_scaling_factor, scaled_grad, scaled_grad_norm, limiter;
  for (const std::size_t i : others_then_targets(s)) {
    const Tensor& p = s.parameters[i];
    std::vector<Tensor>& state = s.state[i];
    if (s.first()) state.resize(kLimiter + 1);
    names.grad.reset();
    if (!is_linear_weight(s.t, p)) {
      moments(s, i, p.shape(), names);
      continue;
    }
    const Projection projection = projection_of(s.t, p, s.arg("rank"), false);
    if (projects_anew(s)) state[kProjector] = random_matrix(s, p, projection);
    names.grad = in(s, p, projection.low_rank, p.dtype(), "projected gradient");
    s.t.matrix_product_done();
    moments(s, i, projection.low_rank, names);

    const Shape scales = by_channel ? projection.scales : s.t.shape({1});
    const Count each = projection.low_rank.elements() / scales.elements();
    auto norm = [&](const char* what) {
      return reduced(s.t, p, scales, p.dtype(), what, each, projection.right || !by_channel);
    };
    {
      Tensor of_update = norm("norms of the update");
      Tensor of_gradient = norm("norms of the projected gradient");
      Tensor shifted = in(s, p, scales, p.dtype(), "norms, not zero");
      of_gradient.reset();
      Tensor quotient = in(s, p, scales, p.dtype(), "scaling factors");
      of_update.reset();
      shifted.reset();
      grad_scaling_factor = std::move(quotient);
    }
    scaled_grad = scratch_like(s.t, p, p.dtype(), "scaled gradient");
    if (s.first()) {
      state[kLimiter] = reduced(s.t, p, s.t.shape({1}), p.dtype(), "norm of the scaled gradient",
                                p.shape().elements(), true);
    } else {
      scaled_grad_norm = norm_of(s.t, p, p.dtype(), "norm of the scaled gradient");
      Tensor shifted = scratch_one(s.t, p, p.dtype(), "last norm, not zero");
      Tensor growth = scratch_one(s.t, p, p.dtype(), "growth of the norm");
      shifted.reset();
      scratch_one(s.t, p, Dtype::kBool, "whether it is above the limit");
      Tensor over = scratch_one(s.t, p, p.dtype(), "growth over the limit");
      growth.reset();
      limiter = std::move(over);
      scaled_grad = scratch_like(s.t, p, p.dtype(), "limited gradient");
      state[kLimiter] = beside(s.t, p, s.t.shape({1}), p.dtype(), "scaled_grad", Role::kState);
    }
    names.norm_grad = scaled_grad;
  }
}

}  // namespace ledger::training
