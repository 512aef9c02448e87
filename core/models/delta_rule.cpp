// The gated delta rule by chunks of the sequence, statement by statement as in transformers
// (models/qwen3_next, torch_chunk_gated_delta_rule): products inside the chunks at once, then a
// scan over them that keeps every state for the backward pass.
#include "core/models/delta_net.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/linear_attention.hpp"
#include "core/ops/routing.hpp"

namespace ledger::models {
namespace {

constexpr double kChunk = 64;  // tokens

// x / |x|: by a product with the reciprocal root.
Tensor l2_norm(Tape& t, const Tensor& x) {
  Tensor squares = ops::mul(t.as("squares"), x, x);
  Tensor sum = ops::sum_rows(t, std::move(squares));
  Tensor shifted = ops::add_constant(t, std::move(sum));
  Tensor scale = ops::rsqrt(t.as("reciprocal norm"), std::move(shifted));
  return ops::mul(t.as("normalised"), x, scale);
}

Tensor heads_first(Tape& t, const Tensor& x) {
  return ops::to_in_order(t.as("heads first, in 32 bit"), ops::transpose(t, x), Dtype::kFloat32);
}

// [B,T,H] as [B,H,T,1].
Tensor numbers_first(Tape& t, const Tensor& x) {
  Tensor column = ops::as_column(t, x);
  return ops::to_in_order(t.as("heads first, in 32 bit"), ops::transpose(t, column),
                          Dtype::kFloat32);
}

// What the scan reads: tensors by chunk.
struct Chunks {
  Tensor query, key, new_values, decayed_keys, attention, decay;
};

// One step of the scan: the output of a chunk, and the state behind it.
struct Step {
  Tensor output, state, new_value, read;
};

void scan_chunk(Tape& t, const Chunks& c, Step& step) {
  {
    Tensor values = ops::select(t, c.new_values);
    Tensor keys = ops::select(t, c.decayed_keys);
    Tensor predicted =
        ops::batched_product(t.as("values that the state predicts"), keys, step.state, false);
    step.new_value = ops::subtract(t.as("new values"), std::move(values), std::move(predicted));
  }
  step.read =
      ops::batched_product(t.as("read of the state"), ops::select(t, c.query), step.state, false);
  {
    Tensor inside = ops::batched_product(t.as("attention inside the chunk"),
                                         ops::select(t, c.attention), step.new_value, false);
    Tensor sum = ops::add(t.as("output of the chunk"), step.read, std::move(inside));
    step.output = ops::copy_into_slice(t, step.output, std::move(sum));
  }
  Tensor decayed = ops::mul(t.as("state, decayed"), step.state, ops::select(t, c.decay));
  Tensor keys = ops::turn(t, ops::select(t, c.key));
  Tensor update =
      ops::batched_product(t.as("update of the state"), std::move(keys), step.new_value, false);
  step.state = ops::add(t.as("state"), std::move(decayed), std::move(update));
}

}  // namespace

Tensor chunked_delta_rule(Tape& t, Tensor query, Tensor key, Tensor value, const Tensor& g,
                          const Tensor& b) {
  const Dtype dtype = query.dtype();
  const Count batch = key.dim(0), length = key.dim(1), heads = value.dim(2);
  const Count key_width = key.dim(3), value_width = value.dim(3);
  query = heads_first(t, query);
  key = heads_first(t, key);
  value = heads_first(t, value);
  Tensor beta = numbers_first(t, b);
  Tensor decay = numbers_first(t, g);
  query = l2_norm(t, query);
  key = l2_norm(t, key);
  query = ops::mul_constant(t.as("queries, scaled"), query);

  const Count padded = round_up(length, kChunk), chunks = padded / kChunk;
  {
    Tensor padded_query = ops::pad_tokens(t, query, padded);
    Tensor padded_key = ops::pad_tokens(t, key, padded);
    Tensor padded_value = ops::pad_tokens(t, value, padded);
    query = std::move(padded_query);
    key = std::move(padded_key);
    value = std::move(padded_value);
  }
  {
    Tensor padded_beta = ops::pad_tokens(t, beta, padded);
    Tensor padded_decay = ops::pad_tokens(t, decay, padded);
    beta = std::move(padded_beta);
    decay = std::move(padded_decay);
  }
  Tensor v_beta = ops::mul(t.as("values times beta"), value, ops::unsqueezed(t, beta));
  Tensor k_beta = ops::mul(t.as("keys times beta"), key, ops::unsqueezed(t, beta));
  query = ops::into_chunks(t, query, kChunk);
  key = ops::into_chunks(t, key, kChunk);
  k_beta = ops::into_chunks(t, k_beta, kChunk, true);
  v_beta = ops::into_chunks(t, v_beta, kChunk, true);
  decay = ops::into_chunks(t, decay, kChunk);

  const Shape square = t.shape({kChunk, kChunk});
  Tensor mask = t.output(square, Dtype::kBool, "all true");
  mask = t.output(square, Dtype::kBool, "tokens that come later in the chunk");
  Tensor cumulative = ops::running_sum_last(t.as("decay, summed in the chunk"), decay);
  const Shape row = t.shape({batch * heads, chunks, 1, kChunk});
  Tensor pairwise = ops::subtract_each(t, ops::reshape(t, cumulative, cumulative.shape()),
                                       ops::reshape(t, cumulative, row));
  pairwise = ops::mask_rows(t, pairwise, mask);
  pairwise = ops::exponential(t.as("decay between tokens"), pairwise);

  Tensor system, attention;
  {
    Tensor product = ops::batched_product(t.as("keys times keys"), k_beta, key, true);
    system = ops::mul(t.as("triangular system"), std::move(product), pairwise);
  }
  {
    Tensor product = ops::batched_product(t.as("queries times keys"), query, key, true);
    attention = ops::mul(t.as("attention inside the chunks"), std::move(product), pairwise);
  }
  Tensor decayed_k_beta;
  {
    Tensor factor = ops::exponential(t.as("decay since the chunk began"), cumulative);
    decayed_k_beta = ops::mul(t.as("keys times beta, decayed"), k_beta, std::move(factor));
  }
  Chunks c;
  c.new_values = ops::solve_triangular(t.as("new values of all chunks"), system, v_beta);
  c.decayed_keys = ops::solve_triangular(t.as("keys that read the state"), system, decayed_k_beta);
  Step step;
  step.state =
      t.output(t.shape({batch * heads, 1, key_width, value_width}), Dtype::kFloat32, "state");
  step.output = t.output(c.new_values.shape(), Dtype::kFloat32, "output by chunks");
  {
    Tensor factor = ops::exponential(t.as("decay since the chunk began"), cumulative);
    query = ops::mul(t.as("queries, decayed"), query, std::move(factor));
  }
  {
    Tensor rest = ops::subtract(t, ops::select_last(t, cumulative), cumulative);
    Tensor factor = ops::exponential(t.as("decay to the chunk's end"), std::move(rest));
    key = ops::mul(t.as("keys, decayed"), key, std::move(factor));
  }
  c.decay = ops::exponential(t.as("decay over a chunk"), ops::select_last(t, cumulative));
  c.query = std::move(query);
  c.key = std::move(key);
  c.attention = std::move(attention);
  const auto count = static_cast<std::int64_t>(chunks.value());
  for (std::int64_t i = 0; i < count; ++i) scan_chunk(t, c, step);
  step.state.reset();
  Tensor output = ops::out_of_chunks(t, step.output, t.shape({batch, heads, padded, value_width}));
  step.output.reset();
  if (padded.value() != length.value()) output = ops::narrow_tokens(t, output, length);
  output = ops::transpose(t, output);
  return ops::to_in_order(t.as("output of linear attention"), std::move(output), dtype);
}

}  // namespace ledger::models
