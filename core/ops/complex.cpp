// A complex number takes as much as its two parts, so shapes here are those of the parts.
#include "core/ops/complex.hpp"

#include "core/ops/cast.hpp"

namespace ledger::ops {
namespace {

// The gradient of the real view must lie in order; the table's conjugate is made for the product.
void of_rotation(BackwardCall& call) {
  Tape& t = call.tape;
  Tensor grad = std::move(call.grads[0]);
  if (grad->swapped) {
    Tensor dense = t.output(grad.shape(), Dtype::kFloat32, "gradient in contiguous order");
    grad = std::move(dense);
  }
  Tensor conjugate = t.scratch(call.saved[0].shape(), Dtype::kFloat32, "table, conjugate");
  call.results[0] = t.output(grad.shape(), Dtype::kFloat32, "gradient of the complex numbers");
}

constexpr Rule kRotation{"complex rotation", "derivatives.yaml: mul.Tensor, view_as_real",
                         of_rotation};

}  // namespace

Tensor complex_rotary_table(Tape& t, Count length, Count width) {
  const Within here(t, t.place("rotary_emb"), -1);
  const NoGrad no_grad(t);
  Tensor positions = t.scratch(t.shape({1, 1, length}), Dtype::kFloat32, "positions in 32 bit");
  Tensor angles = t.output(t.shape({1, width / 2, length}), Dtype::kFloat32, "angles");
  Tensor ones = t.output(t.shape({1, length, width / 2}), Dtype::kFloat32, "ones");
  const Shape shape = t.shape({1, length, width});
  Tensor table = t.output(shape, Dtype::kFloat32, "complex table");
  ones.reset();
  table = t.output(shape, Dtype::kFloat32, "complex table, scaled");
  return table;
}

Tensor to_complex(Tape& t, const Tensor& x) { return to(t, x, Dtype::kFloat32); }

Tensor complex_rotation(Tape& t, const Tensor& x, const Tensor& table, Dtype dtype) {
  Tensor product;
  {
    Recording recording(t, kRotation, {&x});
    recording.save(table);
    product = t.output(x.shape(), Dtype::kFloat32, "complex product", x->swapped);
    recording.outputs({&product});
  }
  return to(t.as("rotated"), std::move(product), dtype);
}

}  // namespace ledger::ops
