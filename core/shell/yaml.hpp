// YAML as the tree that the core reads, by libyaml; a build without it says so.
#pragma once

#include <string>
#include <string_view>

#include "core/json.hpp"

namespace ledger::shell {

struct Yaml {
  json::Value tree;
  std::string error;  // empty if the text could be read; else a clause
  bool more = false;  // further documents follow, which are not read
};

// The first document of the text. Anchors are copied as far as json's limits allow.
Yaml read_yaml(std::string_view text);

}  // namespace ledger::shell
