// The assignment of tensors to buckets, and broadcasts by buckets.
#include "core/parallel/buckets.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ledger::parallel {
namespace {

constexpr double kBroadcastBytes = 262144000;  // 250 MiB; torch/nn/parallel/distributed.py

constexpr Rule kBroadcast{"broadcast from the first rank", "torch/csrc/distributed/c10d/comm.cpp"};

double bytes_of(const Tensor& t) { return t.shape().bytes(t.dtype()).value(); }

}  // namespace

Indices all_of(std::size_t count) {
  Indices all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<Indices> assign_buckets(const std::vector<Tensor>& tensors, const Indices& order,
                                    double first_limit, double limit, bool as_they_come) {
  struct Open {
    Dtype dtype;
    double limit;
    double bytes = 0;
    Indices indices{};
  };
  std::vector<Open> open;
  std::vector<Indices> buckets;
  for (const std::size_t i : order) {
    const Dtype dtype = tensors[i].dtype();
    auto bucket =
        std::find_if(open.begin(), open.end(), [dtype](const Open& o) { return o.dtype == dtype; });
    if (bucket == open.end()) bucket = open.insert(open.end(), Open{dtype, first_limit});
    bucket->indices.push_back(i);
    bucket->bytes += bytes_of(tensors[i]);
    if (bucket->bytes < bucket->limit) continue;
    buckets.push_back(std::exchange(bucket->indices, Indices()));
    bucket->bytes = 0;
    bucket->limit = limit;
  }
  for (Open& rest : open) {
    if (!rest.indices.empty()) buckets.push_back(std::move(rest.indices));
  }
  if (!as_they_come) {
    std::sort(buckets.begin(), buckets.end(), [](const Indices& a, const Indices& b) {
      return *std::min_element(a.begin(), a.end()) < *std::min_element(b.begin(), b.end());
    });
  }
  return buckets;
}

Count sum_of(const std::vector<Count>& counts) {
  std::vector<std::pair<Count, double>> distinct;
  for (const Count count : counts) {
    const auto known = std::find_if(distinct.begin(), distinct.end(),
                                    [count](const auto& one) { return one.first == count; });
    if (known == distinct.end()) {
      distinct.emplace_back(count, 1);
    } else {
      known->second += 1;
    }
  }
  Count sum = 0;
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    const Count one = distinct[i].first;
    const Count all = distinct[i].second > 1 ? Count(distinct[i].second) * one : one;
    sum = i == 0 ? all : sum + all;
  }
  return sum;
}

Count elements_of(const std::vector<Tensor>& tensors, const Indices& chosen) {
  std::vector<Count> counts;
  counts.reserve(chosen.size());
  for (const std::size_t i : chosen) counts.push_back(tensors[i].shape().elements());
  return sum_of(counts);
}

void broadcast_coalesced(Tape& t, const std::vector<Tensor>& tensors) {
  const Within here(t, t.place("broadcast"), -1);
  const Recording recording(t, kBroadcast, {});
  std::vector<Tensor> under_way;
  for (const Indices& bucket :
       assign_buckets(tensors, all_of(tensors.size()), kBroadcastBytes, kBroadcastBytes, false)) {
    if (under_way.size() == 2) under_way.erase(under_way.begin());
    const Shape flat = t.shape({elements_of(tensors, bucket)});
    under_way.push_back(bucket.size() > 1 ? t.scratch(flat, tensors[bucket.front()].dtype(),
                                                      "tensors of a broadcast, one after the other")
                                          : Tensor());
  }
  for (Tensor& flat : under_way) flat.reset();
}

}  // namespace ledger::parallel
