// qwen2: biases on queries, keys and values; some layers may look back on a window only.
// Source: transformers models/qwen2/modeling_qwen2.py, configuration_qwen2.py.
#include "core/models/decoder.hpp"
#include "core/models/windows.hpp"

namespace ledger::models {

DecoderConfig configure_qwen2(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_value_bias = true;
  window_from_layer(c, config, workings);
  return c;
}

}  // namespace ledger::models
