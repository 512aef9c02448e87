// Which preset a model's name in settings means: other owners, instruct versions, folders on a
// disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ledger::pasted {

struct Meant {
  std::string id;                 // of a preset; empty where none is meant
  std::string why;                // where it is not the preset's own id
  bool packed = false;            // a checkpoint of bitsandbytes' four bits
  std::vector<std::string> near;  // presets that may be meant
};

Meant meant_model(std::string_view given);

}  // namespace ledger::pasted
