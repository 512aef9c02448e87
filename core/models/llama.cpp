// llama: biases by configuration, no window. Source: transformers models/llama/modeling_llama.py.
#include "core/models/decoder.hpp"

namespace ledger::models {

DecoderConfig configure_llama(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  c.mlp_bias = config.flag("mlp_bias");
  return c;
}

}  // namespace ledger::models
