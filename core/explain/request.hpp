// What was asked for: the tensor's own size, as far as the printed figure tells.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "core/explain/messages.hpp"

namespace ledger::message {

// The tensor that was asked for, as far as the printed figure tells.
struct Request {
  bool known = false;
  double low = 0, high = 0;  // bytes, both possible
  // A second stretch that prints the same figure; 0 where there is none.
  double other_low = 0, other_high = 0;
  bool identifies = false;  // narrow enough to tell a tensor by
  std::string why;          // a sentence
  bool holds(double bytes) const {
    return (bytes >= low && bytes <= high) ||
           (bytes >= other_low && bytes <= other_high && other_high > 0);
  }
};
Request request_of(const Message& message);

// From here no size is one: PyTorch refuses, and lengths near 2^64 are negative ones. Bytes.
inline constexpr double kExbibyte = 1152921504606846976;

// "13.89 GiB", "290.56 MiB", "1,920 bytes".
std::string size_text(double bytes);
// The pattern with a size in place of each '%', in order.
std::string with_sizes(std::string_view pattern, std::initializer_list<double> sizes);

}  // namespace ledger::message
