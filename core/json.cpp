// Reads JSON through nlohmann's event interface into a Value.
#include "core/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace ledger::json {
namespace {

using Kind = Value::Kind;

// Receives nlohmann's events. Values are built on a stack, so depth costs no recursion.
class Builder {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  bool null() { return put({}); }
  bool boolean(bool flag) { return put(Value::of_flag(flag)); }
  bool number_integer(std::int64_t n) { return put(Value::of_number(static_cast<double>(n))); }
  bool number_unsigned(std::uint64_t n) { return put(Value::of_number(static_cast<double>(n))); }
  bool number_float(double n, const std::string&) { return put(Value::of_number(n)); }
  bool string(std::string& text) { return put(Value::of_text(text)); }
  template <class Binary>
  bool binary(const Binary&) {
    return false;
  }
  bool start_object(std::size_t) { return open(Kind::kObject); }
  bool start_array(std::size_t) { return open(Kind::kList); }
  bool key(std::string& key) {
    open_.back().key = std::move(key);
    return true;
  }
  bool end_object() {
    note_duplicates();
    return close();
  }
  bool end_array() { return close(); }

  template <class Exception>
  bool parse_error(std::size_t position, const std::string&, const Exception& exception) {
    const std::size_t end = std::min(position > 0 ? position - 1 : 0, text_.size());
    const std::string_view before = text_.substr(0, end);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.find_last_of('\n') + 1;  // npos + 1 is 0
    // "[json.exception.parse_error.101] parse error at line 1, column 2: what is wrong"
    std::string_view what = exception.what();
    if (const auto at = what.find("column "); at != what.npos) {
      if (const auto colon = what.find(": ", at); colon != what.npos) what.remove_prefix(colon + 2);
    } else if (const auto bracket = what.find("] "); bracket != what.npos) {
      what.remove_prefix(bracket + 2);
    }
    done_.error = "line " + std::to_string(line) + ", column " +
                  std::to_string(end - line_start + 1) + ": " + shortened(what, 200);
    return false;
  }

  Parsed take() { return std::move(done_); }

 private:
  struct Open {
    Value value;
    std::string key;  // of the member that is being read
  };

  bool refuse(std::string why) {
    done_.error = std::move(why);
    return false;
  }

  bool open(Kind kind) {
    if (open_.size() == kMaxDepth) {
      return refuse("it is nested more than " + std::to_string(kMaxDepth) + " deep");
    }
    Value value;
    value.kind = kind;
    open_.push_back({std::move(value), {}});
    return true;
  }

  bool close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    return put(std::move(value));
  }

  bool put(Value value) {
    if (++values_ > kMaxValues) {
      return refuse("it holds more than " + std::to_string(kMaxValues) + " values");
    }
    if (open_.empty()) {
      done_.value = std::move(value);
    } else if (open_.back().value.kind == Kind::kList) {
      open_.back().value.list.push_back(std::move(value));
    } else {
      open_.back().value.members.push_back({std::move(open_.back().key), std::move(value)});
    }
    return true;
  }

  void note_duplicates() {
    std::vector<std::string_view> keys;
    for (const Member& member : open_.back().value.members) keys.push_back(member.key);
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i] != keys[i - 1] || (i > 1 && keys[i] == keys[i - 2])) continue;
      std::string path;
      for (std::size_t depth = 0; depth + 1 < open_.size(); ++depth) {
        if (open_[depth].value.kind == Kind::kObject) path += open_[depth].key + ".";
      }
      done_.duplicates.push_back({path + std::string(keys[i])});
    }
  }

  std::string_view text_;
  std::vector<Open> open_;
  std::size_t values_ = 0;
  Parsed done_;
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

const Value* Value::find(std::string_view key) const {
  for (const Member& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Value& Value::add(std::string_view key, Value value) {
  members.push_back({std::string(key), std::move(value)});
  return members.back().value;
}

Parsed parse(std::string_view text) {
  if (text.size() > kMaxBytes) {
    Parsed parsed;
    parsed.error = "it has " + std::to_string(text.size()) + " bytes; at most " +
                   std::to_string(kMaxBytes) + " are read";
    return parsed;
  }
  Builder builder(text);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace ledger::json
