// Takes white space out of a text, and matches patterns against what is left.
#include "core/explain/squeezed.hpp"

#include <algorithm>
#include <cstring>

#include "core/json.hpp"

namespace ledger::message {
namespace {

constexpr std::size_t kStar = 48;  // characters that '*' may stand for

bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }
// What one clause ends with.
bool ends_clause(char c) { return c == '|' || c == ';' || c == '(' || c == ')' || c == ','; }
bool ends_sentence(const Squeezed& s, std::size_t i) {
  return s.at(i) == '.' && s.gap[i + 1] != Gap::kNone && !is_digit(s.at(i + 1));
}
bool of_number(char c) { return is_digit(c) || c == '.' || c == ','; }

// Length of what counts as white space at `i`, or 0. Sets nothing.
std::size_t blank_length(std::string_view text, std::size_t i) {
  const char c = text[i];
  if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') return 1;
  if (c == '\\' && i + 1 < text.size() && (text[i + 1] == 'n' || text[i + 1] == 't')) return 2;
  if (text.compare(i, 2, "\xC2\xA0") == 0) return 2;
  if (text.compare(i, 3, "\xE2\x94\x82") == 0) return 3;  // the frame of a traceback
  if (c != '\x1b' || i + 1 >= text.size() || text[i + 1] != '[') return 0;
  std::size_t end = i + 2;
  while (end < text.size() && end < i + 32 && !is_letter(text[end])) ++end;
  return std::min(end + 1, text.size()) - i;
}

bool is_break(std::string_view text, std::size_t i, std::size_t length) {
  return text[i] == '\n' || text[i] == '\r' ||
         (length == 2 && text[i] == '\\' && text[i + 1] == 'n');
}

const char* skip_blanks(const char* p) {
  while (*p == ' ') ++p;
  return p;
}

bool at(const Squeezed& s, std::size_t i, const char* p) {
  for (;; ++p) {
    p = skip_blanks(p);
    switch (*p) {
      case '\0': return true;
      case '<':
        if (!s.begins_word(i)) return false;
        break;
      case '>':
        if (!s.ends_word(i)) return false;
        break;
      case '#':
        if (!of_number(s.at(i))) return false;
        while (of_number(s.at(i))) ++i;
        break;
      case '*':
        for (std::size_t n = 0; n <= kStar && i + n <= s.size(); ++n) {
          if (at(s, i + n, p + 1)) return true;
          if (ends_clause(s.at(i + n)) || ends_sentence(s, i + n)) return false;
        }
        return false;
      default:
        if (s.at(i) != *p) return false;
        ++i;
    }
  }
}

// `p` points behind the last character of the pattern that is still to be matched.
bool before(const Squeezed& s, std::size_t end, const char* pattern, const char* p) {
  while (p > pattern) {
    --p;
    switch (*p) {
      case ' ': break;
      case '<':
        if (!s.begins_word(end)) return false;
        break;
      case '>':
        if (!s.ends_word(end)) return false;
        break;
      case '#':
        if (end == 0 || !of_number(s.text[end - 1])) return false;
        while (end > 0 && of_number(s.text[end - 1])) --end;
        break;
      case '*':
        for (std::size_t n = 0; n <= kStar && n <= end; ++n) {
          if (before(s, end - n, pattern, p)) return true;
          if (n < end && (ends_clause(s.text[end - n - 1]) || ends_sentence(s, end - n - 1)))
            return false;
        }
        return false;
      default:
        if (end == 0 || s.text[end - 1] != *p) return false;
        --end;
    }
  }
  return true;
}

}  // namespace

bool Squeezed::begins_word(std::size_t i) const {
  return i == 0 || i >= gap.size() || gap[i] != Gap::kNone || !is_word(text[i - 1]);
}

bool Squeezed::ends_word(std::size_t i) const {
  return i >= text.size() || gap[i] != Gap::kNone || !is_word(text[i]);
}

std::string Squeezed::printed(std::size_t begin, std::size_t end) const {
  std::string out;
  for (std::size_t i = begin; i < end && i < text.size(); ++i) {
    if (i > begin && gap[i] != Gap::kNone) out += gap[i] == Gap::kBreak ? "" : " ";
    out += original[from[i]];
  }
  return out;
}

Squeezed squeeze(std::string_view original) {
  Squeezed s;
  s.original = original;
  s.text.reserve(original.size());
  s.from.reserve(original.size() + 1);
  s.gap.reserve(original.size() + 1);
  bool blank = false, line = false;
  const auto note = [&](std::size_t i) {
    s.from.push_back(static_cast<std::uint32_t>(i));
    s.gap.push_back(line ? (blank ? Gap::kBreakAndBlank : Gap::kBreak)
                         : (blank ? Gap::kBlank : Gap::kNone));
    blank = line = false;
  };
  for (std::size_t i = 0; i < original.size();) {
    if (const std::size_t length = blank_length(original, i)) {
      if (original[i] == '\x1b') {
        // colours come in the middle of words, too
      } else if (is_break(original, i, length)) {
        line = true;
      } else {
        blank = true;
      }
      i += length;
      continue;
    }
    note(i);
    const char c = original[i];
    s.text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    ++i;
  }
  note(original.size());
  return s;
}

bool stands_before(const Squeezed& s, std::size_t end, const char* pattern) {
  return before(s, end, pattern, pattern + std::strlen(pattern));
}

bool stands_at(const Squeezed& s, std::size_t begin, const char* pattern) {
  return at(s, begin, pattern);
}

bool stands_within(const Squeezed& s, std::size_t begin, std::size_t end, const char* pattern) {
  for (std::size_t i = begin; i < end && i < s.size(); ++i) {
    if ((s.text[i] == pattern[0] || pattern[0] == '<') && at(s, i, pattern)) return true;
  }
  return false;
}

}  // namespace ledger::message
