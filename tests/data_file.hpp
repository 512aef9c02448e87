// A data file as it stands in core/data: what is embedded leaves out keys that only tests and
// people read.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ledger {

inline nlohmann::json data_file(const std::string& folder, std::string_view name) {
  std::ifstream file(std::string(TEST_DATA_DIR) + "/../../core/data/" + folder + "/" +
                     std::string(name) + ".json");
  return nlohmann::json::parse(file, nullptr, false);
}

}  // namespace ledger
