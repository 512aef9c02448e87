// What the types with linear attention share around their layers: weights, masks, tables, widths.
#include <string>

#include "core/models/delta_net.hpp"
#include "core/models/gemma.hpp"
#include "core/models/mixture.hpp"
#include "core/ops/cast.hpp"

namespace ledger::models {
namespace {

void make_delta_layer(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  c.delta.linear[static_cast<std::size_t>(layer.index)] ? make_delta_net(b, layer)
                                                        : make_gated_attention(b, layer);
  c.mixture.sparse.empty() ? make_mlp(b, layer) : make_feed_forward(b, layer);
  make_layer_norms(b, layer);
}

// Positions of three grids, which are the same for text.
RotaryTables grid_tables(Tape& t, Count batch, Count length, Count width, Dtype dtype) {
  const Within here(t, t.place("rotary_emb"), -1);
  const NoGrad no_grad(t);
  const Shape grids = t.shape({3, batch, length, width / 2});
  const Shape shape = t.shape({batch, length, width});
  Tensor positions =
      t.scratch(t.shape({3, batch, 1, length}), Dtype::kFloat32, "positions in 32 bit");
  Tensor angles = t.output(grids, Dtype::kFloat32, "angles of three grids");
  Tensor cos = t.output(grids, Dtype::kFloat32, "cos");
  cos = t.output(grids, Dtype::kFloat32, "cos, scaled");
  Tensor sin = t.output(grids, Dtype::kFloat32, "sin");
  sin = t.output(grids, Dtype::kFloat32, "sin, scaled");
  sin = t.output(shape, Dtype::kFloat32, "sin, twice side by side");
  cos = t.output(shape, Dtype::kFloat32, "cos, twice side by side");
  Tensor cos_table = ops::to(t.as("cos table"), cos, dtype);
  Tensor sin_table = ops::to(t.as("sin table"), sin, dtype);
  return {std::move(cos_table), std::move(sin_table)};
}

// Linear layers take the attention_mask itself, where it is not all ones.
Tensor padding_mask(Tape& t, const Tensor& padding) {
  if (!padding || padding.dim(1).value() == 1) return {};
  const Within here(t, t.place("linear_mask"), -1);
  Tensor equal = t.bytes(padding.shape().elements(), "tokens that count");
  Tensor all = t.bytes(1, "whether all tokens count");
  return padding;
}

Prepared prepare(Tape& t, const Decoder& model, const Inputs& in) {
  const DecoderConfig& c = model.config;
  Prepared at;
  at.embedded = c.blocks.embed(t, model, in.ids);
  at.positions = position_ids(t, in);
  MaskRequest request;
  request.eager = model.options.eager;
  at.masks.full = causal_mask(t, at.embedded, in, request);
  at.masks.windowed = padding_mask(t, in.attention_mask);
  at.hidden = at.embedded;
  const Dtype dtype = at.embedded.dtype();
  at.tables = c.delta.grids ? grid_tables(t, in.ids.dim(0), in.ids.dim(1), c.rotary_width, dtype)
                            : c.blocks.tables(t, in.ids.dim(1), c.rotary_width, dtype);
  return at;
}

}  // namespace

void make_gated_attention(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const Count query_width = c.heads * c.head_width;
  const Count key_width = c.key_value_heads * c.head_width;
  const bool bias = c.query_key_value_bias;
  Attention& a = layer.self_attn;
  b.linear(a.q_proj, "layers.*.self_attn.q_proj", c.hidden, Count(2) * query_width, bias);
  b.linear(a.k_proj, "layers.*.self_attn.k_proj", c.hidden, key_width, bias);
  b.linear(a.v_proj, "layers.*.self_attn.v_proj", c.hidden, key_width, bias);
  b.linear(a.o_proj, "layers.*.self_attn.o_proj", query_width, c.hidden, c.output_bias);
  b.norm(a.q_norm, "layers.*.self_attn.q_norm", c.head_width);
  b.norm(a.k_norm, "layers.*.self_attn.k_norm", c.head_width);
}

void make_delta_net(Builder& b, DecoderLayer& layer) {
  const DecoderConfig& c = b.config();
  const DeltaConfig& d = c.delta;
  DeltaNet& net = layer.linear_attn;
  Tape& t = b.tape();
  net.place = t.place("layers.*.linear_attn");
  const Count keys = d.key_heads * d.key_width, values = d.value_heads * d.value_width;
  const std::size_t before = b.parameter_count();
  const Count channels = Count(2) * keys + values;
  net.conv1d = b.parameter("layers.*.linear_attn.conv1d", t.shape({channels, 1, d.kernel}));
  if (d.joint) {
    b.linear(net.in_proj_qkv, "layers.*.linear_attn.in_proj_qkvz", c.hidden,
             Count(2) * keys + Count(2) * values, false);
    b.linear(net.in_proj_b, "layers.*.linear_attn.in_proj_ba", c.hidden, Count(2) * d.value_heads,
             false);
  }
  const Shape heads = t.shape({d.value_heads});
  net.dt_bias = b.parameter("layers.*.linear_attn.dt_bias", heads);
  b.move_last_to(before);
  {
    Tensor rates = t.make(heads, b.dtype(), "rates of the decay", Role::kScratch);
    net.A_log = b.parameter("layers.*.linear_attn.A_log", heads);
    b.move_last_to(before + 1);
    b.norm(net.norm, "layers.*.linear_attn.norm", d.value_width);
    b.linear(net.out_proj, "layers.*.linear_attn.out_proj", values, c.hidden, false);
    if (!d.joint) {
      b.linear(net.in_proj_qkv, "layers.*.linear_attn.in_proj_qkv", c.hidden, channels, false);
      b.linear(net.in_proj_z, "layers.*.linear_attn.in_proj_z", c.hidden, values, false);
      b.linear(net.in_proj_b, "layers.*.linear_attn.in_proj_b", c.hidden, d.value_heads, false);
      b.linear(net.in_proj_a, "layers.*.linear_attn.in_proj_a", c.hidden, d.value_heads, false);
    }
  }
}

void configure_delta(DecoderConfig& c, const ModelConfig& config, Workings& w) {
  DeltaConfig& d = c.delta;
  d.key_heads = w.named("H_k", config.number("linear_num_key_heads"));
  d.value_heads = w.named("H_v", config.number("linear_num_value_heads"));
  d.key_width = w.named("d_k", config.number("linear_key_head_dim"));
  d.value_width = w.named("d_v", config.number("linear_value_head_dim"));
  d.kernel = config.number("linear_conv_kernel_dim");
  d.linear.assign(c.windowed.size(), false);
  const auto types = config.lists.find("layer_types");
  for (std::size_t i = 0; i < d.linear.size(); ++i) {
    d.linear[i] = types != config.lists.end() && i < types->second.size()
                      ? types->second[i] == "linear_attention"
                      : (i + 1) % 4 != 0;
  }
  c.windowed = d.linear;  // they take the second mask
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  rotate_partly(c, config, w);
  c.blocks.make_layer = make_delta_layer;
  c.blocks.norm = gemma_norm;
  c.blocks.attention = gated_attention;
  c.blocks.prepare = prepare;
}

}  // namespace ledger::models
