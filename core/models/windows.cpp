// Windows of attention, by layer.
#include "core/models/windows.hpp"

namespace ledger::models {

bool window_from_types(DecoderConfig& c, const ModelConfig& config) {
  const auto types = config.lists.find("layer_types");
  if (types == config.lists.end()) return false;
  for (std::size_t i = 0; i < c.windowed.size() && i < types->second.size(); ++i) {
    c.windowed[i] = types->second[i] == "sliding_attention";
  }
  return true;
}

void window_from_layer(DecoderConfig& c, const ModelConfig& config, Workings& workings) {
  c.always_full_mask = true;
  const double window =
      config.flag("use_sliding_window") ? config.number_or("sliding_window", 0) : 0;
  if (window > 0) c.window = workings.letter(Letter::w, window);
  if (window_from_types(c, config)) return;
  const auto first = static_cast<std::size_t>(config.number("max_window_layers"));
  for (std::size_t i = first; window > 0 && i < c.windowed.size(); ++i) c.windowed[i] = true;
}

}  // namespace ledger::models
