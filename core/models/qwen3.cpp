// qwen3: a norm on each head's queries and keys; biases by configuration.
// Source: transformers models/qwen3/modeling_qwen3.py, configuration_qwen3.py.
#include "core/models/decoder.hpp"
#include "core/models/windows.hpp"

namespace ledger::models {

DecoderConfig configure_qwen3(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_norm = true;
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  window_from_layer(c, config, workings);
  return c;
}

}  // namespace ledger::models
