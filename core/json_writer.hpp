// Writes JSON from front to back into one text, without building a tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/json.hpp"

namespace ledger::json {

// Calls must nest as JSON does; commas are put by themselves.
class Writer {
 public:
  Writer& begin_object() { return open('{'); }
  Writer& end_object() { return close('}'); }
  Writer& begin_list() { return open('['); }
  Writer& end_list() { return close(']'); }
  [[gnu::always_inline]] Writer& key(std::string_view name) {
    return key(name.data(), name.size());
  }
  [[gnu::always_inline]] Writer& text(std::string_view value) {
    return text(value.data(), value.size());
  }
  Writer& number(double value) {
    comma();
    write_number(value, text_);
    return *this;
  }
  Writer& whole(std::uint64_t value) { return number(static_cast<double>(value)); }
  Writer& flag(bool value) { return raw(value ? "true" : "false"); }
  Writer& null() { return raw("null"); }
  // A piece of JSON that is written already.
  Writer& raw(std::string_view json) {
    comma();
    text_ += json;
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  // Texts by their parts, so that they travel in registers.
  Writer& key(const char* name, std::size_t length) {
    text(name, length);
    text_ += ':';
    after_key_ = true;
    return *this;
  }
  Writer& text(const char* value, std::size_t length) {
    comma();
    write_text({value, length}, text_);
    return *this;
  }
  Writer& open(char bracket) {
    comma();
    text_ += bracket;
    first_ = true;
    return *this;
  }
  Writer& close(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
  }
  void comma() {
    if (!first_ && !after_key_) text_ += ',';
    first_ = after_key_ = false;
  }
  std::string text_;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace ledger::json
