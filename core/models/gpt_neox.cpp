// gpt_neox: queries, keys and values of each head in one matrix, layer norms, attention and
// feed-forward side by side unless configured otherwise.
// Source: transformers models/gpt_neox/modeling_gpt_neox.py.
#include "core/models/builder.hpp"
#include "core/models/decoder.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

void make_neox_embedding(Builder& b, Decoder& model) {
  const DecoderConfig& c = b.config();
  model.embed_tokens = b.parameter("embed_in", b.tape().shape({c.vocabulary, c.hidden}));
}

void make_neox_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const bool bias = c.query_key_value_bias;
  b.norm(layer.input_layernorm, "layers.*.input_layernorm", c.hidden, true);
  b.norm(layer.post_attention_layernorm, "layers.*.post_attention_layernorm", c.hidden, true);
  Attention& a = layer.self_attn;
  b.linear(a.qkv_proj, "layers.*.attention.query_key_value", c.hidden, c.hidden * 3, bias);
  b.linear(a.o_proj, "layers.*.attention.dense", c.hidden, c.hidden, bias);
  b.linear(layer.mlp.up_proj, "layers.*.mlp.dense_h_to_4h", c.hidden, c.feed_forward, true);
  b.linear(layer.mlp.down_proj, "layers.*.mlp.dense_4h_to_h", c.feed_forward, c.hidden, true);
}

void make_neox_top(Builder& b, Decoder& model) {
  b.norm(model.norm, "final_layer_norm", b.config().hidden, true);
  make_rotary_buffers(b.tape(), model);
  initialise_rotary_buffers(b.tape(), model);
}

QueryKeyValue project_and_split(Tape& t, const DecoderLayer& layer, Tensor x) {
  const DecoderConfig& c = layer.model->config;
  const Count width = c.head_width;
  Tensor all = ops::linear(t.as("query, key and value states"), layer.self_attn.qkv_proj, x);
  all = into_heads(t, std::move(all), c.heads, width * 3);
  auto [q, k, v] = ops::split_parts(t, all, {width, width, width});
  return {std::move(q), std::move(k), std::move(v)};
}

Prepared prepare_neox(Tape& t, const Decoder& model, const Inputs& in) {
  const DecoderConfig& c = model.config;
  Prepared at;
  at.embedded = c.blocks.embed(t, model, in.ids);
  at.positions = position_ids(t, in);
  at.masks = make_masks(t, model, at.embedded, in);
  at.hidden = c.embedding_dropout ? ops::dropout(t, at.embedded) : at.embedded;
  at.tables = rotary_tables(t, in.ids.dim(1), c.rotary_width, at.hidden.dtype());
  return at;
}

Tensor neox_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const DecoderConfig& c = layer.model->config;
  const Blocks& blocks = c.blocks;
  Tensor hidden = in.hidden;
  Tensor normed = blocks.norm(t, layer.input_layernorm, hidden);
  AttentionOutput attended = attention(t, layer, in, std::move(normed));
  if (c.residual_dropout) attended.output = ops::dropout(t, attended.output);
  if (!c.parallel_residual) {
    attended.output = ops::add(t.as("residual stream"), attended.output, hidden);
  }
  normed = blocks.norm(t, layer.post_attention_layernorm,
                       c.parallel_residual ? hidden : attended.output);
  Tensor update = blocks.feed_forward(t, layer, std::move(normed));
  if (c.residual_dropout) update = ops::dropout(t, update);
  if (!c.parallel_residual) return ops::add(t.as("residual stream"), update, attended.output);
  Tensor sum = ops::add(t.as("sum of both updates"), update, attended.output);
  hidden = ops::add(t.as("residual stream"), std::move(sum), hidden);
  return hidden;
}

}  // namespace

DecoderConfig configure_gpt_neox(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.rotary_width = partial_width(config, c, workings);
  c.query_key_value_bias = config.flag("attention_bias");
  c.parallel_residual = config.flag("use_parallel_residual");
  c.residual_dropout = c.embedding_dropout = config.number_or("hidden_dropout", 0) > 0;
  c.blocks.make_stem = make_neox_embedding;
  c.blocks.make_layer = make_neox_layer;
  c.blocks.make_top = make_neox_top;
  c.blocks.norm = layer_norm;
  c.blocks.prepare = prepare_neox;
  c.blocks.project = project_and_split;
  c.blocks.rotate = apply_partial_rotary;
  c.blocks.feed_forward = feed_forward;
  c.blocks.layer = neox_layer;
  return c;
}

}  // namespace ledger::models
