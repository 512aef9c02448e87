// Parameters in the order in which transformers makes them: the holes that construction leaves in
// the allocator's segments are used again later.
#include "core/models/decoder.hpp"

namespace ledger::models {
namespace {

struct Builder {
  Tape& t;
  Decoder& model;
  Dtype dtype;

  Tensor parameter(Shape shape, const char* what) {
    Tensor made = t.parameter(shape, dtype, what);
    model.parameters.push_back(made);
    return made;
  }

  ops::Linear linear(const char* path, Count in, Count out, bool bias) {
    const Within here(t, t.place(path));
    ops::Linear made;
    made.place = t.current_place();
    made.weight = parameter(t.shape({out, in}), "weight");
    if (bias) made.bias = parameter(t.shape({out}), "bias");
    return made;
  }

  RmsNorm norm(const char* path, Count width) {
    const Within here(t, t.place(path));
    return {parameter(t.shape({width}), "weight"), t.current_place()};
  }

  DecoderLayer layer(std::int16_t index) {
    const DecoderConfig& c = model.config;
    const Within here(t, t.place("layers.*"), index);
    DecoderLayer made;
    made.model = &model;
    made.index = index;
    made.place = t.place("layers.*");
    made.self_attn.place = t.place("layers.*.self_attn");
    made.mlp.place = t.place("layers.*.mlp");
    const Count query_width = c.heads * c.head_width;
    const Count key_width = c.key_value_heads * c.head_width;
    const bool bias = c.query_key_value_bias;
    made.self_attn.q_proj = linear("layers.*.self_attn.q_proj", c.hidden, query_width, bias);
    made.self_attn.k_proj = linear("layers.*.self_attn.k_proj", c.hidden, key_width, bias);
    made.self_attn.v_proj = linear("layers.*.self_attn.v_proj", c.hidden, key_width, bias);
    made.self_attn.o_proj = linear("layers.*.self_attn.o_proj", query_width, c.hidden, c.output_bias);
    if (c.query_key_norm) {
      made.self_attn.q_norm = norm("layers.*.self_attn.q_norm", c.head_width);
      made.self_attn.k_norm = norm("layers.*.self_attn.k_norm", c.head_width);
    }
    made.mlp.gate_proj = linear("layers.*.mlp.gate_proj", c.hidden, c.feed_forward, c.mlp_bias);
    made.mlp.up_proj = linear("layers.*.mlp.up_proj", c.hidden, c.feed_forward, c.mlp_bias);
    made.mlp.down_proj = linear("layers.*.mlp.down_proj", c.feed_forward, c.hidden, c.mlp_bias);
    made.input_layernorm = norm("layers.*.input_layernorm", c.hidden);
    made.post_attention_layernorm = norm("layers.*.post_attention_layernorm", c.hidden);
    return made;
  }
};

}  // namespace

void build(Tape& t, Decoder& model, Dtype dtype) {
  Builder b{t, model, dtype};
  const DecoderConfig& c = model.config;
  {
    const Within here(t, t.place("embed_tokens"), -1);
    model.embed_tokens = b.parameter(t.shape({c.vocabulary, c.hidden}), "weight");
  }
  const auto layers = static_cast<std::int16_t>(c.layers.value());
  model.layers.reserve(static_cast<std::size_t>(layers));
  for (std::int16_t i = 0; i < layers; ++i) model.layers.push_back(b.layer(i));
  model.norm = b.norm("norm", c.hidden);
  {
    const Within here(t, t.place("rotary_emb"), -1);
    for (const char* what : {"inverse frequencies", "inverse frequencies, original"}) {
      model.buffers.push_back(t.make(t.shape({c.head_width / 2}), Dtype::kFloat32, what, Role::kBuffer));
    }
  }
  // A tied head is made too, then dropped for the embedding.
  model.lm_head = b.linear("lm_head", c.hidden, c.vocabulary, false);
  if (c.tied) {
    model.parameters.pop_back();
    model.lm_head.weight = model.embed_tokens;
  }
}

double parameter_count(const DecoderConfig& c) {
  const double d = c.hidden.value(), f = c.feed_forward.value(), width = c.head_width.value();
  const double q = c.heads.value() * width, kv = c.key_value_heads.value() * width;
  double layer = 2 * d * q + 2 * d * kv + 3 * d * f + 2 * d;
  if (c.query_key_value_bias) layer += q + 2 * kv;
  if (c.output_bias) layer += d;
  if (c.mlp_bias) layer += 2 * f + d;
  if (c.query_key_norm) layer += 2 * width;
  return (c.tied ? 1 : 2) * c.vocabulary.value() * d + c.layers.value() * layer + d;
}

}  // namespace ledger::models
