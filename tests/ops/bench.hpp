// A tape to try operators on, and what they allocated, in order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/tape.hpp"

namespace ledger {

struct OpBench {
  Workings workings;
  Device device;  // compute capability 8.0, 108 multiprocessors
  Tape t{workings, device};
  std::size_t seen = 0;

  // A leaf that needs a gradient and is no parameter.
  Tensor leaf(std::initializer_list<Count> dims, Dtype dtype) {
    Tensor x = t.make(t.shape(dims), dtype, "x", Role::kInput);
    t.make_leaf(x);
    return x;
  }
  Tensor parameter(std::initializer_list<Count> dims, Dtype dtype) {
    return t.parameter(t.shape(dims), dtype, "weight");
  }
  // Bytes of the allocations since the last call, in order; workspaces left out.
  std::vector<double> made() {
    std::vector<double> bytes;
    const auto& storages = t.record().storages;
    for (; seen < storages.size(); ++seen) {
      if (storages[seen].role != Role::kWorkspace) bytes.push_back(storages[seen].bytes.value());
    }
    return bytes;
  }
  // Bytes that live now.
  double live() const {
    double bytes = 0;
    for (const Event& e : t.record().events) {
      if (e.kind == Event::Kind::kAllocate) bytes += t.record().storages[e.id].bytes.value();
      if (e.kind == Event::Kind::kFree) bytes -= t.record().storages[e.id].bytes.value();
    }
    return bytes;
  }
};

using Sizes = std::vector<double>;

}  // namespace ledger
