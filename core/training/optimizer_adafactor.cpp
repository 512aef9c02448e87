// Adafactor, twice: PyTorch's and transformers'. Both keep, of a matrix, rows and columns only.
#include <utility>

#include "core/training/optimizer_step.hpp"

namespace ledger::training {
namespace {

bool is_matrix(const Tensor& p) { return p.shape().rank() > 1; }

Count columns(const Tensor& p) { return p.shape().last(); }
Count rows(const Tensor& p) { return p.shape()[p.shape().rank() - 2]; }

// The parameter's shape without its last dimension, and without the one before.
Shape row_shape(Tape& t, const Tensor& p) { return t.shape({p.shape().elements() / columns(p)}); }
Shape column_shape(Tape& t, const Tensor& p) { return t.shape({p.shape().elements() / rows(p)}); }

Tensor row_means(Tape& t, const Tensor& p, Dtype dtype) {
  return reduced(t, p, row_shape(t, p), dtype, "means of rows", columns(p), true);
}
Tensor column_means(Tape& t, const Tensor& p, Dtype dtype) {
  const Count matrices = p.shape().elements() / (rows(p) * columns(p));
  return reduced(t, p, column_shape(t, p), dtype, "means of columns", rows(p), false, matrices);
}
// One value for each matrix of the parameter.
Tensor mean_of_rows(Tape& t, const Tensor& p, Dtype dtype) {
  const Shape each = t.shape({p.shape().elements() / (rows(p) * columns(p))});
  return reduced(t, p, each, dtype, "mean of the rows' means", rows(p), true);
}

void factored_state(Step& s, std::size_t i, Dtype dtype, const char* row, const char* column,
                    const char* whole) {
  const Tensor& p = s.parameters[i];
  auto keep = [&](Shape shape, const char* what) {
    s.state[i].push_back(beside(s.t, p, shape, dtype, what, Role::kState));
  };
  if (is_matrix(p)) {
    keep(row_shape(s.t, p), row);
    keep(column_shape(s.t, p), column);
  } else {
    keep(p.shape(), whole);
  }
}

}  // namespace

// The names are locals of one function, so each holds its tensor until the next parameter's.
void adafactor_torch(Step& s) {
  Tape& t = s.t;
  if (s.first()) {
    for (std::size_t i = 0; i < s.parameters.size(); ++i) {
      factored_state(s, i, s.parameters[i].dtype(), "row_var", "col_var", "variance");
    }
  }
  Tensor grad, row_mean, col_mean, grad_squared, var_estimate, update;
  for (const Tensor& p : s.parameters) {
    if (s.arg("maximize") != 0) grad = scratch_like(t, p, p.dtype(), "negated gradient");
    norm_of(t, p, p.dtype(), "norm of the parameter");
    if (is_matrix(p)) {
      row_mean = row_means(t, p, p.dtype());
      col_mean = column_means(t, p, p.dtype());
      var_estimate = scratch_like(t, p, p.dtype(), "update");
      mean_of_rows(t, p, p.dtype());
    } else {
      grad_squared = scratch_like(t, p, p.dtype(), "squared gradient");
      var_estimate = scratch_like(t, p, p.dtype(), "update");
    }
    update = var_estimate;
    norm_of(t, p, p.dtype(), "norm of the update");
  }
}

namespace {

// _approx_sq_grad of transformers.
Tensor approximate_square(Tape& t, const Tensor& p) {
  Tensor mean = mean_of_rows(t, p, Dtype::kFloat32);
  Tensor r_factor =
      beside(t, p, row_shape(t, p), Dtype::kFloat32, "factors of rows", Role::kScratch);
  mean.reset();
  Tensor c_factor =
      beside(t, p, column_shape(t, p), Dtype::kFloat32, "factors of columns", Role::kScratch);
  return scratch_like(t, p, Dtype::kFloat32, "update");
}

// _rms: the norm, divided by the root of the number of elements.
Tensor root_mean_square(Tape& t, const Tensor& p, Role role) {
  Tensor norm = norm_of(t, p, Dtype::kFloat32, "norm");
  return beside(t, p, t.shape({1}), Dtype::kFloat32, "RMS", role);
}

}  // namespace

// All arithmetic is in 32 bit, on copies of gradient and parameter where they are not.
void adafactor(Step& s) {
  Tape& t = s.t;
  const bool first_moment = s.arg("beta1") != 0;
  Tensor grad, p_data_fp32, update;
  for (std::size_t i = 0; i < s.parameters.size(); ++i) {
    const Tensor& p = s.parameters[i];
    std::vector<Tensor>& state = s.state[i];
    grad.reset();
    if (in_sixteen_bit(p.dtype())) {
      grad = scratch_like(t, p, Dtype::kFloat32, "gradient in 32 bit");
    }
    if (s.first()) {
      state.emplace_back();  // RMS, made anew by each step
      if (first_moment) {
        state.push_back(beside(t, p, p.shape(), Dtype::kFloat32, "exp_avg", Role::kState));
      }
      factored_state(s, i, Dtype::kFloat32, "exp_avg_sq_row", "exp_avg_sq_col", "exp_avg_sq");
    }
    p_data_fp32.reset();
    if (in_sixteen_bit(p.dtype())) {
      p_data_fp32 = scratch_like(t, p, Dtype::kFloat32, "parameter in 32 bit");
    }
    state[0] = root_mean_square(t, p, Role::kState);
    if (s.arg("scale_parameter") != 0) scratch_one(t, p, Dtype::kBool, "whether RMS is larger");
    Tensor square = scratch_like(t, p, Dtype::kFloat32, "squared gradient");
    Tensor shifted = scratch_like(t, p, Dtype::kFloat32, "squared gradient, shifted");
    square.reset();
    update = std::move(shifted);
    if (is_matrix(p)) {
      row_means(t, p, Dtype::kFloat32);
      column_means(t, p, Dtype::kFloat32);
      update = approximate_square(t, p);
    } else {
      update = scratch_like(t, p, Dtype::kFloat32, "update");
    }
    Tensor rms = root_mean_square(t, p, Role::kScratch);
    scratch_one(t, p, Dtype::kFloat32, "how far the update is clipped");
    rms.reset();
    if (first_moment) update.reset();  // the name is bound to exp_avg
    scratch_like(t, p, Dtype::kFloat32, "negated update");
  }
}

}  // namespace ledger::training
