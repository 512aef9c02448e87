// opt: learned positions counted from the mask, layer norms before or after the blocks, a narrow
// embedding in one size. Source: transformers models/opt/modeling_opt.py.
#include "core/models/builder.hpp"
#include "core/models/decoder.hpp"
#include "core/ops/activation.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/embedding.hpp"
#include "core/ops/layout.hpp"
#include "core/reduction.hpp"

namespace ledger::models {
namespace {

bool narrow_embedding(const DecoderConfig& c) {
  return c.embedding_width.value() != c.hidden.value();
}

void make_opt_embedding(Builder& b, Decoder& model) {
  const DecoderConfig& c = b.config();
  Tape& t = b.tape();
  model.embed_tokens =
      b.parameter("decoder.embed_tokens", t.shape({c.vocabulary, c.embedding_width}));
  model.embed_positions =
      b.parameter("decoder.embed_positions", t.shape({c.learned_positions, c.hidden}));
  if (narrow_embedding(c)) {
    b.linear(model.project_out, "decoder.project_out", c.hidden, c.embedding_width, false);
    b.linear(model.project_in, "decoder.project_in", c.embedding_width, c.hidden, false);
  }
  if (c.final_norm) b.layer_norm(model.norm, "decoder.final_layer_norm", c.hidden);
}

void make_opt_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const bool bias = c.query_key_value_bias;
  Attention& a = layer.self_attn;
  b.linear(a.k_proj, "decoder.layers.*.self_attn.k_proj", c.hidden, c.hidden, bias);
  b.linear(a.v_proj, "decoder.layers.*.self_attn.v_proj", c.hidden, c.hidden, bias);
  b.linear(a.q_proj, "decoder.layers.*.self_attn.q_proj", c.hidden, c.hidden, bias);
  b.linear(a.o_proj, "decoder.layers.*.self_attn.out_proj", c.hidden, c.hidden, bias);
  b.layer_norm(layer.input_layernorm, "decoder.layers.*.self_attn_layer_norm", c.hidden);
  b.linear(layer.mlp.up_proj, "decoder.layers.*.fc1", c.hidden, c.feed_forward, bias);
  b.linear(layer.mlp.down_proj, "decoder.layers.*.fc2", c.feed_forward, c.hidden, bias);
  b.layer_norm(layer.post_attention_layernorm, "decoder.layers.*.final_layer_norm", c.hidden);
}

void make_no_top(Builder&, Decoder&) {}

// Positions are counted along the mask: a running sum, times the mask, less one.
Tensor counted_positions(Tape& t, const Tensor& mask, Count batch, Count length) {
  const Shape shape = t.shape({batch, length});
  Tensor positions = running_sum(t, mask, "positions counted");
  Tensor masked = t.make(shape, mask.dtype(), "positions that count", Role::kInput);
  Tensor shifted = t.make(shape, mask.dtype(), "positions from zero", Role::kInput);
  masked.reset();
  if (mask.dtype() == Dtype::kInt64) return shifted;
  return t.make(shape, Dtype::kInt64, "position ids", Role::kInput);
}

Prepared prepare_opt(Tape& t, const Decoder& model, const Inputs& in) {
  const Count batch = in.ids.dim(0), length = in.ids.dim(1);
  Prepared at;
  at.embedded = embed_tokens(t, model, in.ids);
  at.position_mask = in.attention_mask ? in.attention_mask
                                       : t.make(t.shape({batch, length}), Dtype::kFloat32,
                                                "mask of ones for the positions", Role::kInput);
  at.positions = counted_positions(t, at.position_mask, batch, length);
  at.masks = make_masks(t, model, at.embedded, in);
  {
    const Within here(t, t.place("decoder.embed_positions"));
    Tensor rows =
        t.make(t.shape({batch, length}), Dtype::kInt64, "rows of the positions", Role::kInput);
    at.position_states =
        ops::embedding(t.as("embedded positions"), std::move(rows), model.embed_positions);
  }
  if (narrow_embedding(model.config)) {
    at.embedded = ops::linear(t.as("embedded tokens, widened"), model.project_in, at.embedded);
  }
  at.hidden = ops::add(t.as("embedded tokens and positions"), at.embedded, at.position_states);
  return at;
}

// Queries are scaled before the product, not the scores after it.
QueryKeyValue project_opt(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Attention& a = layer.self_attn;
  const DecoderConfig& c = layer.model->config;
  Tensor projected = ops::linear(t.as("query states"), a.q_proj, x);
  Tensor q = ops::mul_constant(t.as("query states, scaled"), std::move(projected));
  q = into_heads(t, q, c.heads, c.head_width);
  Tensor k = ops::linear(t.as("key states"), a.k_proj, x);
  Tensor v = ops::linear(t.as("value states"), a.v_proj, x);
  k = into_heads(t, k, c.heads, c.head_width);
  v = into_heads(t, v, c.heads, c.head_width);
  return {std::move(q), std::move(k), std::move(v)};
}

Tensor opt_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const DecoderConfig& c = layer.model->config;
  const Mlp& mlp = layer.mlp;
  Tensor residual = in.hidden;
  Tensor hidden = residual;
  if (c.norm_first) hidden = layer_norm(t, layer.input_layernorm, hidden);
  AttentionOutput attended = attention(t, layer, in, hidden);
  hidden = std::move(attended.output);
  if (c.residual_dropout) hidden = ops::dropout(t, hidden);
  hidden = ops::add(t.as("residual stream"), residual, hidden);
  if (!c.norm_first) hidden = layer_norm(t, layer.input_layernorm, hidden);
  const Shape shape = hidden.shape();
  hidden = ops::reshape(t, hidden, t.shape({shape[0] * shape[1], shape[2]}));
  residual = hidden;
  if (c.norm_first) hidden = layer_norm(t, layer.post_attention_layernorm, hidden);
  hidden = ops::linear(t.as("up"), mlp.up_proj, hidden);
  hidden = c.blocks.activation(t.as("activated"), hidden);
  hidden = ops::linear(t.as("down"), mlp.down_proj, hidden);
  if (c.residual_dropout) hidden = ops::dropout(t, hidden);
  Tensor sum = ops::add(t.as("residual stream"), residual, hidden);
  hidden = ops::reshape(t, std::move(sum), shape);
  if (!c.norm_first) hidden = layer_norm(t, layer.post_attention_layernorm, hidden);
  return hidden;
}

Tensor finish_opt(Tape& t, const Decoder& model, Tensor hidden) {
  const DecoderConfig& c = model.config;
  if (c.final_norm) hidden = layer_norm(t, model.norm, hidden);
  if (narrow_embedding(c))
    hidden = ops::linear(t.as("hidden states, narrowed"), model.project_out, hidden);
  return hidden;
}

}  // namespace

DecoderConfig configure_opt(const ModelConfig& config, Workings& workings) {
  ModelConfig named = config;
  named.numbers["intermediate_size"] = config.number("ffn_dim");
  named.texts["hidden_act"] = config.text("activation_function");
  DecoderConfig c = common_config(named, workings);
  const double width = config.number("hidden_size");
  const double embedding = config.number_or("word_embed_proj_dim", width);
  if (embedding != width) c.embedding_width = workings.named("d_e", embedding);
  c.learned_positions = workings.named("P_max", config.number("max_position_embeddings")) + 2;
  c.rotated.assign(c.rotated.size(), false);
  c.query_key_value_bias = config.flag("enable_bias");
  c.norm_first = config.flag("do_layer_norm_before");
  c.final_norm = c.norm_first && !config.flag("_remove_final_layer_norm");
  c.norm_weights = config.flag("layer_norm_elementwise_affine");
  c.residual_dropout = config.number_or("dropout", 0) > 0;
  c.attention_dropout = config.number_or("attention_dropout", 0) > 0;
  c.masks_test_packing = false;
  c.blocks.make_stem = make_opt_embedding;
  c.blocks.make_layer = make_opt_layer;
  c.blocks.make_top = make_no_top;
  c.blocks.prepare = prepare_opt;
  c.blocks.project = project_opt;
  c.blocks.layer = opt_layer;
  c.blocks.finish = finish_opt;
  return c;
}

}  // namespace ledger::models
