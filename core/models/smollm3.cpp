// smollm3: some layers do not rotate, and only those may look back on a window.
// Source: transformers models/smollm3/modeling_smollm3.py, configuration_smollm3.py.
#include "core/models/decoder.hpp"
#include "core/models/windows.hpp"

namespace ledger::models {

DecoderConfig configure_smollm3(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.always_full_mask = true;
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  c.mlp_bias = config.flag("mlp_bias");
  const auto interval = static_cast<std::size_t>(config.number("no_rope_layer_interval"));
  const auto rotated = config.lists.find("no_rope_layers");
  for (std::size_t i = 0; i < c.rotated.size(); ++i) {
    c.rotated[i] = rotated != config.lists.end() && i < rotated->second.size()
                       ? rotated->second[i] != "0"
                       : (i + 1) % interval != 0;
  }
  const double window = config.number_or("sliding_window", 0);
  if (window > 0) c.window = workings.letter(Letter::w, window);
  if (window_from_types(c, config)) return c;
  for (std::size_t i = 0; i < c.windowed.size(); ++i) {
    c.windowed[i] = config.flag("use_sliding_window") && window > 0 && !c.rotated[i];
  }
  return c;
}

}  // namespace ledger::models
