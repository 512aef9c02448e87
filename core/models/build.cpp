// Parameters in the order in which transformers makes them: the holes that construction leaves in
// the allocator's segments are used again later.
#include <algorithm>

#include "core/models/builder.hpp"

namespace ledger::models {

Tensor Builder::parameter(const char* path, Shape shape, const char* what) {
  const Within here(tape_, tape_.place(path));
  Tensor made =
      tape_.parameter(shape, dtype_, std::string_view(what) == "weight" ? model_.what : what);
  model_.parameters.push_back(made);
  return made;
}

void Builder::linear(ops::Linear& made, const char* path, Count in, Count out, bool bias,
                     ops::Linear::Kind kind) {
  made.place = tape_.place(path);
  made.layer = tape_.current_layer();
  made.shape = tape_.shape({out, in});
  made.kind = kind;
  const bool conv1d = kind == ops::Linear::Kind::kConv1D;
  made.weight = parameter(path, conv1d ? tape_.shape({in, out}) : made.shape);
  if (bias) made.bias = parameter(path, tape_.shape({out}), "bias");
  model_.linears.push_back(&made);
  model_.adapted.push_back({&made.adapters, model_.parameters.size()});
}

// A linear's weight in a module of its own kind: not found where nn.Linear is looked for.
void Builder::router(ops::Linear& made, const char* path, Shape shape, bool bias) {
  made.place = tape_.place(path);
  made.layer = tape_.current_layer();
  made.shape = shape;
  made.weight = parameter(path, shape);
  if (bias) made.bias = parameter(path, tape_.shape({shape[0]}), "bias");
  model_.adapted.push_back({&made.adapters, model_.parameters.size()});
}

void Builder::stacked(ops::Stacked& made, const char* path, Shape shape) {
  made.place = tape_.place(path);
  made.layer = tape_.current_layer();
  made.shape = shape;
  made.weight = parameter(path, shape);
  model_.adapted.push_back({&made.adapters, model_.parameters.size()});
}

void Builder::norm(Norm& made, const char* path, Count width, bool bias) {
  made.place = tape_.place(path);
  made.weight = parameter(path, tape_.shape({width}));
  if (bias) made.bias = parameter(path, tape_.shape({width}), "bias");
}

void Builder::layer_norm(Norm& made, const char* path, Count width) {
  if (config().norm_weights) return norm(made, path, width, true);
  made.place = tape_.place(path);
}

void Builder::move_last_to(std::size_t count) {
  std::vector<Tensor>& p = model_.parameters;
  std::rotate(p.begin() + static_cast<std::ptrdiff_t>(count), p.end() - 1, p.end());
  for (AdapterSlot& slot : model_.adapted) {
    if (slot.after > count && slot.after < p.size()) ++slot.after;
  }
}

void Builder::buffer(Shape shape, Dtype dtype, const char* what) {
  model_.buffers.push_back(tape_.make(shape, dtype, what, Role::kBuffer));
}

void make_attention(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const Count query_width = c.heads * c.head_width;
  const Count key_width = c.key_value_heads * c.head_width;
  const bool bias = c.query_key_value_bias;
  Attention& a = layer.self_attn;
  b.linear(a.q_proj, "layers.*.self_attn.q_proj", c.hidden, query_width, bias);
  b.linear(a.k_proj, "layers.*.self_attn.k_proj", c.hidden, key_width, bias);
  b.linear(a.v_proj, "layers.*.self_attn.v_proj", c.hidden, key_width, bias);
  b.linear(a.o_proj, "layers.*.self_attn.o_proj", query_width, c.hidden, c.output_bias);
  if (c.query_key_norm) {
    b.norm(a.q_norm, "layers.*.self_attn.q_norm", c.head_width);
    b.norm(a.k_norm, "layers.*.self_attn.k_norm", c.head_width);
  }
}

void make_mlp(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  Mlp& mlp = layer.mlp;
  b.linear(mlp.gate_proj, "layers.*.mlp.gate_proj", c.hidden, c.feed_forward, c.mlp_bias);
  b.linear(mlp.up_proj, "layers.*.mlp.up_proj", c.hidden, c.feed_forward, c.mlp_bias);
  b.linear(mlp.down_proj, "layers.*.mlp.down_proj", c.feed_forward, c.hidden, c.mlp_bias);
}

void make_layer_norms(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  b.norm(layer.input_layernorm, "layers.*.input_layernorm", c.hidden, c.norm_bias);
  b.norm(layer.post_attention_layernorm, "layers.*.post_attention_layernorm", c.hidden,
         c.norm_bias);
}

void make_llama_layer(Builder& b, DecoderLayer& layer) {
  make_attention(b, layer);
  make_mlp(b, layer);
  make_layer_norms(b, layer);
}

void make_embedding(Builder& b, Decoder& model) {
  const DecoderConfig& c = b.config();
  model.embed_tokens =
      b.parameter("embed_tokens", b.tape().shape({c.vocabulary, c.embedding_width}));
}

void make_norm_and_tables(Builder& b, Decoder& model) {
  b.norm(model.norm, "norm", b.config().hidden, b.config().norm_bias);
  make_rotary_buffers(b.tape(), model);
  initialise_rotary_buffers(b.tape(), model);
}

void build(Tape& t, Decoder& model, Dtype dtype) {
  model.dtype = dtype;
  Builder b(t, model, dtype);
  const DecoderConfig& c = model.config;
  c.blocks.make_stem(b, model);
  model.layers.resize(static_cast<std::size_t>(c.layers.value()));  // layers stay where they are
  std::int16_t index = 0;
  for (DecoderLayer& layer : model.layers) {
    layer.model = &model;
    layer.index = index++;
    layer.place = t.place("layers.*");
    layer.self_attn.place = t.place("layers.*.self_attn");
    layer.mlp.place = layer.mixture.place = t.place("layers.*.mlp");
    const Within here(t, layer.place, layer.index);
    c.blocks.make_layer(b, layer);
    if (layer.mixture.gate_up_proj.weight) model.mixtures.push_back(&layer.mixture);
  }
  c.blocks.make_top(b, model);
  if (model.scores) {
    b.linear(model.lm_head, "score", c.hidden, 1, false);
    return;
  }
  // A tied head is made too, then dropped for the embedding.
  b.linear(model.lm_head, "lm_head", c.embedding_width, c.vocabulary, c.head_bias);
  if (c.tied) {
    model.parameters.erase(model.parameters.end() - (c.head_bias ? 2 : 1));
    model.lm_head.weight = model.embed_tokens;
  }
}

}  // namespace ledger::models
