// How a working is written: as plain text, as MathML and as LaTeX, in letters or in figures.
#include <cmath>
#include <cstdio>

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

}  // namespace

std::string with_separators(double value) {
  char digits[64];
  const bool whole = value == std::floor(value);
  std::snprintf(digits, sizeof digits, whole ? "%.0f" : "%.4f", value);
  std::string text = digits;
  const std::size_t point = text.find('.');
  if (point != std::string::npos) {
    while (text.back() == '0') text.pop_back();
  }
  const std::size_t first = text[0] == '-' ? 1 : 0;
  for (std::size_t at = point == std::string::npos ? text.size() : point; at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
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
