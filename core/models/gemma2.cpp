// gemma2: a norm after each block too, capped scores and logits, every other layer with a window.
// Source: transformers models/gemma2/modeling_gemma2.py, configuration_gemma2.py.
#include "core/models/builder.hpp"
#include "core/models/gemma.hpp"
#include "core/models/windows.hpp"
#include "core/ops/elementwise.hpp"

namespace ledger::models {
namespace {

void make_gemma2_layer(Builder& b, DecoderLayer& layer) {
  make_llama_layer(b, layer);
  const Count width = b.config().hidden;
  b.norm(layer.pre_feedforward_layernorm, "layers.*.pre_feedforward_layernorm", width);
  b.norm(layer.post_feedforward_layernorm, "layers.*.post_feedforward_layernorm", width);
}

Tensor gemma2_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const Blocks& blocks = layer.model->config.blocks;
  Tensor residual = in.hidden;
  Tensor hidden = blocks.norm(t, layer.input_layernorm, residual);
  AttentionOutput attended = attention(t, layer, in, hidden);
  hidden = std::move(attended.output);
  hidden = blocks.norm(t, layer.post_attention_layernorm, hidden);
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  residual = hidden;
  hidden = blocks.norm(t, layer.pre_feedforward_layernorm, hidden);
  hidden = blocks.feed_forward(t, layer, hidden);
  hidden = blocks.norm(t, layer.post_feedforward_layernorm, hidden);
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  return hidden;
}

Tensor project_capped_logits(Tape& t, const Decoder& model, Tensor hidden) {
  Tensor logits = project_logits(t, model, std::move(hidden));
  if (!model.config.logit_cap) return logits;
  logits = ops::mul_constant(t.as("logits, scaled"), logits);
  logits = ops::tanh(t.as("logits, bent"), logits);
  logits = ops::mul_constant(t.as("logits, capped"), logits);
  return logits;
}

}  // namespace

DecoderConfig configure_gemma2(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = configure_gemma(config, workings);
  c.score_cap = config.number_or("attn_logit_softcapping", 0) > 0;
  c.logit_cap = config.number_or("final_logit_softcapping", 0) > 0;
  c.blocks.make_layer = make_gemma2_layer;
  c.blocks.layer = gemma2_layer;
  c.blocks.head = project_capped_logits;
  c.always_full_mask = c.always_windowed_mask = true;
  c.window = workings.letter(Letter::w, config.number_or("sliding_window", 0));
  if (window_from_types(c, config)) return c;
  for (std::size_t i = 0; i < c.windowed.size(); ++i) c.windowed[i] = i % 2 == 0;
  return c;
}

}  // namespace ledger::models
