// The public messages of tests/data/oom and their explanations.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/explain/explain.hpp"
#include "tests/device/trace.hpp"

namespace ledger::oom {

using nlohmann::json;

inline std::vector<json> read(const std::string& name) {
  std::istringstream lines(trace::unzipped(std::string(TEST_DATA_DIR) + "/oom/" + name));
  std::vector<json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  return rows;
}

inline json explained(const std::string& text, const json& scenario = nullptr) {
  return json::parse(explain(text, scenario.is_null() ? std::string() : scenario.dump()));
}

// The first number of that id; null if there is none.
inline json number(const json& explanation, const std::string& id) {
  for (const json& entry : explanation.at("numbers")) {
    if (entry.at("id") == id) return entry;
  }
  return nullptr;
}

}  // namespace ledger::oom
