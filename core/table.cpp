// A report as a table for people, every size in GiB and GB.
#include "core/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/json.hpp"

namespace ledger {
namespace {

using json::Value;

double number(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  return found != nullptr ? found->number : 0;
}

std::string text(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  return found != nullptr ? found->text : std::string();
}

// 7516192768 -> "7,516,192,768".
std::string with_commas(double bytes) {
  char digits[400];
  std::snprintf(digits, sizeof digits, "%.0f", std::fabs(bytes));
  std::string out = digits;
  for (int at = static_cast<int>(out.size()) - 3; at > 0; at -= 3)
    out.insert(static_cast<std::size_t>(at), ",");
  return bytes < 0 ? "-" + out : out;
}

std::string fixed(double value) {
  char digits[400];
  std::snprintf(digits, sizeof digits, "%.2f", value);
  return digits;
}

std::string gib(double bytes) { return fixed(bytes / (1024.0 * 1024.0 * 1024.0)); }
std::string gb(double bytes) { return fixed(bytes / 1e9); }

using Row = std::vector<std::string>;

// Columns as wide as their widest cell: the first flush left, all others flush right.
std::string columns(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      out += i == 0 ? row[i] + padding : "   " + padding + row[i];
    }
    out += '\n';
  }
  return out;
}

Row sizes(const std::string& name, double bytes) {
  return {name, gib(bytes), gb(bytes), with_commas(bytes)};
}

std::string problems_table(const Value& report) {
  std::string out;
  const Value* problems = report.find("problems");
  if (problems == nullptr) return out;
  for (const Value& problem : problems->list) {
    const std::string path = text(problem, "path");
    out += (path.empty() ? "" : path + ": ") + text(problem, "message") + "\n";
  }
  return out;
}

std::string parts_table(const Value& report, const Value& peak) {
  std::vector<Row> rows = {{"at the peak", "GiB", "GB", "bytes"}};
  if (const Value* parts = report.find("parts")) {
    for (const Value& part : parts->list)
      rows.push_back(sizes(text(part, "id"), number(part, "bytes")));
  }
  rows.push_back(sizes("allocated", number(peak, "allocated_bytes")));
  rows.push_back(sizes("reserved", number(peak, "reserved_bytes")));
  const Value* reserved = report.find("reserved");
  if (const Value* on_card = reserved ? reserved->find("on_card") : nullptr) {
    rows.push_back(sizes("on a card, at least", number(*on_card, "low")));
    rows.push_back(sizes("on a card, at most", number(*on_card, "high")));
  }
  if (const Value* process = peak.find("process_bytes")) {
    rows.push_back(sizes("process, at least", number(*process, "low")));
    rows.push_back(sizes("process, at most", number(*process, "high")));
  }
  return columns(rows);
}

std::string phases_table(const Value& report) {
  std::vector<Row> rows = {{"step, phase", "start GiB", "GB", "peak GiB", "GB", "end GiB", "GB"}};
  const Value* phases = report.find("phases");
  if (phases == nullptr) return {};
  for (const Value& phase : phases->list) {
    Row row = {with_commas(number(phase, "step")) + ", " + text(phase, "phase")};
    for (const char* key : {"start_bytes", "peak_bytes", "end_bytes"}) {
      row.push_back(gib(number(phase, key)));
      row.push_back(gb(number(phase, key)));
    }
    rows.push_back(row);
  }
  return columns(rows);
}

// The verdict's reason, and what PyTorch would print.
std::string verdict_text(const Value& verdict) {
  std::string out = "\n" + text(verdict, "why") + "\n";
  const Value* failure = verdict.find("first_failure");
  if (failure == nullptr || failure->is_null()) return out;
  const double step = number(*failure, "step");
  return out + "\nIt would stop in " + (step > 0 ? "step " + with_commas(step) + ", " : "") +
         text(*failure, "what") + "\n" + text(*failure, "message") + "\n";
}

}  // namespace

std::string table(std::string_view report_json) {
  const Value report = json::parse(report_json).value;
  const Value* peak = report.find("peak");
  if (peak == nullptr) return problems_table(report);
  std::string out;
  if (const Value* model = report.find("model")) {
    const std::string id = text(*model, "id");
    out += id.empty() ? text(*model, "model_type") : id;
  }
  if (const Value* parameters = report.find("parameters")) {
    out += ": " + with_commas(number(*parameters, "total")) + " parameters, " +
           with_commas(number(*parameters, "trainable")) + " trainable";
  }
  out += "\nPeak in step " + with_commas(number(*peak, "step")) + ", " + text(*peak, "phase") +
         ": " + text(*peak, "moment") + "\n\n" + parts_table(report, *peak) + "\n" +
         phases_table(report);
  const Value* verdict = report.find("verdict");
  if (verdict != nullptr && !verdict->is_null()) out += verdict_text(*verdict);
  return out;
}

}  // namespace ledger
