// The software whose behaviour is replayed, and its versions.
#pragma once

#include <array>
#include <string_view>

namespace ledger {

struct SoftwareVersion {
  std::string_view name, version;
};

inline constexpr std::array kVersions = {
    SoftwareVersion{"torch", "2.14.1"},        SoftwareVersion{"cuda", "13"},
    SoftwareVersion{"transformers", "5.18.0"}, SoftwareVersion{"accelerate", "1.15.0"},
    SoftwareVersion{"trl", "1.16.0"},          SoftwareVersion{"liger-kernel", "0.8.5"},
};

}  // namespace ledger
