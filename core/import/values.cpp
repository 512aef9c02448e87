// Values as people write them in settings: booleans and numbers as texts, lists parted by commas,
// dotted paths.
#include "core/import/sheet.hpp"
#include "core/nearest.hpp"

namespace ledger::pasted {

bool is_flag(const Value& value, bool& out) {
  if (value.is(Kind::kFlag)) {
    out = value.flag;
    return true;
  }
  if (value.is(Kind::kNumber) && (value.number == 0 || value.number == 1)) {
    out = value.number == 1;
    return true;
  }
  if (!value.is(Kind::kText)) return false;
  const std::string word = lower(json::shortened(value.text, 12));
  for (const std::string_view yes : {"true", "yes", "on", "1", "y"}) {
    if (word == yes) {
      out = true;
      return true;
    }
  }
  for (const std::string_view no : {"false", "no", "off", "0", "n", "none"}) {
    if (word == no) {
      out = false;
      return true;
    }
  }
  return false;
}

bool is_number(const Value& value, double& out) {
  if (value.is(Kind::kNumber)) {
    out = value.number;
    return true;
  }
  if (!value.is(Kind::kText) || value.text.size() > 40) return false;
  std::string digits;
  for (const char c : value.text) {
    if (c != '_' && c != ' ') digits += c;
  }
  const json::Parsed parsed = json::parse(digits);
  if (!parsed.error.empty() || !parsed.value.is(Kind::kNumber)) return false;
  out = parsed.value.number;
  return true;
}

std::vector<std::string> words(const Value* value) {
  std::vector<std::string> out;
  if (!value) return out;
  if (value->is(Kind::kList)) {
    for (const Value& item : value->list) {
      if (item.is(Kind::kText)) out.push_back(item.text);
    }
    return out;
  }
  if (!value->is(Kind::kText)) return out;
  std::string word;
  for (const char c : value->text + ",") {
    if (c == ',') {
      if (!word.empty()) out.push_back(word);
      word.clear();
    } else if (c != ' ' && c != '[' && c != ']' && c != '"' && c != '\'') {
      word += c;
    }
  }
  return out;
}

Value list_of(const std::vector<std::string>& words) {
  std::vector<Value> list;
  for (const std::string& word : words) list.push_back(Value::of_text(word));
  return Value::of_list(std::move(list));
}

bool asks_for_nothing(const Value& value) {
  switch (value.kind) {
    case Kind::kNull: return true;
    case Kind::kFlag: return !value.flag;
    case Kind::kNumber: return value.number == 0;
    case Kind::kList: return value.list.empty();
    case Kind::kObject: return value.members.empty();
    case Kind::kText: break;
  }
  bool flag = true;
  return value.text.empty() || value.text == "null" || value.text == "~" ||
         lower(json::shortened(value.text, 12)) == "no_clipping" || (is_flag(value, flag) && !flag);
}

std::string as_written(const Value& value) {
  return json::shortened(value.is(Kind::kText) ? value.text : json::write(value), 80);
}

bool is_auto(const Value* value) {
  return value && value->is(Kind::kText) && lower(json::shortened(value->text, 12)) == "auto";
}

const Value* get_path(const Value& root, std::string_view path) {
  const Value* here = &root;
  if (const Value* whole = root.find(path)) return whole->is_null() ? nullptr : whole;
  while (here) {
    const std::size_t dot = path.find('.');
    here = here->find(path.substr(0, dot));
    if (dot == path.npos) break;
    path.remove_prefix(dot + 1);
  }
  return here && !here->is_null() ? here : nullptr;
}

namespace {
Value* member_of(Value& object, std::string_view key) {
  for (json::Member& member : object.members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}
}  // namespace

void set_member(Value& object, std::string_view key, Value value) {
  if (Value* own = member_of(object, key)) {
    *own = std::move(value);
  } else {
    object.add(key, std::move(value));
  }
}

void set_path(Value& root, std::string_view path, Value value) {
  const std::size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  Value* own = member_of(root, key);
  if (dot == path.npos) {
    set_member(root, key, std::move(value));
    return;
  }
  if (!own) own = &root.add(key, Value::object());
  if (!own->is(Kind::kObject)) *own = Value::object();
  set_path(*own, path.substr(dot + 1), std::move(value));
}

bool remove_path(Value& root, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  for (std::size_t i = 0; i < root.members.size(); ++i) {
    if (root.members[i].key != key) continue;
    if (dot != path.npos) return remove_path(root.members[i].value, path.substr(dot + 1));
    root.members.erase(root.members.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

}  // namespace ledger::pasted
