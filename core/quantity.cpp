// Arithmetic on quantities and the interning of their expressions and shapes.
#include "core/quantity.hpp"

#include <cmath>
#include <cstring>

namespace ledger {
namespace {

using Kind = Expression::Kind;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value;
  hash *= 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// The working of a result, or none where both operands are plain numbers.
const Expression* working(Kind kind, double a, const Expression* wa, double b, const Expression* wb,
                          double value) {
  if (!wa && !wb) return nullptr;
  Workings& home = *(wa ? wa : wb)->home;
  if (!wa) wa = home.figure(a);
  if (!wb) wb = home.figure(b);
  return home.combine(kind, wa, wb, value);
}

Count combine(Kind kind, Count a, Count b, double value) {
  return Count(value, working(kind, a.value(), a.working(), b.value(), b.working(), value));
}

bool is_plain(Count a, double value) { return !a.working() && a.value() == value; }

}  // namespace

Count operator*(Count a, Count b) {
  if (is_plain(a, 1)) return b;
  if (is_plain(b, 1)) return a;
  return combine(Kind::kProduct, a, b, a.value() * b.value());
}
Count operator+(Count a, Count b) {
  if (is_plain(a, 0)) return b;
  if (is_plain(b, 0)) return a;
  return combine(Kind::kSum, a, b, a.value() + b.value());
}
Count operator-(Count a, Count b) {
  return combine(Kind::kDifference, a, b, a.value() - b.value());
}
Count operator/(Count a, Count b) {
  if (is_plain(b, 1)) return a;
  return combine(Kind::kQuotient, a, b, a.value() / b.value());
}
Count ceil_div(Count a, Count b) {
  return combine(Kind::kCeilQuotient, a, b, std::ceil(a.value() / b.value()));
}
Count floor_div(Count a, Count b) {
  return combine(Kind::kFloorQuotient, a, b, std::floor(a.value() / b.value()));
}
Count round_up(Count a, Count multiple) { return ceil_div(a, multiple) * multiple; }
Count maximum(Count a, Count b) {
  return combine(Kind::kMaximum, a, b, a.value() > b.value() ? a.value() : b.value());
}
Count minimum(Count a, Count b) {
  return combine(Kind::kMinimum, a, b, a.value() < b.value() ? a.value() : b.value());
}
Bytes operator*(Bytes a, Count b) {
  const Count product = Count(a.value(), a.working()) * b;
  return Bytes(product.value(), product.working());
}
Bytes operator*(Count a, Bytes b) {
  const Count product = a * Count(b.value(), b.working());
  return Bytes(product.value(), product.working());
}
Bytes operator+(Bytes a, Bytes b) {
  const Count sum = Count(a.value(), a.working()) + Count(b.value(), b.working());
  return Bytes(sum.value(), sum.working());
}

Count Shape::rows() const {
  Count rows = 1;
  for (int i = 0; i + 1 < rank(); ++i) rows = rows * (*this)[i];
  return rows;
}

Bytes Shape::bytes(Dtype dtype) const {
  const int width = bytes_of(dtype);
  Bytes& kept = data_->bytes_of_width[static_cast<std::size_t>(width)];
  if (!kept.working()) {
    const Count bytes = width == 1
                            ? data_->elements
                            : combine(Kind::kProduct, Count(width, data_->home->figure(width)),
                                      data_->elements, width * data_->elements.value());
    kept = Bytes(bytes.value(),
                 bytes.working() ? bytes.working() : data_->home->figure(bytes.value()));
  }
  return kept;
}

Shape Shape::with_last(Count last) const {
  std::array<Count, kMaxRank> dims = data_->dims;
  dims[static_cast<std::size_t>(data_->rank - 1)] = last;
  return data_->home->shape(dims.data(), data_->rank);
}

Shape Shape::swapped() const {
  return data_->home->shape({(*this)[0], (*this)[2], (*this)[1], (*this)[3]});
}

Workings::Workings() : expression_slots_(1024), shape_slots_(256) {}

const Expression* Workings::intern(const Expression& wanted, std::uint64_t hash) {
  if (expression_count_ * 2 > expression_slots_.size()) {
    std::vector<const Expression*> old(expression_slots_.size() * 2);
    old.swap(expression_slots_);
    for (const Expression* e : old) {
      if (!e) continue;
      std::uint64_t h = mix(static_cast<std::uint64_t>(e->kind), bits_of(e->value));
      h = mix(mix(h, e->left ? e->left->id + 1 : 0), e->right ? e->right->id + 1 : 0);
      h = mix(h, static_cast<std::uint64_t>(e->letter));
      std::size_t at = h & (expression_slots_.size() - 1);
      while (expression_slots_[at]) at = (at + 1) & (expression_slots_.size() - 1);
      expression_slots_[at] = e;
    }
  }
  std::size_t at = hash & (expression_slots_.size() - 1);
  while (const Expression* e = expression_slots_[at]) {
    if (e->kind == wanted.kind && e->value == wanted.value && e->left == wanted.left &&
        e->right == wanted.right && e->letter == wanted.letter && e->name == wanted.name) {
      return e;
    }
    at = (at + 1) & (expression_slots_.size() - 1);
  }
  Expression& made = *expressions_.take();
  made = wanted;
  made.id = expression_count_++;
  made.home = this;
  expression_slots_[at] = &made;
  return &made;
}

const Expression* Workings::combine(Kind kind, const Expression* left, const Expression* right,
                                    double value) {
  Expression wanted;
  wanted.kind = kind;
  wanted.value = value;
  wanted.left = left;
  wanted.right = right;
  std::uint64_t h = mix(static_cast<std::uint64_t>(kind), bits_of(value));
  h = mix(mix(h, left ? left->id + 1 : 0), right ? right->id + 1 : 0);
  return intern(wanted, mix(h, static_cast<std::uint64_t>(wanted.letter)));
}

const Expression* Workings::figure(double value) {
  return combine(Kind::kFigure, nullptr, nullptr, value);
}

Count Workings::letter(Letter letter, double value) {
  Expression wanted;
  wanted.kind = Kind::kLetter;
  wanted.value = value;
  wanted.letter = letter;
  std::uint64_t h = mix(mix(mix(static_cast<std::uint64_t>(wanted.kind), bits_of(value)), 0), 0);
  return Count(value, intern(wanted, mix(h, static_cast<std::uint64_t>(letter))));
}

Count Workings::named(const char* name, double value) {
  Expression wanted;
  wanted.kind = Kind::kNamed;
  wanted.value = value;
  wanted.name = name;
  std::uint64_t h = mix(mix(mix(static_cast<std::uint64_t>(wanted.kind), bits_of(value)), 0), 0);
  return Count(value, intern(wanted, mix(h, static_cast<std::uint64_t>(wanted.letter))));
}

Shape Workings::shape(std::initializer_list<Count> dims) {
  return shape(dims.begin(), static_cast<int>(dims.size()));
}

Shape Workings::shape(const Count* dims, int rank) {
  auto hash_of = [](const Count* d, int n) {
    std::uint64_t h = static_cast<std::uint64_t>(n);
    for (int i = 0; i < n; ++i) {
      h = mix(h, bits_of(d[i].value()) + (d[i].working() ? d[i].working()->id + 1 : 0));
    }
    return h;
  };
  if (shape_count_ * 2 > shape_slots_.size()) {
    std::vector<ShapeData*> old(shape_slots_.size() * 2);
    old.swap(shape_slots_);
    for (ShapeData* s : old) {
      if (!s) continue;
      std::size_t at = hash_of(s->dims.data(), s->rank) & (shape_slots_.size() - 1);
      while (shape_slots_[at]) at = (at + 1) & (shape_slots_.size() - 1);
      shape_slots_[at] = s;
    }
  }
  std::size_t at = hash_of(dims, rank) & (shape_slots_.size() - 1);
  while (ShapeData* s = shape_slots_[at]) {
    bool same = s->rank == rank;
    for (int i = 0; same && i < rank; ++i) same = s->dims[static_cast<std::size_t>(i)] == dims[i];
    if (same) return Shape(s);
    at = (at + 1) & (shape_slots_.size() - 1);
  }
  ShapeData& made = *shapes_.take();
  made.rank = rank;
  made.home = this;
  Count elements = 1;
  for (int i = 0; i < rank; ++i) {
    made.dims[static_cast<std::size_t>(i)] = dims[i];
    elements = elements * dims[i];
  }
  made.elements = elements;
  ++shape_count_;
  shape_slots_[at] = &made;
  return Shape(&made);
}

}  // namespace ledger
