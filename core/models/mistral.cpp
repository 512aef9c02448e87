// mistral: every layer looks back on the window, where there is one; no biases.
// Source: transformers models/mistral/modeling_mistral.py.
#include "core/models/decoder.hpp"

namespace ledger::models {

DecoderConfig configure_mistral(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  const double window = config.number_or("sliding_window", 0);
  if (window > 0) {
    c.window = workings.letter(Letter::w, window);
    c.windowed.assign(c.windowed.size(), true);
  }
  return c;
}

}  // namespace ledger::models
