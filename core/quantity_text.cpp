// How a working is written: as plain text, as MathML and as LaTeX, in letters or in figures.
#include <cmath>
#include <cstdint>

#include "core/json.hpp"
#include "core/quantity.hpp"

namespace ledger {
namespace {

using Kind = Expression::Kind;

enum class Markup { kText, kMathml, kLatex };

// The pieces of one markup.
struct Writer {
  Markup markup;
  Notation notation;

  std::string number(double value) const {
    const std::string figures = with_separators(value);
    switch (markup) {
      case Markup::kText: return figures;
      case Markup::kMathml: return "<mn>" + figures + "</mn>";
      case Markup::kLatex: {
        std::string out;
        for (char c : figures) out += c == ',' ? std::string("{,}") : std::string(1, c);
        return out;
      }
    }
    return figures;
  }

  std::string op(const char* text, const char* latex) const {
    switch (markup) {
      case Markup::kText: return std::string(" ") + text + " ";
      case Markup::kMathml: return std::string("<mo>") + text + "</mo>";
      case Markup::kLatex: return std::string(" ") + latex + " ";
    }
    return text;
  }

  std::string name(const Expression& e) const {
    const LetterRow& row = kLetters[static_cast<std::size_t>(e.letter)];
    switch (markup) {
      case Markup::kText: return std::string(e.kind == Kind::kNamed ? e.name : row.symbol);
      case Markup::kMathml:
        return e.kind == Kind::kNamed ? "<mi>" + std::string(e.name) + "</mi>"
                                      : std::string(row.mathml);
      case Markup::kLatex:
        return e.kind == Kind::kNamed ? "\\mathit{" + std::string(e.name) + "}"
                                      : std::string(row.latex);
    }
    return {};
  }

  std::string bracketed(const std::string& open, const std::string& inside,
                        const std::string& close) const {
    if (markup == Markup::kMathml) {
      return "<mrow><mo>" + open + "</mo>" + inside + "<mo>" + close + "</mo></mrow>";
    }
    return open + inside + close;
  }

  std::string rounded(const char* open, const char* close, const char* latex_open,
                      const char* latex_close, const Expression& e) const {
    if (markup == Markup::kText) {
      return bracketed(open, write(*e.left, 2) + " / " + write(*e.right, 3), close);
    }
    if (markup == Markup::kLatex) {
      return std::string(latex_open) + " " + fraction(e) + " " + latex_close;
    }
    return bracketed(open, fraction(e), close);
  }

  std::string fraction(const Expression& e) const {
    if (markup == Markup::kLatex) {
      return "\\frac{" + write(*e.left, 0) + "}{" + write(*e.right, 0) + "}";
    }
    return "<mfrac><mrow>" + write(*e.left, 0) + "</mrow><mrow>" + write(*e.right, 0) +
           "</mrow></mfrac>";
  }

  std::string function(const char* text, const Expression& e) const {
    const std::string inside =
        write(*e.left, 0) + (markup == Markup::kMathml ? "<mo>,</mo>" : ", ") + write(*e.right, 0);
    if (markup == Markup::kMathml)
      return "<mi>" + std::string(text) + "</mi>" + bracketed("(", inside, ")");
    if (markup == Markup::kLatex) return "\\" + std::string(text) + "(" + inside + ")";
    return std::string(text) + "(" + inside + ")";
  }

  // `outer` is the binding strength of what surrounds: 0 none, 1 sum, 2 product, 3 divisor.
  std::string write(const Expression& e, int outer) const {
    std::string out;
    int own = 4;
    switch (e.kind) {
      case Kind::kFigure: return number(e.value);
      case Kind::kLetter:
      case Kind::kNamed: return notation == Notation::kSymbols ? name(e) : number(e.value);
      case Kind::kProduct:
        own = 2;
        out = write(*e.left, 2) + op("·", "\\cdot") + write(*e.right, 2);
        break;
      case Kind::kSum:
        own = 1;
        out = write(*e.left, 1) + op("+", "+") + write(*e.right, 1);
        break;
      case Kind::kDifference:
        own = 1;
        out = write(*e.left, 1) + op("−", "-") + write(*e.right, 2);
        break;
      case Kind::kQuotient:
        if (markup != Markup::kText) return fraction(e);
        own = 2;
        out = write(*e.left, 2) + " / " + write(*e.right, 3);
        break;
      case Kind::kCeilQuotient: return rounded("⌈", "⌉", "\\left\\lceil", "\\right\\rceil", e);
      case Kind::kFloorQuotient: return rounded("⌊", "⌋", "\\left\\lfloor", "\\right\\rfloor", e);
      case Kind::kMaximum: return function("max", e);
      case Kind::kMinimum: return function("min", e);
    }
    return own < outer || (own == outer && outer == 3) ? bracketed("(", out, ")") : out;
  }
};

// A fraction in parts of ten thousand, rounded as printf's "%.4f" does: to the nearest of the exact
// value, to the even one where two are as near.
std::uint64_t ten_thousandths(double fraction) {
  int exponent = 0;
  const double mantissa = std::frexp(fraction, &exponent);
  if (exponent < -16) return 0;
  constexpr int kLow = 26, kDouble = 53;  // bits: of the lower half, of a double
  const int high_bits = kDouble - kLow - exponent;
  const auto bits = static_cast<std::uint64_t>(std::ldexp(mantissa, kDouble));
  const std::uint64_t low = (bits & ((1u << kLow) - 1)) * 10000;
  const std::uint64_t high = (bits >> kLow) * 10000 + (low >> kLow);
  const std::uint64_t half = std::uint64_t{1} << (high_bits - 1);
  const std::uint64_t parts = high >> high_bits, rest = high & (2 * half - 1);
  const bool more = (low & ((1u << kLow) - 1)) != 0;  // than `rest` says
  return parts + (rest > half || (rest == half && (more || parts % 2 == 1)) ? 1 : 0);
}

}  // namespace

std::string with_separators(double value) {
  if (value < 0) return "-" + with_separators(-value);
  if (!(value < 1.8e19)) {  // beyond what is counted here
    std::string text;
    json::write_number(value, text);
    return text;
  }
  double whole = std::floor(value);
  std::uint64_t parts = ten_thousandths(value - whole);
  if (parts == 10000) {
    parts = 0;
    whole += 1;
  }
  std::string text = std::to_string(static_cast<std::uint64_t>(whole));
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  if (parts == 0) return text;
  std::string decimals = std::to_string(10000 + parts);  // its first digit holds the place
  while (decimals.back() == '0') decimals.pop_back();
  return text + "." + decimals.substr(1);
}

std::string to_text(const Expression& e, Notation notation) {
  return Writer{Markup::kText, notation}.write(e, 0);
}
std::string to_mathml(const Expression& e, Notation notation) {
  return Writer{Markup::kMathml, notation}.write(e, 0);
}
std::string to_latex(const Expression& e, Notation notation) {
  return Writer{Markup::kLatex, notation}.write(e, 0);
}

}  // namespace ledger
