// Reads YAML's events into a tree, with limits on depth and on what aliases may grow to.
#include "core/shell/yaml.hpp"

#ifdef LEDGER_YAML
#include <yaml.h>

#include <utility>
#include <vector>

#include "core/import/sheet.hpp"
#include "core/nearest.hpp"

namespace ledger::shell {
namespace {

using json::Value;

// YAML 1.1, as PyYAML reads it, but for numbers like 2e-5, which the tools that take these files
// convert themselves.
Value plain(std::string_view text) {
  const std::string word = lower(json::shortened(text, 60));
  if (word.empty() || word == "~" || word == "null") return {};
  for (const std::string_view yes : {"true", "yes", "on"}) {
    if (word == yes) return Value::of_flag(true);
  }
  for (const std::string_view no : {"false", "no", "off"}) {
    if (word == no) return Value::of_flag(false);
  }
  double number = 0;
  const bool digits = word.front() == '-' || (word.front() >= '0' && word.front() <= '9');
  if (digits && pasted::is_number(Value::of_text(word), number)) return Value::of_number(number);
  return Value::of_text(text);
}

class Reader {
 public:
  explicit Reader(std::string_view text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Reader() { yaml_parser_delete(&parser_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Yaml read() {
    Yaml out;
    for (;;) {
      yaml_event_t event;
      if (!next(event)) break;
      const yaml_event_type_t type = event.type;
      if (type == YAML_STREAM_END_EVENT || type == YAML_DOCUMENT_END_EVENT) {
        yaml_event_delete(&event);
        if (type == YAML_DOCUMENT_END_EVENT) out.more = document_follows();
        break;
      }
      if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT) {
        yaml_event_delete(&event);
        continue;
      }
      out.tree = node(event, 0);
    }
    out.error = error_;
    return out;
  }

 private:
  bool next(yaml_event_t& event) {
    if (!error_.empty()) return false;
    if (yaml_parser_parse(&parser_, &event)) return true;
    error_ = std::string(parser_.problem ? parser_.problem : "it cannot be read") + " in line " +
             std::to_string(parser_.problem_mark.line + 1);
    return false;
  }

  // What cannot be read behind the first document is none of its faults.
  bool document_follows() {
    yaml_event_t event;
    if (!yaml_parser_parse(&parser_, &event)) return true;
    const bool follows = event.type == YAML_DOCUMENT_START_EVENT;
    yaml_event_delete(&event);
    return follows;
  }

  bool counts(std::size_t values) {
    count_ += values;
    if (count_ <= json::kMaxValues) return true;
    error_ = "it has more values, aliases counted, than are read";
    return false;
  }

  static std::size_t size_of(const Value& value) {
    std::size_t size = 1;
    for (const Value& item : value.list) size += size_of(item);
    for (const json::Member& member : value.members) size += size_of(member.value);
    return size;
  }

  // Takes the event and what belongs to it.
  Value node(yaml_event_t& event, std::size_t depth) {
    Value value;
    std::string anchor;
    if (depth > json::kMaxDepth) error_ = "it is nested deeper than is read";
    const auto keep_anchor = [&](const unsigned char* name) {
      if (name) anchor = reinterpret_cast<const char*>(name);
    };
    if (!error_.empty() || !counts(1)) {
      yaml_event_delete(&event);
      return value;
    }
    switch (event.type) {
      case YAML_SCALAR_EVENT: {
        keep_anchor(event.data.scalar.anchor);
        const std::string_view text(reinterpret_cast<const char*>(event.data.scalar.value),
                                    event.data.scalar.length);
        value =
            event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain(text) : Value::of_text(text);
        yaml_event_delete(&event);
        break;
      }
      case YAML_ALIAS_EVENT: {
        const std::string name = reinterpret_cast<const char*>(event.data.alias.anchor);
        yaml_event_delete(&event);
        for (std::size_t i = anchors_.size(); i > 0; --i) {
          if (anchors_[i - 1].key != name) continue;
          if (counts(size_of(anchors_[i - 1].value))) value = anchors_[i - 1].value;
          return value;
        }
        error_ = "it has an alias of nothing: " + json::shortened(name, 40);
        return value;
      }
      case YAML_SEQUENCE_START_EVENT:
        keep_anchor(event.data.sequence_start.anchor);
        yaml_event_delete(&event);
        value = sequence(depth);
        break;
      case YAML_MAPPING_START_EVENT:
        keep_anchor(event.data.mapping_start.anchor);
        yaml_event_delete(&event);
        value = mapping(depth);
        break;
      default: yaml_event_delete(&event); break;
    }
    if (!anchor.empty()) anchors_.push_back({anchor, value});
    return value;
  }

  Value sequence(std::size_t depth) {
    std::vector<Value> list;
    yaml_event_t event;
    while (next(event)) {
      if (event.type == YAML_SEQUENCE_END_EVENT) {
        yaml_event_delete(&event);
        break;
      }
      list.push_back(node(event, depth + 1));
    }
    return Value::of_list(std::move(list));
  }

  Value mapping(std::size_t depth) {
    Value object = Value::object();
    yaml_event_t event;
    while (next(event)) {
      if (event.type == YAML_MAPPING_END_EVENT) {
        yaml_event_delete(&event);
        break;
      }
      const Value key = node(event, depth + 1);
      if (!next(event)) break;
      Value value = node(event, depth + 1);
      const std::string name = key.is(Value::Kind::kText) ? key.text : json::write(key);
      if (name == "<<" && value.is(Value::Kind::kObject)) {
        for (json::Member& member : value.members) {
          if (!object.find(member.key)) object.add(member.key, std::move(member.value));
        }
        continue;
      }
      pasted::set_member(object, name, std::move(value));
    }
    return object;
  }

  yaml_parser_t parser_{};
  std::vector<json::Member> anchors_;
  std::size_t count_ = 0;
  std::string error_;
};

}  // namespace

Yaml read_yaml(std::string_view text) {
  if (text.size() > json::kMaxBytes) return {{}, "it is longer than is read", false};
  return Reader(text).read();
}

}  // namespace ledger::shell

#else

namespace ledger::shell {

Yaml read_yaml(std::string_view) {
  return {{},
          "this build has no YAML reader; build it where libyaml (libyaml-dev) is installed",
          false};
}

}  // namespace ledger::shell

#endif
