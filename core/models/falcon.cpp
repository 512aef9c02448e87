// falcon: keys and values for one head, for some or for all; attention beside the feed-forward or
// before it; rotated positions or alibi. Source: transformers models/falcon/modeling_falcon.py.
#include "core/models/alibi.hpp"
#include "core/models/builder.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

constexpr auto kFalconLinear = ops::Linear::Kind::kTransposed;

void make_falcon_embedding(Builder& b, Decoder& model) {
  const DecoderConfig& c = b.config();
  model.embed_tokens = b.parameter("word_embeddings", b.tape().shape({c.vocabulary, c.hidden}));
}

void make_falcon_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const bool bias = c.query_key_value_bias;
  Attention& a = layer.self_attn;
  const Count all = (c.heads + c.key_value_heads * 2) * c.head_width;
  b.linear(a.qkv_proj, "h.*.self_attention.query_key_value", c.hidden, all, bias, kFalconLinear);
  b.linear(a.o_proj, "h.*.self_attention.dense", c.hidden, c.hidden, bias, kFalconLinear);
  b.linear(layer.mlp.up_proj, "h.*.mlp.dense_h_to_4h", c.hidden, c.feed_forward, bias,
           kFalconLinear);
  b.linear(layer.mlp.down_proj, "h.*.mlp.dense_4h_to_h", c.feed_forward, c.hidden, bias,
           kFalconLinear);
  if (!c.parallel_residual) {
    b.norm(layer.post_attention_layernorm, "h.*.post_attention_layernorm", c.hidden, true);
    b.norm(layer.input_layernorm, "h.*.input_layernorm", c.hidden, true);
  } else if (c.norms_in_parallel == 2) {
    b.norm(layer.input_layernorm, "h.*.ln_attn", c.hidden, true);
    b.norm(layer.pre_feedforward_layernorm, "h.*.ln_mlp", c.hidden, true);
  } else {
    b.norm(layer.input_layernorm, "h.*.input_layernorm", c.hidden, true);
  }
}

void make_falcon_top(Builder& b, Decoder& model) {
  b.norm(model.norm, "ln_f", b.config().hidden, true);
  make_rotary_buffers(b.tape(), model);
  initialise_rotary_buffers(b.tape(), model);
}

// The mask as floats, then the bias by distance wherever it lets through: [B,H,T,T].
Tensor mask_with_alibi(Tape& t, Tensor mask, const Tensor& alibi) {
  const NoGrad no_grad(t);
  const Dtype dtype = alibi.dtype();
  if (mask.dtype() == Dtype::kBool) {
    Tensor minimum = t.scratch(t.shape({1}), dtype, "scalar");
    Tensor zero = t.scratch(t.shape({1}), dtype, "scalar");
    // Shared by all sequences so far, now one for each.
    mask = t.output(t.shape({alibi.dim(0), 1, mask.dim(2), mask.dim(3)}), dtype, "mask as floats");
  }
  Tensor scaled = t.output(alibi.shape(), dtype, "bias by distance, scaled");
  Tensor closed = t.output(mask.shape(), Dtype::kBool, "what the mask closes");
  const Shape shape = t.shape({alibi.dim(0), alibi.dim(1), mask.dim(2), mask.dim(3)});
  return t.output(shape, dtype, "mask with the bias by distance");
}

Prepared prepare_falcon(Tape& t, const Decoder& model, const Inputs& in) {
  const DecoderConfig& c = model.config;
  Prepared at;
  at.embedded = embed_tokens(t, model, in.ids);
  if (c.alibi) {
    at.position_mask = in.attention_mask ? in.attention_mask
                                         : t.make(t.shape({in.ids.dim(0), in.ids.dim(1)}),
                                                  Dtype::kInt64, "mask of ones", Role::kInput);
    at.alibi = alibi_of(t, at.position_mask, c.heads, at.embedded.dtype(), true);
  }
  at.positions = position_ids(t, in);
  at.masks = make_masks(t, model, at.embedded, in);
  if (c.alibi) at.masks.full = mask_with_alibi(t, std::move(at.masks.full), at.alibi);
  at.hidden = at.embedded;
  at.tables = rotary_tables(t, in.ids.dim(1), c.rotary_width, at.embedded.dtype());
  return at;
}

// Heads stand side by side as the matrix made them: [B,T,H·d_h].
QueryKeyValue cut_heads(Tape& t, const DecoderConfig& c, const Tensor& all) {
  const Count width = c.head_width, groups = c.key_value_heads;
  QueryKeyValue out;
  if (c.grouped_heads) {  // each group's queries, then its key and its value
    Tensor split = ops::split_heads(t, all, c.heads + groups * 2, width);
    Tensor q = ops::narrow_heads(t, split, c.heads);
    Tensor k = ops::pick_heads(t, split, groups);
    Tensor v = ops::pick_heads(t, split, groups);
    out.q = ops::contiguous(t, q);
    out.k = ops::spread_heads(t, k, c.heads);
    out.v = ops::spread_heads(t, v, c.heads);
  } else if (groups.value() > 1) {  // query, key and value of each head
    Tensor split = ops::split_heads(t, all, c.heads, width * 3);
    out.q = ops::narrow_last(t, split, width);
    out.k = ops::narrow_last(t, split, width);
    out.v = ops::narrow_last(t, split, width);
  } else {  // all queries, then the only key and value
    Tensor split = ops::split_heads(t, all, c.heads + 2, width);
    out.q = ops::narrow_heads(t, split, c.heads);
    out.k = ops::pick_heads(t, split, 1);
    out.v = ops::pick_heads(t, split, 1);
  }
  return out;
}

// What attention's function holds under its names to its end.
struct Attended {
  AttentionOutput result;
  std::array<Tensor, 3> held{};
};

Attended eager_rotary(Tape& t, const DecoderConfig&, const QueryKeyValue& states,
                      const LayerInputs& in, Dtype dtype) {
  AttentionOutput out;
  out.weights = ops::batched_product(t.as("attention scores"), states.q, states.k, true);
  out.weights = ops::mul_constant_in_place(t, out.weights);
  Tensor masked = ops::add(t.as("attention scores, masked"), out.weights, in.mask);
  out.weights = ops::softmax_in(t, masked, dtype);
  masked.reset();
  out.output = ops::batched_product(t.as("attention output"), out.weights, states.v, false);
  return {std::move(out)};
}

// Scores are raised to 32 bit.
Attended eager_alibi(Tape& t, const DecoderConfig& c, const QueryKeyValue& states,
                     const LayerInputs& in, Dtype dtype) {
  Tensor product = ops::batched_product(t.as("attention scores"), states.q, states.k, true);
  Tensor scores = ops::to(t.as("attention scores in 32 bit"), product, Dtype::kFloat32);
  Tensor logits = ops::add(t.as("attention scores with alibi"), scores, in.alibi);
  logits = ops::mul_constant_in_place(t, logits);
  Tensor masked = ops::add(t.as("attention scores, masked"), logits, in.mask);
  AttentionOutput out;
  out.weights = ops::softmax_in(t, masked, dtype);
  masked.reset();
  if (c.attention_dropout) out.weights = ops::dropout(t, out.weights);
  out.output = ops::batched_product(t.as("attention output"), out.weights, states.v, false);
  return {std::move(out), {std::move(product), std::move(scores), std::move(logits)}};
}

AttentionOutput falcon_attention(Tape& t, const DecoderLayer& layer, const LayerInputs& in,
                                 Tensor hidden) {
  const DecoderConfig& c = layer.model->config;
  const Within here(t, layer.self_attn.place);
  Tensor all = ops::linear(t.as("query, key and value states"), layer.self_attn.qkv_proj, hidden);
  QueryKeyValue states = cut_heads(t, c, all);
  states.q = ops::transpose(t, states.q);
  states.k = ops::transpose(t, states.k);
  states.v = ops::transpose(t, states.v);
  if (!c.alibi) {
    Rotated rotated = apply_rotary(t, states.q, states.k, in.cos, in.sin);
    states.q = std::move(rotated.q);
    states.k = std::move(rotated.k);
  }
  Attended attended;
  AttentionOutput& result = attended.result;
  if (layer.model->options.eager) {
    attended = (c.alibi ? eager_alibi : eager_rotary)(t, c, states, in, hidden.dtype());
  } else {
    result.output = ops::scaled_dot_product_attention(t, states.q, states.k, states.v, in.mask,
                                                      c.alibi && c.attention_dropout);
  }
  result.output = ops::transpose(t, result.output);
  result.output = ops::merge_heads(t, result.output);
  result.output = ops::linear(t.as("attention projected"), layer.self_attn.o_proj, result.output);
  return std::move(result);
}

Tensor falcon_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x) {
  const Mlp& mlp = layer.mlp;
  const Within here(t, mlp.place);
  Tensor up = ops::linear(t.as("up"), mlp.up_proj, x);
  Tensor hidden = layer.model->config.blocks.activation(t.as("activated"), std::move(up));
  return ops::linear(t.as("down"), mlp.down_proj, hidden);
}

RegionOutput falcon_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in) {
  const DecoderConfig& c = layer.model->config;
  Tensor residual = in.hidden;
  Tensor normed = layer_norm(t, layer.input_layernorm, in.hidden);
  Tensor beside;
  if (c.norms_in_parallel == 2) beside = layer_norm(t, layer.pre_feedforward_layernorm, in.hidden);
  AttentionOutput attended = falcon_attention(t, layer, in, normed);
  if (!c.parallel_residual) {
    Tensor update = c.attention_dropout ? ops::dropout(t, attended.output) : attended.output;
    residual = ops::add(t.as("residual stream"), residual, update);
    update.reset();
    beside = layer_norm(t, layer.post_attention_layernorm, residual);
  } else if (c.norms_in_parallel != 2) {
    beside = normed;
  }
  Tensor update = falcon_feed_forward(t, layer, beside);
  if (c.parallel_residual) update = ops::add_in_place(t, update, attended.output);
  Tensor out = c.residual_dropout ? ops::dropout(t, update) : update;
  out = ops::add(t.as("residual stream"), residual, out);
  return {std::move(out), std::move(attended.weights)};
}

}  // namespace

DecoderConfig configure_falcon(const ModelConfig& config, Workings& workings) {
  ModelConfig named = config;
  const double width = config.number_or("n_embed", config.number("hidden_size"));
  named.numbers["hidden_size"] = width;
  const bool grouped = config.flag("new_decoder_architecture");
  const double heads = config.number("num_attention_heads");
  named.numbers["num_key_value_heads"] = grouped ? config.number_or("num_kv_heads", heads)
                                         : config.flag("multi_query") ? 1
                                                                      : heads;
  named.numbers["intermediate_size"] = config.number_or("ffn_hidden_size", 4 * width);
  named.texts["hidden_act"] = config.text("activation");
  DecoderConfig c = common_config(named, workings);
  c.grouped_heads = grouped;
  c.alibi = config.flag("alibi");
  c.query_key_value_bias = config.flag("bias");
  c.parallel_residual = config.flag("parallel_attn") || grouped;
  c.norms_in_parallel =
      static_cast<int>(config.number_or("num_ln_in_parallel_attn", grouped ? 2 : 1));
  c.residual_dropout = config.number_or("hidden_dropout", 0) > 0;
  c.attention_dropout = config.number_or("attention_dropout", 0) > 0;
  c.masks_test_packing = false;
  c.mask_always_made = true;
  c.blocks.make_stem = make_falcon_embedding;
  c.blocks.make_layer = make_falcon_layer;
  c.blocks.make_top = make_falcon_top;
  c.blocks.norm = layer_norm;
  c.blocks.prepare = prepare_falcon;
  c.blocks.layer_with_weights = falcon_layer;
  return c;
}

}  // namespace ledger::models
