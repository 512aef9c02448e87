// Writes Values as JSON text, and cuts texts between characters.
#include <algorithm>
#include <cmath>
#include <nlohmann/detail/conversions/to_chars.hpp>

#include "core/json.hpp"

namespace ledger::json {
namespace {

using Kind = Value::Kind;

void write_into(const Value& value, std::string& out) {
  switch (value.kind) {
    case Kind::kNull: out += "null"; return;
    case Kind::kFlag: out += value.flag ? "true" : "false"; return;
    case Kind::kNumber: write_number(value.number, out); return;
    case Kind::kText: write_text(value.text, out); return;
    case Kind::kList:
      out += '[';
      for (std::size_t i = 0; i < value.list.size(); ++i) {
        if (i > 0) out += ',';
        write_into(value.list[i], out);
      }
      out += ']';
      return;
    case Kind::kObject:
      out += '{';
      for (std::size_t i = 0; i < value.members.size(); ++i) {
        if (i > 0) out += ',';
        write_text(value.members[i].key, out);
        out += ':';
        write_into(value.members[i].value, out);
      }
      out += '}';
      return;
  }
}

}  // namespace

std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || length > text.size()) return 0;
  // Second bytes that would make an overlong form, a surrogate, or a number above U+10FFFF.
  const unsigned char low = byte(0) == 0xE0 ? 0xA0 : byte(0) == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = byte(0) == 0xED ? 0x9F : byte(0) == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

std::string write(const Value& value) {
  std::string out;
  write_into(value, out);
  return out;
}

void write_text(std::string_view text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = character(text.substr(i));
    if (length == 0) {
      out += "\\ufffd";
    } else if (byte == '"' || byte == '\\') {
      out += '\\';
      out += static_cast<char>(byte);
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += text.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  out += '"';
}

void write_number(double number, std::string& out) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::floor(number) == number && std::fabs(number) <= kExact) {
    out += std::to_string(static_cast<std::int64_t>(number));
    return;
  }
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  char digits[64];
  out.append(digits, nlohmann::detail::to_chars(digits, digits + sizeof(digits), number));
}

std::string shortened(std::string_view text, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character(text.substr(i));
    if (out.size() + std::max<std::size_t>(length, 1) > most) return out + "…";
    if (length == 0) {
      out += '?';
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out;
}

}  // namespace ledger::json
