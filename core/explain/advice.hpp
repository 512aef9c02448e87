// What to change first: the cure of the cause that the message shows, then the order of
// docs/contract.md, each as a change of the scenario that can be applied as it stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/explain/candidates.hpp"

namespace ledger::message {

struct Change {
  std::string_view id;
  std::string sentence;
  json::Value patch;       // merged into the scenario (RFC 7396); null where no key does it
  bool of_tensor = false;  // makes the first candidate smaller, or spares it
};

// `c` may be null: then there are sentences only.
std::vector<Change> changes(const Message& message, const Diagnosis& diagnosis,
                            const Candidate* first, const Case* c);

// Objects are merged, everything else replaced; null takes a key away.
json::Value merged(const json::Value& value, const json::Value& patch);

}  // namespace ledger::message
