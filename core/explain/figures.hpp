// The numbers of a text with their units, each with the interval that its printing leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/explain/squeezed.hpp"

namespace ledger::message {

// As printed. Of the sizes the exponent of 1024 (or 1000) is the number of the row.
enum class Unit : std::uint8_t {
  kBytes,
  kKilo,
  kMega,
  kGiga,
  kTera,
  kPeta,
  kExa,
  kNone,  // nothing follows the number
  kTokens,
  kElements,
  kParameters,
  kPercent,
};
constexpr bool is_size(Unit unit) { return unit <= Unit::kExa; }

// How a unit of size is spelled.
enum class Spelling : std::uint8_t {
  kBinary,  // KiB, MiB, GiB, bytes
  kPlain,   // KB, MB, GB
  kBits,    // Kb, Mb, Gb
  kLetter,  // K, M, G
};

struct Figure {
  std::size_t begin = 0, end = 0;  // in the squeezed text, the unit included
  std::size_t digits_end = 0;      // without the unit
  double value = 0;
  int decimals = 0;  // digits printed behind the point
  Unit unit = Unit::kNone;
  Spelling spelling = Spelling::kBinary;
  bool shared_unit = false;  // the unit stands at another number, or in a heading
  bool of_name = false;      // part of a name: A100-80GB, Qwen2.5-7B
};

// All numbers between two characters, but for those inside of words, versions, dates and times.
// At most `most`.
std::vector<Figure> figures_of(const Squeezed& s, std::size_t begin, std::size_t end,
                               std::size_t most);

// 2^(10 power), exact.
double binary(int power);
// 10^(3 power), exact as far as it matters here.
double decimal_unit(int power);

}  // namespace ledger::message
