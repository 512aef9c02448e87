// Reads the parts of a message that are no numbers.
#include "core/explain/message_parts.hpp"

#include <algorithm>
#include <array>

namespace ledger::message {
namespace {

constexpr std::size_t kNear = 500;  // characters in which a message names its device

struct TypeRow {
  std::string_view name;
  int width;
};
constexpr std::array kTypes = {
    TypeRow{"bf16", 2},        TypeRow{"f16", 2},     TypeRow{"f32", 4},
    TypeRow{"f64", 8},         TypeRow{"s8", 1},      TypeRow{"u8", 1},
    TypeRow{"s16", 2},         TypeRow{"s32", 4},     TypeRow{"u32", 4},
    TypeRow{"s64", 8},         TypeRow{"pred", 1},    TypeRow{"bfloat16", 2},
    TypeRow{"half", 2},        TypeRow{"float", 4},   TypeRow{"double", 8},
    TypeRow{"int8", 1},        TypeRow{"uint8", 1},   TypeRow{"bool", 1},
    TypeRow{"int32", 4},       TypeRow{"int64", 8},   TypeRow{"float16", 2},
    TypeRow{"float32", 4},     TypeRow{"float64", 8}, TypeRow{"complex64", 8},
    TypeRow{"complex128", 16},
};

}  // namespace

std::string rank_of(const Squeezed& s, const Message& m, std::size_t anchor) {
  // The prefix of the line first, then what the message itself says.
  for (const char* words : {"<rank", "<gpu", "<npu", "<device"}) {
    const bool own = words[1] != 'r';
    const std::size_t begin = own ? anchor : m.begin;
    const std::size_t end = own ? std::min(m.end, anchor + kNear) : anchor;
    for (std::size_t i = begin; i < end; ++i) {
      if (s.text[i] != words[1] || !stands_at(s, i, words)) continue;
      std::size_t digits = i + (words[1] == 'r' ? 4 : words[1] == 'd' ? 6 : 3);
      while (s.at(digits) == ':' || s.at(digits) == '=') ++digits;
      std::string number;
      while (is_digit(s.at(digits)) && number.size() < 6) number += s.text[digits++];
      if (!number.empty() && !is_letter(s.at(digits)))
        return std::string(words[1] == 'r' ? "rank " : words[1] == 'n' ? "NPU " : "GPU ") + number;
    }
  }
  return {};
}

// "tensor with name lm_head.weight": a name as far as it goes.
std::string tensor_of(const Squeezed& s, const Message& m) {
  constexpr std::string_view kWords = "tensorwithname";
  const std::string_view region(s.text.data() + m.begin, m.end - m.begin);
  const std::size_t at = region.find(kWords);
  if (at == region.npos) return {};
  std::size_t i = m.begin + at + kWords.size();
  std::size_t begin = i;
  while (i < m.end && (i == begin || s.gap[i] == Gap::kNone) && i - begin < 200) ++i;
  while (i > begin && (s.text[i - 1] == '.' || s.text[i - 1] == ',')) --i;
  while (begin < i && s.text[begin] == '.') ++begin;
  return s.printed(begin, i);
}

std::optional<PrintedShape> shape_of(const Squeezed& s, const Message& m) {
  for (std::size_t i = m.begin; i < m.end; ++i) {
    if ((s.text[i] != '[' && s.text[i] != '(') || i == 0) continue;
    const char closing = s.text[i] == '[' ? ']' : ')';
    std::size_t word = i;
    while (word > m.begin && s.gap[word] == Gap::kNone &&
           (is_letter(s.text[word - 1]) || is_digit(s.text[word - 1])))
      --word;
    const std::string_view before(s.text.data() + word, i - word);
    PrintedShape shape;
    bool known = before.size() >= 5 && before.substr(before.size() - 5) == "shape";
    if (closing == ')' && !known) continue;
    const bool says_shape = known;
    for (const TypeRow& type : kTypes) {
      if (before == type.name) {
        shape.width = type.width;
        known = true;
      }
    }
    if (!known) continue;
    double size = 0;
    bool digits = false;
    std::size_t end = i + 1;
    for (; end < m.end && end < i + 120; ++end) {
      const char c = s.text[end];
      if (is_digit(c)) {
        size = size * 10 + (c - '0');
        digits = true;
      } else if ((c == ',' || c == closing) && digits) {
        shape.sizes.push_back(size);
        size = 0;
        digits = false;
        if (c == closing) break;
      } else {
        break;
      }
    }
    if (s.at(end) != closing || shape.sizes.empty() || shape.sizes.size() > 8) continue;
    if (says_shape) {
      for (const TypeRow& type : kTypes) {
        for (const char* between : {"and type ", "and data type "}) {
          const std::string words = between + std::string(type.name) + ">";
          if (stands_at(s, end + 1, words.c_str())) shape.width = type.width;
        }
      }
    }
    shape.printed = s.printed(word, end + 1);
    return shape;
  }
  return {};
}

std::string frame_of(const Squeezed& s, std::size_t anchor) {
  const std::size_t from = anchor > 800 ? anchor - 800 : 0;
  for (std::size_t i = anchor; i-- > from;) {
    if (s.text[i] != 'f' || s.text.compare(i, 5, "file\"") != 0) continue;
    std::size_t end = i + 5;
    while (end < anchor && s.text[end] != '"') ++end;
    while (end < anchor && end < i + 300 && s.gap[end] != Gap::kBreak) ++end;
    return s.text.substr(i, end - i);
  }
  return {};
}

}  // namespace ledger::message
