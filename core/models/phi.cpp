// phi: one layer norm a layer, attention and feed-forward side by side, biases everywhere.
// Source: transformers models/phi/modeling_phi.py.
#include "core/models/builder.hpp"
#include "core/models/decoder.hpp"
#include "core/ops/elementwise.hpp"

namespace ledger::models {
namespace {

void make_phi_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const Count query_width = c.heads * c.head_width;
  const Count key_width = c.key_value_heads * c.head_width;
  Attention& a = layer.self_attn;
  b.linear(a.q_proj, "layers.*.self_attn.q_proj", c.hidden, query_width, true);
  b.linear(a.k_proj, "layers.*.self_attn.k_proj", c.hidden, key_width, true);
  b.linear(a.v_proj, "layers.*.self_attn.v_proj", c.hidden, key_width, true);
  b.linear(a.o_proj, "layers.*.self_attn.dense", query_width, c.hidden, true);
  if (c.query_key_norm) {
    b.norm(a.q_norm, "layers.*.self_attn.q_layernorm", c.hidden / c.heads, true);
    b.norm(a.k_norm, "layers.*.self_attn.k_layernorm", c.hidden / c.heads, true);
  }
  b.linear(layer.mlp.up_proj, "layers.*.mlp.fc1", c.hidden, c.feed_forward, true);
  b.linear(layer.mlp.down_proj, "layers.*.mlp.fc2", c.feed_forward, c.hidden, true);
  b.norm(layer.input_layernorm, "layers.*.input_layernorm", c.hidden, true);
}

void make_tables_and_norm(Builder& b, Decoder& model) {
  make_rotary_buffers(b.tape(), model);
  b.norm(model.norm, "final_layernorm", b.config().hidden, true);
  initialise_rotary_buffers(b.tape(), model);
}

Prepared prepare_phi(Tape& t, const Decoder& model, const Inputs& in) {
  const DecoderConfig& c = model.config;
  Prepared at;
  at.embedded = c.blocks.embed(t, model, in.ids);
  at.positions = position_ids(t, in);
  at.masks = make_masks(t, model, at.embedded, in);
  if (c.embedding_dropout) at.embedded = ops::dropout(t, at.embedded);
  at.hidden = at.embedded;
  at.tables = rotary_tables(t, in.ids.dim(1), c.rotary_width, at.embedded.dtype());
  return at;
}

Tensor phi_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const DecoderConfig& c = layer.model->config;
  Tensor residual = in.hidden;
  Tensor hidden = c.blocks.norm(t, layer.input_layernorm, residual);
  AttentionOutput attended = attention(t, layer, in, hidden);
  if (c.residual_dropout) attended.output = ops::dropout(t, attended.output);
  Tensor update = c.blocks.feed_forward(t, layer, hidden);
  if (c.residual_dropout) update = ops::dropout(t, std::move(update));
  Tensor sum = ops::add(t.as("sum of both updates"), attended.output, update);
  hidden = ops::add(t.as("residual stream"), std::move(sum), residual);
  return hidden;
}

}  // namespace

DecoderConfig configure_phi(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.rotary_width = partial_width(config, c, workings);
  c.head_bias = true;
  c.query_key_norm = config.flag("qk_layernorm");
  c.residual_dropout = config.number_or("resid_pdrop", 0) > 0;
  c.embedding_dropout = config.number_or("embd_pdrop", 0) > 0;
  c.blocks.make_layer = make_phi_layer;
  c.blocks.make_top = make_tables_and_norm;
  c.blocks.norm = layer_norm;
  c.blocks.prepare = prepare_phi;
  c.blocks.project = project_then_norm;
  c.blocks.rotate = apply_partial_rotary_inline;
  c.blocks.feed_forward = feed_forward;
  c.blocks.layer = phi_layer;
  return c;
}

}  // namespace ledger::models
