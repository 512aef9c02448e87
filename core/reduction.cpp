// The choices of PyTorch's reduction kernel, as far as they allocate.
#include "core/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ledger {
namespace {

using Int = std::int64_t;

constexpr Int kMaxThreads = 512;  // of a block, divided by the vector width of an output
constexpr Int kWarp = 32;

Int ceil_of(Int a, Int b) { return (a + b - 1) / b; }

Int last_power_of_two(Int n) {
  Int power = 1;
  while (power * 2 <= n) power *= 2;
  return power;
}

}  // namespace

Count scan_space(Count items, double tile) {
  return Count(1279) + Count(256) * (ceil_div(items, tile) - 1);
}

Count float_scan_space(Count items) {
  return Count(1023) + Count(256) * (ceil_div(items, 61440) - 1);
}

Tensor running_sum(Tape& tape, const Tensor& x, const char* what) {
  Tensor sum = tape.make(x.shape(), x.dtype(), what, Role::kInput);
  if (x.dim(0).value() > 1) return sum;
  const Count items = x.shape().elements();
  Tensor scan = tape.bytes(bytes_of(x.dtype()) == 8 ? scan_space(items) : float_scan_space(items),
                           "working space of a scan");
  return sum;
}

namespace {

int running_bytes(const Reduction& reduction) {
  if (reduction.running_bytes > 0) return reduction.running_bytes;
  return reduction.dtype == Dtype::kInt64 ? 8 : 4;
}

// The two passes of values that a 32-bit offset reaches.
void allocate_passes(Tape& tape, const Reduction& reduction) {
  const bool contiguous = reduction.contiguous;
  const Int n_in = static_cast<Int>(reduction.rows.value());
  const Int n_out = static_cast<Int>(reduction.outputs.value());
  Int vector = 1;
  Int dim0 = contiguous ? n_in : n_out;
  const Int dim1 = contiguous ? n_out : n_in;
  if (contiguous) {
    if (n_out == 1 && dim0 > 128) dim0 /= 4;
  } else {
    vector = 4;
    while (vector > 1 && n_out % vector) vector /= 2;
    dim0 /= vector;
  }
  const Int threads = kMaxThreads / vector;
  const Int d0 = dim0 < threads ? last_power_of_two(std::max<Int>(dim0, 1)) : threads;
  const Int d1 = dim1 < threads ? last_power_of_two(std::max<Int>(dim1, 1)) : threads;
  Int width = std::min(d0, kWarp);
  const Int height = std::min(d1, threads / width);
  width = std::min(d0, threads / height);

  Int step_in = contiguous ? width : 1;
  Int step_out = contiguous ? 1 : width;
  const bool across_rows = ceil_of(n_in, step_in) >= std::min<Int>(height * 16, 256);
  (across_rows ? step_in : step_out) *= height;
  const Int per_thread = ceil_of(n_in, step_in);
  const Int grid = ceil_of(n_out / vector, step_out);
  if (!across_rows || per_thread < 256) return;

  const Device& device = tape.device();
  const Int per_multiprocessor =
      static_cast<Int>(device.threads_per_multiprocessor) / (width * height);
  const Int target = static_cast<Int>(device.multiprocessors) * per_multiprocessor;
  if (grid > target) return;
  const Int blocks =
      std::max(std::min(ceil_of(target, grid), ceil_of(per_thread, 16)), ceil_of(per_thread, 256));
  if (blocks <= 1) return;
  const Count c = tape.workings().named("c", static_cast<double>(blocks));
  const Count lanes = contiguous ? Count(1) : Count(static_cast<double>(width * vector));
  Tensor partials = tape.bytes(Count(running_bytes(reduction)) * reduction.outputs * c * lanes,
                               "partial sums of a reduction");
  Tensor counters = tape.bytes(Count(4) * tape.workings().named("g", static_cast<double>(grid)),
                               "counters of a reduction");
}

bool spans_32_bits(const Reduction& r) {
  return r.rows.value() * r.outputs.value() * bytes_of(r.dtype) >= 2147483648.0;
}

// The dimension of the widest stride is halved: matrices, outputs whose values lie side by side,
// or the rows themselves.
void allocate_halves(Tape& tape, const Reduction& reduction) {
  if (!spans_32_bits(reduction)) return allocate_passes(tape, reduction);
  Reduction first = reduction, second = reduction;
  auto halve = [&](Count Reduction::*member, double whole) {
    const double half = std::floor(whole / 2);
    first.*member = half;
    second.*member = whole - half;
  };
  if (reduction.matrices.value() > 1) {
    halve(&Reduction::matrices, reduction.matrices.value());
    const Count each = reduction.outputs / reduction.matrices;
    first.outputs = each * first.matrices;
    second.outputs = each * second.matrices;
  } else if (reduction.contiguous && reduction.outputs.value() > 1) {
    halve(&Reduction::outputs, reduction.outputs.value());
  } else {
    halve(&Reduction::rows, reduction.rows.value());
  }
  allocate_halves(tape, first);
  allocate_halves(tape, second);
}

}  // namespace

void allocate_working_space(Tape& tape, const Reduction& reduction) {
  const bool in_16_bit = reduction.dtype == Dtype::kBFloat16 || reduction.dtype == Dtype::kFloat16;
  Tensor sums;
  if (in_16_bit && spans_32_bits(reduction)) {
    sums = tape.bytes(Count(4) * reduction.outputs, "sums in 32 bit");
  }
  allocate_halves(tape, reduction);
}

Tensor sum_to(Tape& tape, Tensor large, Shape shape) {
  const Count outputs = shape.elements();
  Tensor sum = tape.output(shape, large.dtype(), "gradient summed over the broadcast");
  const bool contiguous = large->columns_first || (shape.rank() > 1 && shape.last().value() == 1);
  const Count rows = large.shape().elements() / outputs;
  allocate_working_space(tape, {rows, outputs, contiguous, large.dtype()});
  return sum;
}

}  // namespace ledger
