#include "core/quantity.hpp"

#include <doctest/doctest.h>

namespace ledger {

TEST_CASE("a product carries letters and figures, and its value") {
  Workings w;
  const Count b = w.letter(Letter::B, 2), t = w.letter(Letter::T, 1024),
              f = w.letter(Letter::f, 3072);
  const Count product = Count(2) * b * t * f;
  CHECK(product.value() == 2.0 * 2 * 1024 * 3072);
  CHECK(to_text(*product.working(), Notation::kSymbols) == "2 · B · T · f");
  CHECK(to_text(*product.working(), Notation::kFigures) == "2 · 2 · 1,024 · 3,072");
}

TEST_CASE("equal workings are one object, different ones are not") {
  Workings w;
  const Count h = w.letter(Letter::H, 16), d = w.letter(Letter::d_h, 128);
  CHECK((h * d).working() == (h * d).working());
  CHECK((h * d).working() != (d * h).working());
  CHECK(w.letter(Letter::H, 16).working() == h.working());
  CHECK(w.letter(Letter::H, 17).working() != h.working());
}

TEST_CASE("a letter of value 1 stays in the working, the number 1 does not") {
  Workings w;
  const Count b = w.letter(Letter::B, 1), t = w.letter(Letter::T, 8);
  CHECK(to_text(*(b * t * 1).working(), Notation::kSymbols) == "B · T");
}

TEST_CASE("interning survives the growth of its tables") {
  Workings w;
  const Count t = w.letter(Letter::T, 7);
  const Count first = t * 3 + 1;
  for (int i = 0; i < 5000; ++i) (void)(t * i + i);
  CHECK((t * 3 + 1).working() == first.working());
  const Shape shape = w.shape({t, 5});
  for (int i = 0; i < 5000; ++i) (void)w.shape({t, Count(i)});
  CHECK(w.shape({t, 5}) == shape);
}

TEST_CASE("rounding up, down and to multiples") {
  Workings w;
  const Count t = w.letter(Letter::T, 1000);
  CHECK(ceil_div(t, 128).value() == 8);
  CHECK(floor_div(t, 128).value() == 7);
  CHECK(round_up(t, 128).value() == 1024);
  CHECK(to_text(*round_up(t, 128).working(), Notation::kSymbols) == "⌈T / 128⌉ · 128");
  CHECK(maximum(t, 5).value() == 1000);
  CHECK(minimum(t, 5).value() == 5);
}

TEST_CASE("brackets stand where sums are multiplied, and only there") {
  Workings w;
  const Count t = w.letter(Letter::T, 4), b = w.letter(Letter::B, 2);
  CHECK(to_text(*((t + 1) * b).working(), Notation::kSymbols) == "(T + 1) · B");
  CHECK(to_text(*(t * b + 1).working(), Notation::kSymbols) == "T · B + 1");
  CHECK(to_text(*(t - (b + 1)).working(), Notation::kSymbols) == "T − (B + 1)");
  CHECK(to_text(*(b * (t / 2)).working(), Notation::kSymbols) == "B · T / 2");
}

TEST_CASE("a shape's bytes are width times elements") {
  Workings w;
  const Shape shape =
      w.shape({w.letter(Letter::B, 1), w.letter(Letter::T, 1024), w.letter(Letter::V, 151936)});
  CHECK(shape.bytes(Dtype::kFloat32).value() == 4.0 * 1024 * 151936);
  CHECK(to_text(*shape.bytes(Dtype::kFloat32).working(), Notation::kSymbols) == "4 · B · T · V");
  CHECK(to_text(*shape.bytes(Dtype::kBool).working(), Notation::kSymbols) == "B · T · V");
  CHECK(shape.rows().value() == 1024);
  CHECK(shape.with_last(3).elements().value() == 3 * 1024);
}

TEST_CASE("MathML and LaTeX say the same as the text") {
  Workings w;
  const Count working =
      Count(4) * w.letter(Letter::H_kv, 8) * ceil_div(w.letter(Letter::T, 1000), 128);
  CHECK(to_mathml(*working.working(), Notation::kSymbols) ==
        "<mn>4</mn><mo>·</mo><msub><mi>H</mi><mi>kv</mi></msub><mo>·</mo><mrow><mo>⌈</"
        "mo><mfrac><mrow><mi>T</mi>"
        "</mrow><mrow><mn>128</mn></mrow></mfrac><mo>⌉</mo></mrow>");
  CHECK(to_latex(*working.working(), Notation::kFigures) ==
        "4 \\cdot 8 \\cdot \\left\\lceil \\frac{1{,}000}{128} \\right\\rceil");
}

TEST_CASE("numbers are written with separators and without needless decimals") {
  CHECK(with_separators(0) == "0");
  CHECK(with_separators(999) == "999");
  CHECK(with_separators(1000) == "1,000");
  CHECK(with_separators(9007199254740992.0) == "9,007,199,254,740,992");
  CHECK(with_separators(-12345) == "-12,345");
  CHECK(with_separators(1234.5) == "1,234.5");
  CHECK(with_separators(0.03125) == "0.0312");  // halfway: to the even one
  CHECK(with_separators(0.09375) == "0.0938");
  CHECK(with_separators(1.99996) == "2");
}

TEST_CASE("a number chosen by a rule bears its name") {
  Workings w;
  const Count s = w.named("s", 3) * w.letter(Letter::T, 10);
  CHECK(to_text(*s.working(), Notation::kSymbols) == "s · T");
  CHECK(to_text(*s.working(), Notation::kFigures) == "3 · 10");
}

}  // namespace ledger
