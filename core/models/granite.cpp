// granite: llama with constant factors on embedding, residual updates and logits.
// Source: transformers models/granite/modeling_granite.py.
#include "core/models/decoder.hpp"
#include "core/ops/elementwise.hpp"

namespace ledger::models {
namespace {

Tensor embed_multiplied(Tape& t, const Decoder& model, const Tensor& ids) {
  Tensor embedded = embed_tokens(t, model, ids);
  embedded = ops::mul_constant(t.as("embedded tokens, scaled"), embedded);
  return embedded;
}

Tensor granite_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const Blocks& blocks = layer.model->config.blocks;
  Tensor residual = in.hidden;
  Tensor hidden = blocks.norm(t, layer.input_layernorm, residual);
  AttentionOutput attended = attention(t, layer, in, hidden);
  hidden = std::move(attended.output);
  Tensor update = ops::mul_constant(t.as("update, scaled"), hidden);
  hidden = ops::add(t.as("residual stream"), residual, std::move(update));
  residual = hidden;
  hidden = blocks.norm(t, layer.post_attention_layernorm, hidden);
  hidden = blocks.feed_forward(t, layer, hidden);
  update = ops::mul_constant(t.as("update, scaled"), hidden);
  hidden = ops::add(t.as("residual stream"), residual, std::move(update));
  return hidden;
}

Tensor project_scaled_logits(Tape& t, const Decoder& model, Tensor hidden) {
  Tensor logits = project_logits(t, model, std::move(hidden));
  logits = ops::mul_constant(t.as("logits, scaled"), logits);
  return logits;
}

}  // namespace

DecoderConfig configure_granite(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  c.mlp_bias = config.flag("mlp_bias");
  c.blocks.embed = embed_multiplied;
  c.blocks.layer = granite_layer;
  c.blocks.head = project_scaled_logits;
  return c;
}

}  // namespace ledger::models
