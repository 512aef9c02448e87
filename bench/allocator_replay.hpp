// A sequence of requests that either allocator can replay, so that both are timed on the same work.
#pragma once

#include <cstdint>
#include <vector>

namespace ledger::bench {

struct Request {
  enum class Kind : std::uint8_t { kAllocate, kFree, kEmptyCache };
  Kind kind = Kind::kAllocate;
  std::uint8_t stream = 0;
  std::uint32_t allocation = 0;  // its number; for kFree the one to free
  std::uint64_t bytes = 0;       // requested
};

// Replays all requests in a new allocator and returns the peak of its reserved bytes.
// `Handle` is what the allocator calls a block; allocations are numbered from 0 without gaps.
template <class Allocator, class Handle>
std::uint64_t replay(const std::vector<Request>& requests, std::size_t allocations,
                     std::uint64_t device_bytes) {
  Allocator allocator(device_bytes);
  std::vector<Handle> blocks(allocations);
  for (const Request& request : requests) {
    switch (request.kind) {
      case Request::Kind::kAllocate:
        blocks[request.allocation] = allocator.allocate(request.bytes, request.stream);
        break;
      case Request::Kind::kFree: allocator.free(blocks[request.allocation]); break;
      case Request::Kind::kEmptyCache: allocator.empty_cache(); break;
    }
  }
  return allocator.reserved_peak();
}

}  // namespace ledger::bench
