// Source: trl 1.16.0 data_utils.py: pack_dataset; trainer/sft_trainer.py: the collator.
#include "core/training/packing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace ledger::training {
namespace {

constexpr std::size_t kMostPacked = 4096;  // samples; further batches are made of the same rows

struct Bin {
  double tokens = 0, sequences = 0;
};

// Best fit, the longest first: each sample goes where the least is left.
std::vector<Bin> best_fit_decreasing(std::vector<double> lengths, double capacity, bool split) {
  std::vector<double> parts;
  for (double length : lengths) {
    while (split && length > capacity) {
      parts.push_back(capacity);
      length -= capacity;
    }
    parts.push_back(std::min(length, capacity));
  }
  std::sort(parts.begin(), parts.end(), std::greater<>());
  std::vector<Bin> bins;
  for (const double length : parts) {
    Bin* best = nullptr;
    for (Bin& bin : bins) {
      if (bin.tokens + length <= capacity && (!best || bin.tokens > best->tokens)) best = &bin;
    }
    if (!best) best = &bins.emplace_back();
    best->tokens += length;
    best->sequences += 1;
  }
  return bins;
}

}  // namespace

Samples samples_of(const Training& training) {
  const double batch = training.per_device_train_batch_size, length = training.max_length;
  const bool cut = training.packing && training.packing_strategy == "wrapped";
  const bool packs = training.packing && !cut;
  std::vector<double> lengths = training.sample_lengths;
  Samples out;
  out.flattened = packs || training.padding_free;
  if (lengths.empty() || cut) {
    out.sequences = batch;
    out.tokens = batch * length;
    out.longest = length;
    return out;
  }
  std::vector<Bin> bins;
  if (packs) {
    // The samples come in turn; enough of them are packed together to fill the batch.
    double sum = 0;
    for (const double sample : lengths) sum += sample;
    const double rounds = std::ceil(batch * length / sum);
    const std::size_t once = lengths.size();
    while (lengths.size() < rounds * static_cast<double>(once) && lengths.size() < kMostPacked) {
      lengths.push_back(lengths[lengths.size() - once]);
    }
    bins =
        best_fit_decreasing(std::move(lengths), length, training.packing_strategy == "bfd_split");
  } else {
    for (const double sample : lengths) bins.push_back({sample, 1});
  }
  // The samples come in turn until the batch is full.
  const double rounds = std::floor(batch / static_cast<double>(bins.size()));
  const double rest = batch - rounds * static_cast<double>(bins.size());
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double times = rounds + (static_cast<double>(i) < rest ? 1 : 0);
    out.sequences += times * bins[i].sequences;
    out.tokens += times * bins[i].tokens;
    if (times > 0) out.longest = std::max(out.longest, bins[i].tokens);
  }
  return out;
}

}  // namespace ledger::training
