// Reads one file of settings by its format's table of keys.
#include "core/import/sheet.hpp"

#include <cmath>

#include "core/nearest.hpp"

namespace ledger::pasted {
namespace {

constexpr std::size_t kMostKeys = 2000;  // of all files; a settings file has a few hundred
constexpr std::size_t kMostCompared = 60;

bool covers(std::string_view row, std::string_view path) {
  if (!row.empty() && row.back() == '*') return path.starts_with(row.substr(0, row.size() - 1));
  return row == path;
}

const KeyRow* find_row(const Format& format, std::string_view path) {
  const KeyRow* found = nullptr;
  for (const KeyRow& row : format.keys) {
    if (!covers(row.key, path)) continue;
    if (row.key.back() != '*') return &row;  // the exact one before one for many
    if (!found) found = &row;
  }
  return found;
}

bool has_rows_below(const Format& format, std::string_view path) {
  const std::string begin = std::string(path) + ".";
  for (const KeyRow& row : format.keys) {
    if (row.key.starts_with(begin)) return true;
  }
  return false;
}

std::string joined(std::string_view prefix, std::string_view key) {
  return prefix.empty() ? std::string(key) : std::string(prefix) + "." + std::string(key);
}

std::string nearest_key(const Format& format, std::string_view path) {
  std::vector<std::string_view> known;
  for (const KeyRow& row : format.keys) {
    if (row.key.back() != '*') known.push_back(row.key);
  }
  const auto near = nearest(path, known, 1);
  return near.empty() ? std::string() : std::string(near.front());
}

Value converted(const Value& given, Act act, bool& fine) {
  fine = true;
  bool flag = false;
  double number = 0;
  switch (act) {
    case Act::kFlag: fine = is_flag(given, flag); return Value::of_flag(flag);
    case Act::kNumber: fine = is_number(given, number); return Value::of_number(number);
    case Act::kText: fine = given.is(Kind::kText); return given;
    default: return given;
  }
}

std::string_view wanted(Act act) {
  return act == Act::kFlag ? "true or false" : act == Act::kNumber ? "a number" : "a text";
}

void apply(Sheet& sheet, const KeyRow& row, const Value& given, Key& key, std::size_t index) {
  switch (row.act) {
    case Act::kAsIs:
    case Act::kFlag:
    case Act::kNumber:
    case Act::kText: {
      if (given.is_null() || is_auto(&given)) {
        key.status = Status::kIgnored;
        key.why = given.is_null() ? "not given: the default holds"
                                  : "\"auto\": another file or the model decides";
        return;
      }
      bool fine = true;
      Value value = converted(given, row.act, fine);
      if (!fine) {
        key.status = Status::kUnsupported;
        key.why = "is no value that can be read here; it must be " + std::string(wanted(row.act)) +
                  "; the default is taken";
        return;
      }
      key.status = Status::kBecame;
      key.why = row.why;
      sheet.all.settings.push_back(
          {std::string(row.to), std::move(value), Setting::kGiven, index, {}});
      return;
    }
    case Act::kIgnored:
      key.status = Status::kIgnored;
      key.why = row.why;
      return;
    case Act::kUnsupported:
      if (asks_for_nothing(given)) {
        key.status = Status::kIgnored;
        key.why = "asks for nothing";
        return;
      }
      key.status = Status::kUnsupported;
      key.why = row.why;
      return;
    case Act::kNested:
      if (given.is(Kind::kText) && !asks_for_nothing(given)) {
        key.status = Status::kUnsupported;
        key.why = "names a file that was not given; give it as well, and it is read with this one";
        sheet.all.missing.push_back(given.text);
      } else {
        key.status = Status::kIgnored;
        key.why = "asks for nothing";
      }
      return;
    case Act::kOther:
      key.pending_why = row.why;
      if (given.is_null()) {
        key.status = Status::kIgnored;
        key.why = "not given: the default holds";
      }
      return;
  }
}

void walk(Sheet& sheet, const Value& object, std::string_view prefix) {
  for (const json::Member& member : object.members) {
    if (sheet.all.keys.size() >= kMostKeys) return;
    const std::string path = joined(prefix, member.key);
    const KeyRow* row = find_row(sheet.format, path);
    const bool nested = member.value.is(Kind::kObject);
    if (row && row->act == Act::kNested && nested) {
      const Format* format = find_format(row->to);
      Sheet inner{sheet.all, *format, member.value,
                  sheet.file.empty() ? path : sheet.file + ": " + path, sheet.program};
      read_sheet(inner);
      continue;
    }
    if (nested && has_rows_below(sheet.format, path) &&
        (!row || row->key.back() == '*' || row->act == Act::kOther)) {
      walk(sheet, member.value, path);
      continue;
    }
    const std::size_t index = sheet.all.keys.size();
    Key key;
    key.file = sheet.file;
    key.path = json::shortened(path, 120);
    key.given = as_written(member.value);
    if (row) {
      apply(sheet, *row, member.value, key, index);
    } else {
      key.status = Status::kUnknown;
      if (++sheet.all.unknown <= kMostCompared) key.nearest = nearest_key(sheet.format, path);
      key.why = "is no key that is known of " + std::string(sheet.format.name);
    }
    sheet.all.keys.push_back(std::move(key));
  }
}

}  // namespace

const Value* Sheet::at(std::string_view path) const { return get_path(tree, path); }

bool Sheet::flag(std::string_view path, bool otherwise) const {
  const Value* value = at(path);
  bool out = otherwise;
  return value && is_flag(*value, out) ? out : otherwise;
}

double Sheet::number(std::string_view path, double otherwise) const {
  const Value* value = at(path);
  double out = otherwise;
  return value && is_number(*value, out) ? out : otherwise;
}

std::string Sheet::text(std::string_view path) const {
  const Value* value = at(path);
  return value ? value->text : std::string();
}

std::size_t Sheet::key_of(std::string_view path) const {
  for (std::size_t i = first_key; i < all.keys.size(); ++i) {
    if (all.keys[i].path == path && all.keys[i].file == file) return i;
  }
  return Setting::kNoKey;
}

void Sheet::became(std::string_view key, std::string_view to, Value value, std::string_view why) {
  const std::size_t index = key_of(key);
  if (index != Setting::kNoKey) {
    all.keys[index].status = Status::kBecame;
    if (!why.empty()) all.keys[index].why = why;
  }
  all.settings.push_back({std::string(to), std::move(value), Setting::kGiven, index, {}});
}

void Sheet::ignored(std::string_view key, std::string_view why) {
  const std::size_t index = key_of(key);
  if (index == Setting::kNoKey) return;
  all.keys[index].status = Status::kIgnored;
  all.keys[index].why = why;
}

void Sheet::unsupported(std::string_view key, std::string_view why) {
  const std::size_t index = key_of(key);
  if (index == Setting::kNoKey) return;
  all.keys[index].status = Status::kUnsupported;
  all.keys[index].why = why;
}

void Sheet::implied(std::string_view to, Value value, std::string_view why, Setting::Rank rank) {
  all.settings.push_back(
      {std::string(to), std::move(value), rank, Setting::kNoKey, std::string(why)});
}

void Sheet::note(std::string_view sentence) { all.notes.emplace_back(sentence); }

void read_sheet(Sheet& sheet) {
  sheet.first_key = sheet.all.keys.size();
  walk(sheet, sheet.tree, "");
  if (sheet.format.finish) sheet.format.finish(sheet);
  for (std::size_t i = sheet.first_key; i < sheet.all.keys.size(); ++i) {
    Key& key = sheet.all.keys[i];
    if (key.status != Status::kPending) continue;
    key.status = Status::kIgnored;
    key.why = key.pending_why.empty() ? "has no effect beside the other keys" : key.pending_why;
  }
}

namespace {
void count_likeness(const Format& format, const Value& object, std::string_view prefix,
                    double& known, double& unknown) {
  for (const json::Member& member : object.members) {
    const std::string path = joined(prefix, member.key);
    const KeyRow* row = find_row(format, path);
    if (row) {
      known += row->telling ? 4 : 1;
    } else if (member.value.is(Kind::kObject) && has_rows_below(format, path)) {
      count_likeness(format, member.value, path, known, unknown);
    } else {
      unknown += 1;
    }
  }
}
}  // namespace

double likeness(const Format& format, const Value& tree) {
  double known = 0, unknown = 0;
  count_likeness(format, tree, "", known, unknown);
  return known - unknown / 2;
}

}  // namespace ledger::pasted
