// Reads JSON into a Value.
#include "core/json.hpp"

#include <algorithm>
#include <utility>

namespace ledger::json {
namespace {

using Kind = Value::Kind;

// The objects and lists that a value lies in, the innermost first.
struct Open {
  const Open* outer;
  const std::string* key;  // of the member that is being read; null in a list
};

// One pass from front to back; stops at the first mistake.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Parsed read() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a mark of the byte order
    Parsed done;
    if (value(done.value, nullptr, 0)) {
      space();
      if (at_ < text_.size()) fail("something follows the value");
    }
    if (!error_.empty()) done.value = Value();
    done.error = std::move(error_);
    done.duplicates = std::move(duplicates_);
    return done;
  }

 private:
  bool refuse(std::string why) {
    error_ = std::move(why);
    return false;
  }

  // A mistake at the character that comes next.
  bool fail(std::string_view what) {
    const std::string_view before = text_.substr(0, at_);
    std::size_t line = 1;
    for (const char c : before) line += c == '\n';
    const std::size_t line_start = before.find_last_of('\n') + 1;  // npos + 1 is 0
    return refuse("line " + std::to_string(line) + ", column " +
                  std::to_string(at_ - line_start + 1) + ": " + std::string(what) +
                  (at_ == text_.size() ? ", but the text ends" : ""));
  }

  // The next character; 0 behind the last one.
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool skip(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }
  void space() {
    while (next() == ' ' || next() == '\n' || next() == '\r' || next() == '\t') ++at_;
  }

  bool value(Value& out, const Open* outer, std::size_t depth) {
    if (++values_ > kMaxValues) {
      return refuse("it holds more than " + std::to_string(kMaxValues) + " values");
    }
    space();
    switch (next()) {
      case '{': out.kind = Kind::kObject; return members(out, outer, depth + 1);
      case '[': out.kind = Kind::kList; return items(out, outer, depth + 1);
      case '"': out.kind = Kind::kText; return string(out.text);
      case 't':
        out.kind = Kind::kFlag;
        out.flag = true;
        return word("true");
      case 'f': out.kind = Kind::kFlag; return word("false");
      case 'n': return word("null");
      default: out.kind = Kind::kNumber; return number(out.number);
    }
  }

  bool word(std::string_view wanted) {
    for (const char c : wanted) {
      if (!skip(c)) return fail("expected " + std::string(wanted));
    }
    return true;
  }

  bool not_too_deep(std::size_t depth) {
    ++at_;
    space();
    return depth <= kMaxDepth ||
           refuse("it is nested more than " + std::to_string(kMaxDepth) + " deep");
  }

  bool items(Value& out, const Open* outer, std::size_t depth) {
    if (!not_too_deep(depth)) return false;
    if (skip(']')) return true;
    const Open here{outer, nullptr};
    do {
      if (!value(out.list.emplace_back(), &here, depth)) return false;
      space();
    } while (skip(','));
    return skip(']') || fail("expected a comma or the end of the list");
  }

  bool members(Value& out, const Open* outer, std::size_t depth) {
    if (!not_too_deep(depth)) return false;
    if (skip('}')) return true;
    do {
      space();
      if (next() != '"') return fail("expected a key in quotes");
      Member& member = out.members.emplace_back();
      if (!string(member.key)) return false;
      space();
      if (!skip(':')) return fail("expected a colon");
      const Open here{outer, &member.key};
      if (!value(member.value, &here, depth)) return false;
      space();
    } while (skip(','));
    if (!skip('}')) return fail("expected a comma or the end of the object");
    note_duplicates(out, outer);
    return true;
  }

  void note_duplicates(const Value& object, const Open* outer) {
    std::vector<std::string_view> keys;
    for (const Member& member : object.members) keys.push_back(member.key);
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i] != keys[i - 1] || (i > 1 && keys[i] == keys[i - 2])) continue;
      std::string path(keys[i]);
      for (const Open* around = outer; around; around = around->outer) {
        if (around->key) path = *around->key + "." + path;
      }
      duplicates_.push_back({std::move(path)});
    }
  }

  bool digits(std::string& out) {
    const std::size_t before = at_;
    while (next() >= '0' && next() <= '9') out += text_[at_++];
    return at_ > before || fail("expected a digit");
  }

  bool number(double& out) {
    const bool negative = skip('-');
    if (!negative && (next() < '0' || next() > '9')) return fail("expected a value");
    std::string figures;
    if (!skip('0') && !digits(figures)) return false;
    int exponent = 0;
    if (skip('.')) {
      const std::size_t whole = figures.size();
      if (!digits(figures)) return false;
      exponent = static_cast<int>(whole) - static_cast<int>(figures.size());
    }
    if (skip('e') || skip('E')) {
      const bool smaller = skip('-');
      if (!smaller) skip('+');
      std::string power;
      if (!digits(power)) return false;
      int given = 0;  // beyond 10^8 nothing changes any more
      for (const char digit : power) given = given > kMostPower ? given : given * 10 + digit - '0';
      exponent += smaller ? -given : given;
    }
    const double positive = decimal(figures, exponent);
    if (positive > kLargest) return fail("the number before it overflows, no double holds it");
    out = negative ? -positive : positive;
    return true;
  }

  static bool is_plain(char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; }

  bool string(std::string& out) {
    ++at_;
    while (true) {
      const std::size_t begin = at_;
      while (is_plain(next())) ++at_;
      out += text_.substr(begin, at_ - begin);
      if (skip('"')) return true;
      if (skip('\\')) {
        if (!escape(out)) return false;
      } else if (static_cast<unsigned char>(next()) < ' ') {
        return fail("expected the end of a text in quotes");
      } else {
        const std::size_t length = character(text_.substr(at_));
        if (length == 0) return fail("a text that is not UTF-8");
        out += text_.substr(at_, length);
        at_ += length;
      }
    }
  }

  bool escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (skip('u')) return code_point(out);
    const std::size_t which = kLetters.find(next());
    if (which == kLetters.npos) return fail("no character that can follow a backslash");
    ++at_;
    out += kMeant[which];
    return true;
  }

  bool four_digits(std::uint32_t& out) {
    for (int i = 0; i < 4; ++i) {
      constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
      const std::size_t digit = kDigits.find(next());
      if (digit == kDigits.npos) return fail("expected four hexadecimal digits");
      ++at_;
      out = out * 16 + static_cast<std::uint32_t>(digit < 16 ? digit : digit - 6);
    }
    return true;
  }

  bool code_point(std::string& out) {
    std::uint32_t point = 0;
    if (!four_digits(point)) return false;
    if (point >= 0xD800 && point < 0xE000) {  // half of a pair
      std::uint32_t second = 0;
      const bool pair = point < 0xDC00 && skip('\\') && skip('u') && four_digits(second) &&
                        second >= 0xDC00 && second < 0xE000;
      if (!pair) return fail("half a pair of surrogates");
      point = 0x10000 + ((point - 0xD800) << 10) + (second - 0xDC00);
    }
    auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    auto tail = [&](int shift) { put(0x80 | ((point >> shift) & 0x3F)); };
    if (point < 0x80) return put(point), true;
    put(point < 0x800     ? 0xC0 | (point >> 6)
        : point < 0x10000 ? 0xE0 | (point >> 12)
                          : 0xF0 | (point >> 18));
    if (point >= 0x10000) tail(12);
    if (point >= 0x800) tail(6);
    tail(0);
    return true;
  }

  static constexpr int kMostPower = 10000000;
  static constexpr double kLargest = 1.7976931348623157e308;

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
  std::string error_;
  std::vector<Duplicate> duplicates_;
};

}  // namespace

Value Value::of_flag(bool flag) {
  Value value;
  value.kind = Kind::kFlag;
  value.flag = flag;
  return value;
}

Value Value::of_number(double number) {
  Value value;
  value.kind = Kind::kNumber;
  value.number = number;
  return value;
}

Value Value::of_text(std::string_view text) {
  Value value;
  value.kind = Kind::kText;
  value.text = text;
  return value;
}

Value Value::of_list(std::vector<Value> list) {
  Value value;
  value.kind = Kind::kList;
  value.list = std::move(list);
  return value;
}

Value Value::object() {
  Value value;
  value.kind = Kind::kObject;
  return value;
}

const Value* Value::find(const char* key, std::size_t length) const {
  const std::string_view wanted(key, length);
  for (const Member& member : members) {
    if (member.key == wanted) return &member.value;
  }
  return nullptr;
}

Value& Value::add(const char* key, std::size_t length, Value& value) {
  Member& member = members.emplace_back();
  member.key.assign(key, length);
  member.value = std::move(value);
  return member.value;
}

Value& Value::add_flag(const char* key, std::size_t length, bool given) {
  Value value = of_flag(given);
  return add(key, length, value);
}

Value& Value::add_number(const char* key, std::size_t length, double given) {
  Value value = of_number(given);
  return add(key, length, value);
}

Value& Value::add_text(const char* key, std::size_t length, const char* given,
                       std::size_t given_length) {
  Value value = of_text({given, given_length});
  return add(key, length, value);
}

Parsed parse(std::string_view text) {
  if (text.size() > kMaxBytes) {
    Parsed parsed;
    parsed.error = "it has " + std::to_string(text.size()) + " bytes; at most " +
                   std::to_string(kMaxBytes) + " are read";
    return parsed;
  }
  return Reader(text).read();
}

}  // namespace ledger::json
