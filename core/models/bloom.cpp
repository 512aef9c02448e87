// bloom: alibi, a norm on the embedding, attention written out, an activation with a backward of
// its own. Source: transformers models/bloom/modeling_bloom.py.
#include "core/models/alibi.hpp"
#include "core/models/builder.hpp"
#include "core/ops/activation.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

void make_bloom_embedding(Builder& b, Decoder& model) {
  const DecoderConfig& c = b.config();
  model.embed_tokens = b.parameter("word_embeddings", b.tape().shape({c.vocabulary, c.hidden}));
  b.norm(model.embedding_norm, "word_embeddings_layernorm", c.hidden, true);
}

void make_bloom_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  Attention& a = layer.self_attn;
  b.norm(layer.input_layernorm, "h.*.input_layernorm", c.hidden, true);
  b.linear(a.qkv_proj, "h.*.self_attention.query_key_value", c.hidden, c.hidden * 3, true);
  b.linear(a.o_proj, "h.*.self_attention.dense", c.hidden, c.hidden, true);
  b.norm(layer.post_attention_layernorm, "h.*.post_attention_layernorm", c.hidden, true);
  b.linear(layer.mlp.up_proj, "h.*.mlp.dense_h_to_4h", c.hidden, c.feed_forward, true);
  b.linear(layer.mlp.down_proj, "h.*.mlp.dense_4h_to_h", c.feed_forward, c.hidden, true);
}

void make_bloom_top(Builder& b, Decoder& model) {
  b.norm(model.norm, "ln_f", b.config().hidden, true);
}

Prepared prepare_bloom(Tape& t, const Decoder& model, const Inputs& in) {
  const DecoderConfig& c = model.config;
  Prepared at;
  at.embedded = embed_tokens(t, model, in.ids);
  at.hidden = layer_norm(t, model.embedding_norm, at.embedded);
  at.position_mask = in.attention_mask ? in.attention_mask
                                       : t.make(t.shape({in.ids.dim(0), in.ids.dim(1)}),
                                                Dtype::kFloat32, "mask of ones", Role::kInput);
  at.alibi = alibi_of(t, at.position_mask, c.heads, at.hidden.dtype(), false);
  Inputs masked = in;
  masked.attention_mask = at.position_mask;
  at.masks = make_masks(t, model, at.embedded, masked);
  return at;
}

// Heads folded into the batch, and what they were cut from.
struct Folded {
  Tensor q, k, v, all;
};

Folded project_bloom(Tape& t, const DecoderLayer& layer, Tensor x) {
  const DecoderConfig& c = layer.model->config;
  Tensor all = ops::linear(t.as("query, key and value states"), layer.self_attn.qkv_proj, x);
  Tensor split = ops::split_heads(t, all, c.heads, c.head_width * 3);
  auto part = [&] {
    Tensor cut = ops::narrow_last(t, split, c.head_width);
    return ops::transpose(t, std::move(cut));
  };
  Tensor q = part();
  Tensor k = part();
  Tensor v = part();
  q = ops::fold_heads(t, q);
  k = ops::fold_heads(t, k);
  v = ops::fold_heads(t, v);
  return {std::move(q), std::move(k), std::move(v), std::move(all)};
}

Tensor added(Tape& t, const DecoderConfig& c, Tensor x, const Tensor& residual) {
  Tensor out = c.residual_dropout ? ops::dropout(t, x) : x;
  out = ops::add(t.as("residual stream"), residual, out);
  return out;
}

AttentionOutput bloom_attention(Tape& t, const DecoderLayer& layer, const LayerInputs& in,
                                Tensor hidden, const Tensor& residual) {
  const DecoderConfig& c = layer.model->config;
  const Within here(t, layer.self_attn.place);
  Folded states = project_bloom(t, layer, hidden);
  Tensor scores = ops::biased_product(t.as("attention scores"), in.alibi, states.q, states.k);
  Tensor weights = ops::add(t.as("attention scores, masked"), scores, in.mask);
  Tensor wide = ops::softmax_float32(t, weights);
  Tensor probabilities = ops::to(t.as("attention weights"), std::move(wide), states.q.dtype());
  if (c.attention_dropout) probabilities = ops::dropout(t, probabilities);
  Tensor context = ops::batched_product(t.as("attention output"), probabilities, states.v, false);
  Tensor turned = ops::transpose(t, context);
  context = ops::merge_heads(t, std::move(turned));
  Tensor output = ops::linear(t.as("attention projected"), layer.self_attn.o_proj, context);
  output = added(t, c, output, residual);
  return {std::move(output), std::move(probabilities)};
}

Tensor bloom_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x, const Tensor& residual) {
  const Mlp& mlp = layer.mlp;
  const Within here(t, mlp.place);
  Tensor up = ops::linear(t.as("up"), mlp.up_proj, x);
  Tensor hidden = ops::gelu_bloom(t.as("activated"), std::move(up));
  Tensor down = ops::linear(t.as("down"), mlp.down_proj, hidden);
  return added(t, layer.model->config, down, residual);
}

RegionOutput bloom_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const DecoderConfig& c = layer.model->config;
  Tensor normed = layer_norm(t, layer.input_layernorm, in.hidden);
  Tensor residual = c.residual_after_norm ? normed : in.hidden;
  AttentionOutput attended = bloom_attention(t, layer, in, normed, residual);
  normed = layer_norm(t, layer.post_attention_layernorm, attended.output);
  residual = c.residual_after_norm ? normed : attended.output;
  Tensor output = bloom_feed_forward(t, layer, normed, residual);
  return {std::move(output), std::move(attended.weights)};
}

}  // namespace

DecoderConfig configure_bloom(const ModelConfig& config, Workings& workings) {
  ModelConfig named = config;
  const double width = config.number_or("n_embed", config.number("hidden_size"));
  named.numbers["hidden_size"] = width;
  named.numbers["num_hidden_layers"] = config.number("n_layer");
  named.numbers["num_attention_heads"] = config.number("n_head");
  named.numbers["intermediate_size"] = 4 * width;
  DecoderConfig c = common_config(named, workings);
  c.rotated.assign(c.rotated.size(), false);
  c.residual_after_norm = config.flag("apply_residual_connection_post_layernorm");
  c.residual_dropout = config.number_or("hidden_dropout", 0) > 0;
  c.attention_dropout = config.number_or("attention_dropout", 0) > 0;
  c.masks_test_packing = false;
  c.blocks.make_stem = make_bloom_embedding;
  c.blocks.make_layer = make_bloom_layer;
  c.blocks.make_top = make_bloom_top;
  c.blocks.norm = layer_norm;
  c.blocks.prepare = prepare_bloom;
  c.blocks.layer_with_weights = bloom_layer;
  return c;
}

}  // namespace ledger::models
