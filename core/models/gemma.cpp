// gemma: a norm that works in 32 bit to its end, an embedding that is scaled, wide heads.
// Source: transformers models/gemma/modeling_gemma.py.
#include "core/models/gemma.hpp"

#include "core/models/builder.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/embedding.hpp"

namespace ledger::models {
namespace {

Tensor normalised(Tape& t, Tensor x) {
  Tensor squares = ops::square(t, x);
  Tensor variance = ops::mean_last(t.as("variance"), std::move(squares));
  Tensor shifted = ops::add_constant(t, std::move(variance));
  Tensor scale = ops::rsqrt(t.as("reciprocal root of the variance"), std::move(shifted));
  return ops::mul(t.as("normalised in 32 bit"), x, std::move(scale));
}

}  // namespace

Tensor gemma_norm(Tape& t, const Norm& norm, Tensor x) {
  const Within here(t, norm.place);
  Tensor wide = ops::to(t.as("norm's input in 32 bit"), x, Dtype::kFloat32);
  Tensor output = normalised(t, std::move(wide));
  Tensor weight = ops::to(t.as("norm's weight in 32 bit"), norm.weight, Dtype::kFloat32);
  Tensor shifted = ops::add_constant(t.as("norm's weight plus one"), std::move(weight));
  output = ops::mul(t.as("norm's output in 32 bit"), output, std::move(shifted));
  return ops::to(t.as("norm's output"), output, x.dtype());
}

void make_scaled_embedding(Builder& b, Decoder& model) {
  make_embedding(b, model);
  const Within here(b.tape(), b.tape().place("embed_tokens"));
  b.buffer(b.tape().shape({1}), model.dtype, "scale of the embedding");
}

Tensor embed_scaled(Tape& t, const Decoder& model, const Tensor& ids) {
  const Within here(t, t.place("embed_tokens"));
  return embedded_tokens(t, model, ids, model.buffers[0]);
}

DecoderConfig configure_gemma(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = common_config(config, workings);
  c.query_key_value_bias = c.output_bias = config.flag("attention_bias");
  c.blocks.norm = gemma_norm;
  c.blocks.make_stem = make_scaled_embedding;
  c.blocks.embed = embed_scaled;
  return c;
}

}  // namespace ledger::models
