// phimoe: layer norms with biases; two experts a token, each drawn at random among those near the
// largest score, with an estimate of the draw's gradient (SparseMixer).
// Source: transformers models/phimoe/modeling_phimoe.py.
#include "core/models/mixture.hpp"
#include "core/ops/attention.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/sparse_mixer.hpp"

namespace ledger::models {
namespace {

void make_layer(Builder& b, DecoderLayer& layer) {
  make_attention(b, layer);
  make_router(b, layer, "layers.*.mlp.router");
  make_experts(b, layer);
  make_layer_norms(b, layer);
}

// Names of the router that are bound twice.
struct Locals {
  Tensor far;                // whether an expert's score is too far below the largest
  Tensor largest, position;  // the largest of each row and where it stands
  Tensor factor;
};

// Binds `far` and `factor` anew. The largest of `among` stands in `far` meanwhile.
void find_far(Tape& t, const Tensor& among, const Tensor& scores, Locals& l) {
  const NoGrad no_grad(t);
  ops::TopK largest = ops::maximum(t, among);
  l.far = std::move(largest.values);
  l.position = std::move(largest.indices);
  {
    Tensor absolute = t.output(scores.shape(), scores.dtype(), "absolute scores");
    Tensor scale = t.output(scores.shape(), scores.dtype(), "scale of the scores");
    absolute.reset();
    l.factor = std::move(scale);
  }
  Tensor distance = t.output(scores.shape(), scores.dtype(), "distance to the largest");
  Tensor relative = t.output(scores.shape(), scores.dtype(), "relative distance to the largest");
  distance.reset();
  Tensor far = t.output(scores.shape(), Dtype::kBool, "experts too far from the largest");
  relative.reset();
  l.far = std::move(far);
}

void find_largest(Tape& t, const Tensor& gates, Locals& l) {
  ops::TopK largest = ops::maximum(t, gates);
  l.largest = std::move(largest.values);
  l.position = std::move(largest.indices);
}

// The draw: the largest of the scores with noise.
Tensor drawn(Tape& t, const Tensor& gates) {
  Tensor noisy = ops::perturbed(t, gates);
  ops::TopK largest = ops::maximum(t, std::move(noisy));
  return largest.indices;
}

// One where the drawn expert is the largest or by chance, else a third.
Tensor kept(Tape& t, const Tensor& drawn, Dtype dtype) {
  Tensor mask;
  {
    Tensor equal = t.output(drawn.shape(), Dtype::kBool, "whether the drawn is the largest");
    Tensor random = t.output(drawn.shape(), dtype, "random numbers");
    Tensor above = t.output(drawn.shape(), Dtype::kBool, "whether a random number is large");
    random.reset();
    mask = t.output(drawn.shape(), Dtype::kBool, "either");
  }
  Tensor wide = t.output(drawn.shape(), Dtype::kFloat32, "factor of the weights");
  return ops::to(t, wide, dtype);
}

Routing route(Tape& t, const DecoderLayer& layer, const Tensor& rows) {
  const ops::Linear& router = layer.mixture.router;
  const Within here(t, router.place);
  Tensor scores = ops::matrix_product(t.as("router logits"), rows, router.weight, {});
  Locals l;
  find_far(t, scores, scores, l);
  Tensor gates = ops::mask_rows(t.as("scores near the largest"), scores, l.far);
  Tensor first = drawn(t, gates);
  gates = ops::softmax_of_no_type(t, gates);
  Tensor gate_of_first = ops::gather(t, gates, first);
  find_largest(t, gates, l);
  Tensor factors_of_first = kept(t, first, gates.dtype());
  Tensor weight_of_first = ops::estimated_product(t, scores, gate_of_first, first, gates);

  Tensor masked_scores = ops::fill_at(t.as("scores without the first"), scores, first);
  find_far(t, masked_scores, scores, l);
  Tensor gates_of_second = ops::mask_rows(t.as("scores near the second"), masked_scores, l.far);
  Tensor second = drawn(t, gates_of_second);
  gates_of_second = ops::softmax_of_no_type(t, gates_of_second);
  Tensor gate_of_second = ops::gather(t, gates_of_second, second);
  find_largest(t, gates_of_second, l);
  Tensor factors_of_second = kept(t, second, gates_of_second.dtype());
  Tensor weight_of_second =
      ops::estimated_product(t, scores, gate_of_second, second, gates_of_second);

  Tensor weights =
      ops::concatenate(t.as("weights of both"), std::move(weight_of_first), weight_of_second);
  Tensor experts = t.output(weights.shape(), Dtype::kInt64, "both drawn experts");
  return {std::move(scores), std::move(weights), std::move(experts)};
}

// The tables, whose inverse frequencies are computed anew on the host for every forward pass.
RotaryTables tables(Tape& t, Count length, Count width, Dtype dtype) {
  const Within here(t, t.place("rotary_emb"), -1);
  Tensor last = t.output(t.shape({1}), Dtype::kInt64, "last position");
  Tensor positions = t.output(t.shape({1}), Dtype::kInt64, "number of positions");
  last.reset();
  Tensor frequencies = t.output(t.shape({width / 2}), Dtype::kFloat32, "inverse frequencies");
  return rotary_tables(t, length, width, dtype);
}

}  // namespace

DecoderConfig configure_phimoe(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  c.head_bias = config.flag("lm_head_bias");
  c.norm_bias = true;
  const double window = config.number_or("sliding_window", 0);
  if (window > 0) {
    c.window = workings.letter(Letter::w, window);
    c.windowed.assign(c.windowed.size(), true);
  }
  c.mixture = mixture_config(c, config, workings, "num_local_experts", "intermediate_size");
  c.mixture.route = route;
  c.blocks.make_layer = make_layer;
  c.blocks.norm = layer_norm;
  c.blocks.tables = tables;
  c.blocks.feed_forward = routed_feed_forward;
  return c;
}

}  // namespace ledger::models
