// gpt2: learned positions, layer norms, Conv1D, dropout everywhere.
// Source: transformers models/gpt2/modeling_gpt2.py, pytorch_utils.py (Conv1D).
#include "core/models/builder.hpp"
#include "core/models/decoder.hpp"
#include "core/ops/activation.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/embedding.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

void make_gpt2_embedding(Builder& b, Decoder& model) {
  const DecoderConfig& c = b.config();
  model.embed_tokens = b.parameter("wte", b.tape().shape({c.vocabulary, c.hidden}));
  model.embed_positions = b.parameter("wpe", b.tape().shape({c.learned_positions, c.hidden}));
}

void make_gpt2_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const auto conv1d = ops::Linear::Kind::kConv1D;
  Attention& a = layer.self_attn;
  b.norm(layer.input_layernorm, "h.*.ln_1", c.hidden, true);
  b.linear(a.qkv_proj, "h.*.attn.c_attn", c.hidden, c.hidden * 3, true, conv1d);
  b.linear(a.o_proj, "h.*.attn.c_proj", c.hidden, c.hidden, true, conv1d);
  b.norm(layer.post_attention_layernorm, "h.*.ln_2", c.hidden, true);
  b.linear(layer.mlp.up_proj, "h.*.mlp.c_fc", c.hidden, c.feed_forward, true, conv1d);
  b.linear(layer.mlp.down_proj, "h.*.mlp.c_proj", c.feed_forward, c.hidden, true, conv1d);
}

void make_gpt2_top(Builder& b, Decoder& model) {
  b.norm(model.norm, "ln_f", b.config().hidden, true);
}

Prepared prepare_gpt2(Tape& t, const Decoder& model, const Inputs& in) {
  const DecoderConfig& c = model.config;
  Prepared at;
  at.embedded = embed_tokens(t, model, in.ids);
  at.positions = position_ids(t, in);
  {
    const Within here(t, t.place("wpe"));
    at.position_states =
        ops::embedding(t.as("embedded positions"), at.positions, model.embed_positions);
  }
  at.hidden = ops::add(t.as("embedded tokens and positions"), at.embedded, at.position_states);
  at.masks = make_masks(t, model, at.embedded, in);
  if (c.embedding_dropout) at.hidden = ops::dropout(t, at.hidden);
  return at;
}

QueryKeyValue project_and_split(Tape& t, const DecoderLayer& layer, Tensor x) {
  const DecoderConfig& c = layer.model->config;
  Tensor all = ops::linear(t.as("query, key and value states"), layer.self_attn.qkv_proj, x);
  auto [q, k, v] = ops::split_parts(t, std::move(all), {c.hidden, c.hidden, c.hidden});
  k = into_heads(t, k, c.heads, c.head_width);
  v = into_heads(t, v, c.heads, c.head_width);
  q = into_heads(t, q, c.heads, c.head_width);
  return {std::move(q), std::move(k), std::move(v)};
}

// The softmax keeps the type of the scores, unless autocast raises it.
AttentionOutput eager_in_type(Tape& t, const DecoderConfig& c, Tensor q, Tensor k, Tensor v,
                              Tensor mask) {
  Tensor product = ops::batched_product(t.as("attention scores"), q, k, true);
  Tensor weights = ops::mul_constant(t.as("attention scores, scaled"), std::move(product));
  if (mask) weights = ops::add(t.as("attention scores, masked"), weights, mask);
  weights = ops::softmax_of_no_type(t.as("attention weights"), weights);
  weights = ops::to(t.as("attention weights"), weights, v.dtype());
  if (c.attention_dropout) weights = ops::dropout(t.as("attention weights, dropped out"), weights);
  Tensor output = ops::batched_product(t.as("attention output"), weights, v, false);
  output = ops::transpose(t, output);
  return {std::move(output), std::move(weights)};
}

Tensor gpt2_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Within here(t, layer.mlp.place);
  Tensor hidden = feed_forward(t, layer, x);
  if (layer.model->config.residual_dropout) hidden = ops::dropout(t, hidden);
  return hidden;
}

Tensor gpt2_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const Blocks& blocks = layer.model->config.blocks;
  Tensor residual = in.hidden;
  Tensor hidden = blocks.norm(t, layer.input_layernorm, residual);
  AttentionOutput attended = attention(t, layer, in, hidden);
  hidden = ops::add(t.as("residual stream"), attended.output, residual);
  residual = hidden;
  hidden = blocks.norm(t, layer.post_attention_layernorm, hidden);
  Tensor update = blocks.feed_forward(t, layer, hidden);
  hidden = ops::add(t.as("residual stream"), residual, update);
  return hidden;
}

}  // namespace

DecoderConfig configure_gpt2(const ModelConfig& config, Workings& workings) {
  ModelConfig named = config;
  const double width = config.number("n_embd");
  named.numbers["hidden_size"] = width;
  named.numbers["num_hidden_layers"] = config.number("n_layer");
  named.numbers["num_attention_heads"] = config.number("n_head");
  named.numbers["intermediate_size"] = config.number_or("n_inner", 4 * width);
  named.texts["hidden_act"] = config.text("activation_function");
  DecoderConfig c = common_config(named, workings);
  c.learned_positions = workings.named("P_max", config.number("n_positions"));
  c.rotated.assign(c.rotated.size(), false);
  c.attention_dropout = config.number_or("attn_pdrop", 0) > 0;
  c.output_dropout = c.residual_dropout = config.number_or("resid_pdrop", 0) > 0;
  c.embedding_dropout = config.number_or("embd_pdrop", 0) > 0;
  c.blocks.make_stem = make_gpt2_embedding;
  c.blocks.make_layer = make_gpt2_layer;
  c.blocks.make_top = make_gpt2_top;
  c.blocks.norm = layer_norm;
  c.blocks.prepare = prepare_gpt2;
  c.blocks.project = project_and_split;
  c.blocks.eager = eager_in_type;
  c.blocks.feed_forward = gpt2_feed_forward;
  c.blocks.layer = gpt2_layer;
  return c;
}

}  // namespace ledger::models
