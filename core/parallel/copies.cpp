// Tables of 64-bit numbers, one for each block of threads and some for each tensor.
// Measured on one to eleven tensors, two to sixty-four ranks and the compute capabilities 7.5, 8.0,
// 8.9 and 9.0. Source: aten/src/ATen/native/cuda/TensorShape.cu.
#include "core/parallel/copies.hpp"

#include <algorithm>
#include <cmath>

namespace ledger::parallel {
namespace {

constexpr double kBlockBytes = 2048;  // 128 threads, 16 bytes each

double blocks_of(const std::vector<double>& parts, double iterations) {
  double blocks = 0;
  for (const double bytes : parts) blocks += std::ceil(bytes / (kBlockBytes * iterations));
  return blocks;
}

}  // namespace

double split_bytes(const Device& device, const std::vector<double>& parts, double ranks) {
  // As many blocks as the device can hold at once; more work than that is spread evenly over rows
  // and over iterations within a row.
  const double at_once = device.multiprocessors * device.threads_per_multiprocessor / 64;
  const double factor = std::ceil(blocks_of(parts, 1) * ranks / at_once);
  const double rows = std::min(ranks, std::ceil(std::sqrt(factor)));
  const double iterations = std::ceil(factor / rows);
  return 8 * (4 * static_cast<double>(parts.size()) + 1 + blocks_of(parts, iterations));
}

double chunk_bytes(const std::vector<double>& parts) {
  return 8 * (6 * static_cast<double>(parts.size()) + 2 + blocks_of(parts, 1));
}

}  // namespace ledger::parallel
