// Count and Bytes: numbers that carry their working, so that every size can say how it came about.
//
// A quantity is a double (exact to 2^53) and a reference to an expression. Expressions are interned
// in a Workings, one per estimate, so equal workings are one object and compare as pointers.
// A plain number is a quantity without an expression until it meets one that has it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/letters.hpp"
#include "core/pool.hpp"
#include "core/scenario.hpp"

namespace ledger {

class Workings;

// One step of a working. Owned and interned by a Workings.
struct Expression {
  enum class Kind : std::uint8_t {
    kFigure,         // a number
    kLetter,         // a letter of the legend
    kNamed,          // a number that a rule chose, with a name of its own
    kProduct,        // left · right
    kSum,            // left + right
    kDifference,     // left - right
    kQuotient,       // left / right, exact
    kCeilQuotient,   // left / right, rounded up
    kFloorQuotient,  // left / right, rounded down
    kMaximum,
    kMinimum,
  };
  Kind kind = Kind::kFigure;
  std::uint32_t id = 0;  // order of creation, the same on every machine
  double value = 0;
  const Expression* left = nullptr;
  const Expression* right = nullptr;
  Letter letter = Letter::B;
  const char* name = nullptr;
  Workings* home = nullptr;
};

enum class Unit : std::uint8_t { kElements, kBytes };

// One word, so that it travels in a register: the bits of a plain number, or the address of an
// expression, which knows its value, marked as a NaN that no arithmetic makes.
template <Unit unit>
class Quantity {
 public:
  [[gnu::always_inline]] constexpr Quantity(double value = 0)
      : word_(__builtin_bit_cast(std::uint64_t, value)) {}
  // `working` has this value; null for a plain number.
  [[gnu::always_inline]] Quantity(double value, const Expression* working)
      : word_(working ? kMark | reinterpret_cast<std::uintptr_t>(working)
                      : __builtin_bit_cast(std::uint64_t, value)) {}
  [[gnu::always_inline]] double value() const { return value_of(word_); }
  // Null for a plain number.
  [[gnu::always_inline]] const Expression* working() const { return working_of(word_); }
  [[gnu::always_inline]] friend bool operator==(Quantity a, Quantity b) {
    return a.word_ == b.word_;
  }

 private:
  static constexpr std::uint64_t kMark = 0xfffe000000000000ull;
  static bool is_marked(std::uint64_t word) { return word >= kMark; }
  static const Expression* working_of(std::uint64_t word) {
    return is_marked(word)
               ? reinterpret_cast<const Expression*>(static_cast<std::uintptr_t>(word & ~kMark))
               : nullptr;
  }
  static double value_of(std::uint64_t word) {
    return is_marked(word) ? working_of(word)->value : __builtin_bit_cast(double, word);
  }

  std::uint64_t word_;
};

using Count = Quantity<Unit::kElements>;

// Bytes are never made from a bare number by accident: Count + Bytes does not compile.
class Bytes : public Quantity<Unit::kBytes> {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(double value) : Quantity(value) {}
  Bytes(double value, const Expression* working) : Quantity(value, working) {}
};

Count operator*(Count a, Count b);
Count operator+(Count a, Count b);
Count operator-(Count a, Count b);
Count operator/(Count a, Count b);  // for divisions that leave no rest
Count ceil_div(Count a, Count b);
Count floor_div(Count a, Count b);
Count round_up(Count a, Count multiple);  // ceil_div(a, multiple) · multiple
Count maximum(Count a, Count b);
Count minimum(Count a, Count b);
Bytes operator*(Bytes a, Count b);
Bytes operator*(Count a, Bytes b);
Bytes operator+(Bytes a, Bytes b);

constexpr int kMaxRank = 4;

// The sizes of a tensor's dimensions, interned: equal shapes are one object.
struct ShapeData {
  int rank = 0;
  std::array<Count, kMaxRank> dims{};
  Count elements;
  Workings* home = nullptr;
  std::array<Bytes, 9> bytes_of_width{};  // by bytes per element, filled when first asked
};

// A handle to an interned shape. Cheap to copy, compares as a pointer.
class Shape {
 public:
  constexpr Shape() = default;
  constexpr explicit Shape(ShapeData* data) : data_(data) {}
  [[gnu::always_inline]] int rank() const { return data_ ? data_->rank : 0; }
  [[gnu::always_inline]] Count operator[](int i) const {
    return data_->dims[static_cast<std::size_t>(i)];
  }
  [[gnu::always_inline]] Count last() const { return (*this)[data_->rank - 1]; }
  [[gnu::always_inline]] Count elements() const { return data_->elements; }
  Count rows() const;                 // elements / last
  Bytes bytes(Dtype dtype) const;     // bytes per element · elements
  Shape with_last(Count last) const;  // the same but for the last dimension
  Shape swapped() const;              // dimensions 1 and 2 of four exchanged
  friend bool operator==(Shape a, Shape b) { return a.data_ == b.data_; }

 private:
  ShapeData* data_ = nullptr;
};

// The store of one estimate's expressions and shapes.
class Workings {
 public:
  Workings();
  Workings(const Workings&) = delete;
  Workings& operator=(const Workings&) = delete;

  Count letter(Letter letter, double value);
  // A number that a rule chose (say, into how many pieces a kernel splits its work).
  // `name` must outlive the Workings.
  Count named(const char* name, double value);
  Shape shape(std::initializer_list<Count> dims);
  Shape shape(const Count* dims, int rank);

  const Expression* figure(double value);
  const Expression* combine(Expression::Kind kind, const Expression* left, const Expression* right,
                            double value);

 private:
  const Expression* intern(const Expression& wanted, std::uint64_t hash);
  Pool<Expression> expressions_;
  std::uint32_t expression_count_ = 0;
  std::vector<const Expression*> expression_slots_;  // open addressing, a power of two
  Pool<ShapeData> shapes_;
  std::uint32_t shape_count_ = 0;
  std::vector<ShapeData*> shape_slots_;
};

enum class Notation : std::uint8_t { kSymbols, kFigures };

// "2 · B · T · f" or "2 · 1 · 1,024 · 3,072".
std::string to_text(const Expression& e, Notation notation);
// The inside of a <math> element, presentation markup.
std::string to_mathml(const Expression& e, Notation notation);
std::string to_latex(const Expression& e, Notation notation);

// "1,234,567": a whole number with separators of thousands; fractions keep up to four decimals.
std::string with_separators(double value);

}  // namespace ledger
