// The double nearest to a decimal number, whatever its length: what strtod gives in every locale.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/json.hpp"

namespace ledger::json {
namespace {

// A whole number of any size: digits to base 2^32, the lowest first, none of them a leading zero.
class Whole {
 public:
  explicit Whole(std::uint32_t digit) : digits_{digit} {}

  void times_plus(std::uint32_t factor, std::uint32_t summand) {
    std::uint64_t carry = summand;
    for (std::uint32_t& digit : digits_) {
      carry += std::uint64_t{digit} * factor;
      digit = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) digits_.push_back(static_cast<std::uint32_t>(carry));
  }

  void times_two_to_the(int exponent) {
    times_plus(std::uint32_t{1} << (exponent % 32), 0);
    digits_.insert(digits_.begin(), static_cast<std::size_t>(exponent / 32), 0);
  }

  void minus(const Whole& smaller) {
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      borrow += digits_[i];
      if (i < smaller.digits_.size()) borrow -= smaller.digits_[i];
      digits_[i] = static_cast<std::uint32_t>(borrow);
      borrow >>= 32;
    }
    while (digits_.size() > 1 && digits_.back() == 0) digits_.pop_back();
  }

  bool less(const Whole& other) const {
    if (digits_.size() != other.digits_.size()) return digits_.size() < other.digits_.size();
    for (std::size_t i = digits_.size(); i-- > 0;) {
      if (digits_[i] != other.digits_[i]) return digits_[i] < other.digits_[i];
    }
    return false;
  }

  bool is_zero() const { return digits_.size() == 1 && digits_[0] == 0; }

  int bits() const {
    int bits = 32 * static_cast<int>(digits_.size());
    for (std::uint32_t top = digits_.back(); top < 0x80000000u && bits > 0; top <<= 1) --bits;
    return bits;
  }

 private:
  std::vector<std::uint32_t> digits_;
};

// above / below, both over zero, rounded to even as IEEE 754 says.
double quotient(Whole above, Whole below) {
  constexpr int kKept = 56, kDouble = 53, kLeast = -1074;  // bits; exponent of the least double
  const int exponent = above.bits() - below.bits() - (kKept - 1);
  if (exponent > 0) below.times_two_to_the(exponent);
  if (exponent < 0) above.times_two_to_the(-exponent);
  // Now above / below has 55 or 56 bits before the point: one after the other, by long division.
  below.times_two_to_the(kKept - 1);
  std::uint64_t bits = 0;
  for (int i = 0; i < kKept; ++i) {
    bits *= 2;
    if (!above.less(below)) {
      above.minus(below);
      ++bits;
    }
    above.times_plus(2, 0);
  }
  const int length = bits >> (kKept - 1) ? kKept : kKept - 1;
  const int dropped = std::max(length - kDouble, kLeast - exponent);
  if (dropped > length) return 0;
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t rest = bits & (2 * half - 1);
  bits >>= dropped;
  const bool exactly_half = rest == half && above.is_zero();
  if (rest >= half && !(exactly_half && bits % 2 == 0)) ++bits;
  return std::ldexp(static_cast<double>(bits), exponent + dropped);
}

}  // namespace

// A positive number is `digits` · 10^exponent. Digits beyond the 800th cannot decide between two
// doubles but by being there.
double decimal(std::string_view digits, int exponent) {
  constexpr std::size_t kMost = 800;
  while (digits.starts_with('0')) digits.remove_prefix(1);
  while (digits.ends_with('0')) {
    digits.remove_suffix(1);
    ++exponent;
  }
  const int magnitude = static_cast<int>(digits.size()) + exponent;  // the number is below 10^that
  if (digits.empty() || magnitude < -330) return 0;
  if (magnitude > 310) return HUGE_VAL;
  if (digits.size() <= 15 && exponent >= -22 && exponent <= 22) {
    double number = 0, power = 1;  // exact, and so is all but the last operation
    for (const char digit : digits) number = number * 10 + (digit - '0');
    for (int i = std::abs(exponent); i > 0; --i) power *= 10;
    return exponent < 0 ? number / power : number * power;
  }
  const bool cut = digits.size() > kMost;
  if (cut) exponent += static_cast<int>(digits.size() - kMost) - 1;
  Whole above(0), below(1);
  for (const char digit : digits.substr(0, kMost)) {
    above.times_plus(10, static_cast<std::uint32_t>(digit - '0'));
  }
  if (cut) above.times_plus(10, 1);
  Whole& scaled = exponent < 0 ? below : above;
  int powers = std::abs(exponent);
  for (; powers >= 9; powers -= 9) scaled.times_plus(1000000000, 0);
  for (; powers > 0; --powers) scaled.times_plus(10, 0);
  return quotient(std::move(above), std::move(below));
}

}  // namespace ledger::json
