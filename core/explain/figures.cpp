// Reads numbers as people and programs print them: 10,171,187,200-byte, 12.50GiB, 1900,00 MiB.
#include "core/explain/figures.hpp"

#include <array>
#include <string_view>

#include "core/json.hpp"

namespace ledger::message {
namespace {

struct UnitRow {
  const char* text;  // lower case
  Unit unit;
  Spelling spelling;
  bool apart;  // may stand apart from the number
};

// Longer ones before those that they begin with.
constexpr std::array kUnits = {
    UnitRow{"bytes", Unit::kBytes, Spelling::kBinary, true},
    UnitRow{"byte", Unit::kBytes, Spelling::kBinary, true},
    UnitRow{"kib", Unit::kKilo, Spelling::kBinary, true},
    UnitRow{"mib", Unit::kMega, Spelling::kBinary, true},
    UnitRow{"gib", Unit::kGiga, Spelling::kBinary, true},
    UnitRow{"tib", Unit::kTera, Spelling::kBinary, true},
    UnitRow{"pib", Unit::kPeta, Spelling::kBinary, true},
    UnitRow{"kb", Unit::kKilo, Spelling::kPlain, true},
    UnitRow{"mb", Unit::kMega, Spelling::kPlain, true},
    UnitRow{"gb", Unit::kGiga, Spelling::kPlain, true},
    UnitRow{"tb", Unit::kTera, Spelling::kPlain, true},
    UnitRow{"pb", Unit::kPeta, Spelling::kPlain, true},
    UnitRow{"eb", Unit::kExa, Spelling::kPlain, true},
    UnitRow{"gigabytes", Unit::kGiga, Spelling::kPlain, true},
    UnitRow{"megabytes", Unit::kMega, Spelling::kPlain, true},
    UnitRow{"gig", Unit::kGiga, Spelling::kPlain, true},
    UnitRow{"gi", Unit::kGiga, Spelling::kBinary, false},
    UnitRow{"mi", Unit::kMega, Spelling::kBinary, false},
    UnitRow{"ki", Unit::kKilo, Spelling::kBinary, false},
    UnitRow{"tokens", Unit::kTokens, Spelling::kBinary, true},
    UnitRow{"elements", Unit::kElements, Spelling::kBinary, true},
    UnitRow{"%", Unit::kPercent, Spelling::kBinary, true},
    UnitRow{"b", Unit::kBytes, Spelling::kLetter, false},
    UnitRow{"k", Unit::kKilo, Spelling::kLetter, false},
    UnitRow{"m", Unit::kMega, Spelling::kLetter, false},
    UnitRow{"g", Unit::kGiga, Spelling::kLetter, false},
    UnitRow{"t", Unit::kTera, Spelling::kLetter, false},
};

// A number that a line break cut in two goes on behind it; others begin anew.
bool goes_on(const Squeezed& s, std::size_t begin, std::size_t i) {
  if (s.gap[i] == Gap::kNone) return true;
  if (s.gap[i] == Gap::kBlank) return false;
  std::size_t end = i;
  while (is_digit(s.at(end)) || s.at(end) == '.') ++end;
  const char after = s.at(end);
  if (after == ':' || after == '-' || after == '/') return false;  // a date or a time
  int points = 0;
  for (std::size_t at = begin; at < end; ++at) points += s.text[at] == '.';
  if (points > 1) return false;
  if (s.gap[i] == Gap::kBreak) return true;
  return points == 1;  // 2.0 | 0 GiB, in a frame
}

bool is_part(char c) { return is_digit(c) || c == '.' || c == ','; }

// The end of the digits, points and commas that begin at `begin`.
std::size_t end_of_number(const Squeezed& s, std::size_t begin) {
  std::size_t i = begin + 1;
  while (is_part(s.at(i)) && goes_on(s, begin, i) && (s.gap[i] == Gap::kNone || s.at(i) != ','))
    ++i;
  while (i > begin + 1 && !is_digit(s.text[i - 1])) --i;  // punctuation
  return i;
}

// Commas part thousands where they part groups of three, decimals where two or one digit end it.
// False if the text is no number: a version, a list.
bool read_digits(std::string_view text, Figure& figure) {
  std::string digits;
  std::size_t points = 0, commas = 0, point = 0, last_comma = 0;
  bool groups = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') {
      ++points;
      point = i;
    } else if (text[i] == ',') {
      if (commas > 0 && i - last_comma != 4) groups = false;
      if (commas == 0 && i > 3) groups = false;
      ++commas;
      last_comma = i;
    }
  }
  const std::size_t tail = (points > 0 ? point : text.size()) - last_comma - 1;
  if (points > 1) return false;
  if (commas > 0 && points > 0 && point < last_comma) return false;
  const bool thousands = commas > 0 && groups && tail == 3;
  const bool decimal_comma = commas == 1 && points == 0 && !thousands && tail <= 2;
  if (commas > 0 && !thousands && !decimal_comma) return false;
  int after = 0;
  bool behind = false;
  for (const char c : text) {
    if (c == '.' || (c == ',' && decimal_comma)) {
      behind = true;
    } else if (is_digit(c)) {
      digits += c;
      after += behind;
    }
  }
  if (digits.size() > 40) return false;
  figure.value = json::decimal(digits, -after);
  figure.decimals = after;
  return true;
}

void read_unit(const Squeezed& s, Figure& figure) {
  std::size_t i = figure.digits_end;
  if (s.at(i) == '-' && stands_at(s, i, "-byte")) ++i;
  if (s.at(i) == ')' && figure.begin > 0 && s.text[figure.begin - 1] == '(' &&
      stands_at(s, i, ")mb>")) {
    ++i;  // (448)MB
    --figure.begin;
  }
  for (const UnitRow& row : kUnits) {
    const std::size_t length = std::string_view(row.text).size();
    if (s.text.compare(i, length, row.text) != 0) continue;
    if (row.unit != Unit::kPercent && !s.ends_word(i + length)) continue;
    if (!row.apart && s.gap[i] != Gap::kNone) continue;
    if (stands_at(s, i + length, "/s>")) return;  // a rate
    figure.unit = row.unit;
    figure.spelling = row.spelling;
    figure.end = i + length;
    // Gb and gb: bits, where the reader is accelerate; else carelessness.
    if (row.spelling == Spelling::kPlain && length == 2 && s.original[s.from[i + 1]] == 'b' &&
        s.original[s.from[i]] < 'a') {
      figure.spelling = Spelling::kBits;
    }
    if (row.spelling == Spelling::kLetter && stands_at(s, i + length, "*params")) {
      figure.unit = Unit::kParameters;
    }
    return;
  }
}

// 7B of a model's name is no size in bytes; 0B and 268435456B are.
bool is_model_size(const Figure& figure) {
  return figure.unit == Unit::kBytes && figure.spelling == Spelling::kLetter && figure.value > 0 &&
         figure.value < 4096;
}

}  // namespace

double binary(int power) {
  double out = 1;
  for (; power > 0; --power) out *= 1024;
  return out;
}

double decimal_unit(int power) {
  double out = 1;
  for (; power > 0; --power) out *= 1000;
  return out;
}

std::vector<Figure> figures_of(const Squeezed& s, std::size_t begin, std::size_t end,
                               std::size_t most) {
  std::vector<Figure> out;
  for (std::size_t i = begin; i < end && i < s.size() && out.size() < most;) {
    if (!is_digit(s.text[i])) {
      ++i;
      continue;
    }
    Figure figure;
    figure.begin = i;
    figure.digits_end = figure.end = end_of_number(s, i);
    i = figure.digits_end;
    const bool in_word = !s.begins_word(figure.begin) ||
                         (figure.begin > 1 && s.gap[figure.begin] == Gap::kNone &&
                          s.text[figure.begin - 1] == '.' && is_digit(s.text[figure.begin - 2]));
    const std::string_view digits(s.text.data() + figure.begin, figure.digits_end - figure.begin);
    if (!read_digits(digits, figure)) continue;
    read_unit(s, figure);
    const char next = s.at(figure.end);
    if (figure.unit == Unit::kNone && is_letter(next) && s.gap[figure.end] == Gap::kNone) {
      // 2x, 0x7f: the whole word is passed over
      while (i < s.size() && !s.ends_word(i)) ++i;
      continue;
    }
    const char left =
        figure.begin > 0 && s.gap[figure.begin] == Gap::kNone ? s.text[figure.begin - 1] : '\0';
    const bool hyphen = left == '-' && figure.begin > 1 && s.gap[figure.begin - 1] == Gap::kNone &&
                        (is_letter(s.text[figure.begin - 2]) || is_digit(s.text[figure.begin - 2]));
    if (left == '-' && !hyphen) figure.value = -figure.value;
    if (left == '-' && !hyphen) --figure.begin;
    figure.of_name = hyphen || is_model_size(figure);
    if (in_word) continue;
    i = figure.end > i ? figure.end : i;
    out.push_back(figure);
  }
  // X / Y GiB: both have the unit.
  for (std::size_t n = 0; n + 1 < out.size(); ++n) {
    if (out[n].unit != Unit::kNone || !is_size(out[n + 1].unit) || out[n + 1].of_name) continue;
    if (out[n + 1].begin != out[n].end + 1 || s.at(out[n].end) != '/') continue;
    out[n].unit = out[n + 1].unit;
    out[n].spelling = out[n + 1].spelling;
    out[n].shared_unit = true;
  }
  return out;
}

}  // namespace ledger::message
