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
  Writer& key(std::string_view name) {
    comma();
    write_text(name, text_);
    text_ += ':';
    after_key_ = true;
    return *this;
  }
  Writer& text(std::string_view value) {
    comma();
    write_text(value, text_);
    return *this;
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
