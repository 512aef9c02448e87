// How tensors are put together to be sent at once, as torch's reducer and its broadcasts do it.
#pragma once

#include <cstddef>
#include <vector>

#include "core/tape.hpp"

namespace ledger::parallel {

using Indices = std::vector<std::size_t>;

// Tensors of one type go into a bucket until it reaches its limit; then the next begins. The first
// bucket of each type has a limit of its own. Bytes.
// `as_they_come`: buckets stand in the order in which they become full, the unfinished ones last;
// else in the order of their first tensors.
// Source: torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size.
std::vector<Indices> assign_buckets(const std::vector<Tensor>& tensors, const Indices& order,
                                    double first_limit, double limit, bool as_they_come);

// Equal counts are counted once: 28 · (2,048 · 1,024) + ...
Count sum_of(const std::vector<Count>& counts);
// The elements of all of them.
Count elements_of(const std::vector<Tensor>& tensors, const Indices& chosen);

// dist._broadcast_coalesced: each bucket but those of one tensor is copied into one flat tensor;
// two are under way at a time. Source: torch/csrc/distributed/c10d/comm.cpp.
void broadcast_coalesced(Tape& t, const std::vector<Tensor>& tensors);

Indices all_of(std::size_t count);

}  // namespace ledger::parallel
