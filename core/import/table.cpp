// What an import came to, as a table for people.
#include <algorithm>
#include <string>
#include <vector>

#include "core/import/import.hpp"
#include "core/json.hpp"

namespace ledger {
namespace {

using json::Value;

std::string text_of(const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  return value ? value->text : std::string();
}

const std::vector<Value>& list_in(const Value& object, std::string_view key) {
  static const std::vector<Value> none;
  const Value* value = object.find(key);
  return value ? value->list : none;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

struct Section {
  std::string_view status, title;
};
constexpr Section kSections[] = {{"became", "Taken"},
                                 {"unsupported", "Not supported"},
                                 {"unknown", "Unknown"},
                                 {"ignored", "Ignored"}};

std::string right_side(const Value& key) {
  std::string out;
  for (const Value& one : list_in(key, "became"))
    out += (out.empty() ? "" : ", ") + text_of(one, "path") + " = " + text_of(one, "value");
  const std::string why = text_of(key, "why");
  if (!why.empty()) out += (out.empty() ? "" : "; ") + why;
  const std::string near = text_of(key, "nearest");
  if (!near.empty()) out += "; did you mean " + near + "?";
  return out;
}

}  // namespace

std::string import_table(std::string_view answer_json) {
  const Value answer = json::parse(answer_json).value;
  std::string out;
  for (const Value& format : list_in(answer, "formats")) {
    out += text_of(format, "file") + ": " + text_of(format, "name");
    const std::string versions = text_of(format, "versions");
    if (!versions.empty()) out += " (" + versions + ")";
    out += text_of(format, "sureness") == "likely" ? ", most likely\n" : "\n";
  }
  const std::vector<Value>& keys = list_in(answer, "keys");
  std::size_t width = 0;
  for (const Value& key : keys)
    width = std::max(width, std::min<std::size_t>(44, text_of(key, "path").size() +
                                                          text_of(key, "given").size() + 2));
  for (const Section& section : kSections) {
    bool first = true;
    for (const Value& key : keys) {
      if (text_of(key, "status") != section.status) continue;
      if (first) out += "\n" + std::string(section.title) + "\n";
      first = false;
      const std::string given = text_of(key, "given");
      out += "  " + padded(text_of(key, "path") + (given.empty() ? "" : ": ") + given, width) +
             "  " + right_side(key) + "\n";
    }
  }
  bool first = true;
  for (const Value& one : list_in(answer, "implied")) {
    if (first) out += "\nImplied\n";
    first = false;
    out += "  " + padded(text_of(one, "path") + " = " + text_of(one, "value"), width) + "  " +
           text_of(one, "why") + "\n";
  }
  for (const Value& note : list_in(answer, "notes")) out += "\n" + note.text + "\n";
  for (const Value& problem : list_in(answer, "problems"))
    out += "\nProblem: " + text_of(problem, "message") + "\n";
  const Value* scenario = answer.find("scenario");
  if (scenario && !scenario->is_null()) out += "\nScenario\n" + json::write(*scenario) + "\n";
  return out;
}

}  // namespace ledger
