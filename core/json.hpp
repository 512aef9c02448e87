// JSON in and out: a small tree, read with every mistake placed, written in one form only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ledger::json {

struct Member;

struct Value {
  enum class Kind : std::uint8_t { kNull, kFlag, kNumber, kText, kList, kObject };
  Kind kind = Kind::kNull;
  bool flag = false;
  double number = 0;
  std::string text;
  std::vector<Value> list;
  std::vector<Member> members;  // in the order of the text

  static Value of_flag(bool flag);
  static Value of_number(double number);
  static Value of_text(std::string_view text);
  static Value of_list(std::vector<Value> list);
  static Value object();

  bool is(Kind wanted) const { return kind == wanted; }
  bool is_null() const { return kind == Kind::kNull; }
  // Null if absent, or not an object.
  [[gnu::always_inline]] const Value* find(std::string_view key) const {
    return find(key.data(), key.size());
  }
  // These append, and return what was added.
  [[gnu::always_inline]] Value& add(std::string_view key, Value value) {
    return add(key.data(), key.size(), value);
  }
  [[gnu::always_inline]] Value& add_flag(std::string_view key, bool given) {
    return add_flag(key.data(), key.size(), given);
  }
  [[gnu::always_inline]] Value& add_number(std::string_view key, double given) {
    return add_number(key.data(), key.size(), given);
  }
  [[gnu::always_inline]] Value& add_text(std::string_view key, std::string_view given) {
    return add_text(key.data(), key.size(), given.data(), given.size());
  }

 private:  // texts by their parts, so that they travel in registers
  const Value* find(const char* key, std::size_t length) const;
  Value& add(const char* key, std::size_t length, Value& value);
  Value& add_flag(const char* key, std::size_t length, bool given);
  Value& add_number(const char* key, std::size_t length, double given);
  Value& add_text(const char* key, std::size_t length, const char* given, std::size_t given_length);
};

struct Member {
  std::string key;
  Value value;
};

// A key that one object holds twice.
struct Duplicate {
  std::string path;
};

struct Parsed {
  Value value;
  std::string error;  // empty if the text is JSON; else what is wrong and where, a clause
  std::vector<Duplicate> duplicates;
};

// Limits that keep any text harmless. A config.json has a few hundred values, a few deep.
inline constexpr std::size_t kMaxBytes = 8u << 20;
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxValues = 100000;

Parsed parse(std::string_view text);

// Compact JSON. Whole numbers are written without exponent or point as far as they are exact.
std::string write(const Value& value);
void write_text(std::string_view text, std::string& out);  // quoted and escaped
void write_number(double number, std::string& out);

// The double nearest to digits · 10^exponent, infinite where there is none.
double decimal(std::string_view digits, int exponent);

// Length of the well-formed UTF-8 character at the beginning of a text, or 0 if none stands there.
std::size_t character(std::string_view text);

// At most `most` bytes of the text, cut between characters, an ellipsis in place of the rest.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace ledger::json
