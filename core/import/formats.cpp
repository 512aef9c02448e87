// The table of formats. A new one is a file of rows and a line here.
#include "core/import/formats.hpp"

#include <array>

namespace ledger::pasted {

std::span<const Format> formats() {
  static const std::array kFormats = {
      axolotl_format(),    llama_factory_format(),   trainer_format(), deepspeed_format(),
      accelerate_format(), torchtune_format(),       verl_format(),    adapter_format(),
      config_format(),     deepspeed_plugin_format()};
  return kFormats;
}

const Format* find_format(std::string_view id) {
  for (const Format& format : formats()) {
    if (format.id == id) return &format;
  }
  return nullptr;
}

}  // namespace ledger::pasted
