// An explanation as lines for people, from its JSON.
#include <cmath>

#include "core/explain/diagnosis.hpp"
#include "core/explain/explain.hpp"
#include "core/json.hpp"
#include "core/quantity.hpp"

namespace ledger {
namespace {

using json::Value;

std::string text(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  return found ? found->text : std::string();
}
double number(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  return found ? found->number : 0;
}
const std::vector<Value>& list(const Value& object, std::string_view key) {
  static const std::vector<Value> kNone;
  const Value* found = object.find(key);
  return found ? found->list : kNone;
}

std::string padded(std::string value, std::size_t width) {
  while (value.size() < width) value += ' ';
  return value;
}

std::string bytes_text(double bytes) {
  return message::size_text(bytes) + " (" + with_separators(std::floor(bytes + 0.5)) + " bytes)";
}

std::string number_line(const Value& entry) {
  std::string line = "  " + padded(text(entry, "printed"), 22) + "  ";
  const Value* bytes = entry.find("bytes");
  line += text(entry, "what") + "; ";
  line += bytes && !bytes->is_null() ? bytes_text(number(*bytes, "value")) : text(entry, "unit");
  return line + "\n";
}

std::string candidate_line(const Value& entry) {
  std::string line = "  " + text(entry, "what");
  if (!text(entry, "where").empty()) line += " (" + text(entry, "where") + ")";
  if (!text(entry, "symbols").empty())
    line += ": " + text(entry, "symbols") + " = " + text(entry, "figures");
  line += " = " + bytes_text(number(entry, "bytes"));
  if (text(entry, "moment") != "any") line += "; " + text(entry, "moment");
  return line + "; " + text(entry, "why") + "\n";
}

}  // namespace

std::string explanation_table(std::string_view explanation_json) {
  const Value report = json::parse(explanation_json).value;
  std::string out;
  if (report.find("sentence")) out += text(report, "sentence") + "\n";
  if (const Value* producer = report.find("producer")) {
    const std::string versions = text(*producer, "versions");
    out += "\n" + text(*producer, "name") + (versions.empty() ? "" : ", " + versions) +
           "; units: " + text(*producer, "units") + "\n";
  }
  for (const Value& group : list(report, "messages")) {
    if (number(group, "count") < 2) continue;
    out += with_separators(number(group, "count")) + " equal messages";
    std::string ranks;
    for (const Value& rank : list(group, "ranks")) ranks += (ranks.empty() ? "" : ", ") + rank.text;
    if (!ranks.empty()) out += " of " + ranks;
    if (const Value* tried = group.find("tried"); tried && !tried->is_null())
      out += "; tried " + message::size_text(number(*tried, "low")) + " to " +
             message::size_text(number(*tried, "high"));
    out += "\n";
  }
  if (!list(report, "numbers").empty()) out += "\nThe numbers\n";
  for (const Value& entry : list(report, "numbers")) out += number_line(entry);
  if (const Value* request = report.find("request"); request && !request->is_null()) {
    out += "\nWhat was asked for: " + bytes_text(number(*request, "low")) + " to " +
           bytes_text(number(*request, "high")) + "\n  " + text(*request, "why") + "\n";
  }
  if (const Value* diagnosis = report.find("diagnosis")) {
    out += "\nThe cause: " + text(*diagnosis, "what") + "\n  " + text(*diagnosis, "why") + "\n";
    for (const Value& line : list(*diagnosis, "arithmetic")) out += "  " + line.text + "\n";
    for (const Value& note : list(*diagnosis, "notes")) out += "  " + text(note, "sentence") + "\n";
  }
  if (!list(report, "candidates").empty()) out += "\nTensors of that size, the likeliest first\n";
  for (const Value& entry : list(report, "candidates")) out += candidate_line(entry);
  if (!list(report, "changes").empty()) out += "\nWhat to change first\n";
  for (const Value& entry : list(report, "changes")) out += "  " + text(entry, "sentence") + "\n";
  for (const Value& problem : list(report, "problems"))
    out += text(problem, "path") + ": " + text(problem, "message") + "\n";
  return out;
}

}  // namespace ledger
