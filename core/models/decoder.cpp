// The forward pass around the layers: embedding, masks, tables, layers, final norm, head, loss.
#include "core/models/decoder.hpp"

#include "core/models/cache.hpp"

#include "core/ops/adapted_embedding.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/embedding.hpp"
#include "core/ops/layout.hpp"
#include "core/ops/loss.hpp"

namespace ledger::models {
namespace {

// A layer as checkpointing calls it.
RegionOutput run_layer(Tape& t, const void* context, const std::vector<Tensor>& arguments) {
  const DecoderLayer& layer = *static_cast<const DecoderLayer*>(context);
  const Within here(t, layer.place, layer.index);
  LayerInputs in{arguments[0], arguments[1], arguments[2],
                 arguments[3], arguments[4], arguments[5]};
  const Blocks& blocks = layer.model->config.blocks;
  const std::optional<Wrapping>& wrapping = layer.model->wrapping;
  // Of the inputs only rotary tables can be of another type: olmo2's. Complex ones stay.
  if (wrapping && wrapping->inputs && in.sin) {
    in.cos = ops::to(t.as("cos in the weights' type"), in.cos, *wrapping->inputs);
    in.sin = ops::to(t.as("sin in the weights' type"), in.sin, *wrapping->inputs);
  }
  if (wrapping) wrapping->enter(wrapping->context, layer.index, in.hidden);
  RegionOutput out;
  if (blocks.layer_with_weights) {
    out = blocks.layer_with_weights(t, layer, in);
  } else {
    out.result = blocks.layer(t, layer, in);
  }
  if (wrapping) wrapping->leave(wrapping->context, layer.index, out.result);
  return out;
}

RegionOutput through_layer(Tape& t, const Decoder& model, const DecoderLayer& layer,
                           std::vector<Tensor> arguments) {
  // Nothing is forgotten where nothing would be kept.
  switch (t.grad_enabled() ? model.options.checkpointing : RunOptions::Checkpointing::kOff) {
    case RunOptions::Checkpointing::kOff: break;
    case RunOptions::Checkpointing::kNonReentrant:
      return t.checkpoint(run_layer, &layer, std::move(arguments));
    case RunOptions::Checkpointing::kReentrant:
      return t.checkpoint_reentrant(run_layer, &layer, std::move(arguments));
  }
  return run_layer(t, &layer, arguments);
}

// Without checkpointing, and with a cache.
Tensor next_hidden(Tape& t, const DecoderLayer& layer, LayerInputs in) {
  const Within here(t, layer.place, layer.index);
  return layer.model->config.blocks.layer(t, layer, in);
}

Tensor body(Tape& t, const Decoder& model, const Inputs& in) {
  const DecoderConfig& c = model.config;
  Prepared at = c.blocks.prepare(t, model, in);
  Tensor hidden = std::move(at.hidden);
  RegionOutput output;
  for (const DecoderLayer& layer : model.layers) {
    const bool windowed = c.windowed[static_cast<std::size_t>(layer.index)];
    const RotaryTables& tables = windowed && at.local_tables.cos ? at.local_tables : at.tables;
    if (in.cache) {
      hidden = next_hidden(t, layer,
                           {hidden,
                            tables.cos,
                            tables.sin,
                            windowed ? at.masks.windowed : at.masks.full,
                            at.positions,
                            {},
                            in.cache});
      continue;
    }
    output = through_layer(t, model, layer,
                           {hidden, tables.cos, tables.sin,
                            windowed ? at.masks.windowed : at.masks.full, at.positions, at.alibi});
    hidden = std::move(output.result);
  }
  if (model.wrapping) model.wrapping->enter(model.wrapping->context, Wrapping::kHead, hidden);
  return c.blocks.finish(t, model, std::move(hidden));
}

}  // namespace

Tensor embedded_tokens(Tape& t, const Decoder& model, const Tensor& ids, const Tensor& scale) {
  Tensor embedded;
  if (model.trained_rows) {
    Tensor weight = ops::with_rows(t, model.embed_tokens, model.trained_rows);
    embedded = ops::embedding(t, ids, std::move(weight));
  } else {
    embedded = ops::embedding(t, ids, model.embed_tokens);
  }
  if (scale) {
    Tensor factor = ops::to(t, scale, embedded.dtype());
    embedded = ops::mul(t.as("embedded tokens, scaled"), embedded, std::move(factor));
  }
  if (!model.embedding_adapters.empty()) {
    embedded = ops::adapted_embedding(t, model.embedding_adapters, ids, std::move(embedded), scale);
  }
  // enable_input_require_grads: a leaf, unless the embedding is trained and so has a history.
  if (model.options.input_gradients && !embedded.needs_grad()) t.make_leaf(embedded);
  return embedded;
}

Tensor embed_tokens(Tape& t, const Decoder& model, const Tensor& ids) {
  const Within here(t, t.place("embed_tokens"));
  return embedded_tokens(t, model, ids, {});
}

Tensor position_ids(Tape& t, Count length) {
  Tensor range = t.make(t.shape({1, length}), Dtype::kInt64, "position ids", Role::kInput);
  return t.make(t.shape({1, length}), Dtype::kInt64, "position ids", Role::kInput);
}

Tensor position_ids(Tape& t, const Inputs& in) {
  return in.position_ids ? in.position_ids : position_ids(t, in.ids.dim(1));
}

namespace {

// The first layer whose attention looks back on a window, or on everything; -1: none.
int first_layer(const Flags& windowed, bool wanted) {
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    if ((windowed[i] != 0) == wanted) return static_cast<int>(i);
  }
  return -1;
}

// For new tokens beside those in the cache: one byte for each pair.
Tensor cached_mask(Tape& t, const Decoder& model, const Tensor& embedded, const Inputs& in,
                   int layer) {
  const Within here(t, t.place("causal_mask"), -1);
  const Count batch = embedded.dim(0), tokens = embedded.dim(1);
  const Count keys = in.cache->seen(static_cast<std::int16_t>(layer), tokens);
  Tensor causal = t.output(t.shape({1, 1, tokens, keys}), Dtype::kBool, "causal mask");
  Tensor padding = t.output(t.shape({batch, 1, 1, keys}), Dtype::kBool, "padding of the keys");
  Tensor mask = t.output(t.shape({batch, 1, tokens, keys}), Dtype::kBool, "causal mask, combined");
  causal.reset();
  padding.reset();
  if (!model.options.eager) return mask;
  return t.output(mask.shape(), embedded.dtype(), "additive causal mask");
}

}  // namespace

Masks make_masks(Tape& t, const Decoder& model, const Tensor& embedded, const Inputs& in) {
  const DecoderConfig& c = model.config;
  bool some_full = c.always_full_mask, some_windowed = c.always_windowed_mask;
  for (const bool windowed : c.windowed) (windowed ? some_windowed : some_full) = true;
  Masks masks;
  const Count tokens = embedded.dim(1);
  if (in.cache && in.cache->length.value() > tokens.value()) {
    // Only what one token is asked for, of all that is in the cache, needs no mask.
    const bool asks = in.padded || model.options.eager || tokens.value() > 1;
    const auto full = first_layer(c.windowed, false), windowed = first_layer(c.windowed, true);
    const bool fixed = in.cache->static_length.value() > 0;
    if (full >= 0 && (asks || fixed)) masks.full = cached_mask(t, model, embedded, in, full);
    const bool in_force = in.cache->length.value() >= c.window.value();
    if (windowed >= 0 && (asks || fixed || in_force)) {
      masks.windowed = cached_mask(t, model, embedded, in, windowed);
    }
    if (masks.full || masks.windowed) return masks;
  }
  MaskRequest request;
  request.eager = model.options.eager;
  request.tests_packing = c.masks_test_packing;
  request.always = c.mask_always_made;
  if (some_full) masks.full = causal_mask(t, embedded, in, request);
  request.windowed = true;
  request.chunked = c.chunked;
  request.window = c.window;
  if (some_windowed) masks.windowed = causal_mask(t, embedded, in, request);
  return masks;
}

namespace {

// Rotary types whose frequencies follow the length ask the device how far positions go, and keep
// the frequencies up to where they were made for.
// Source: transformers modeling_rope_utils.py, dynamic_rope_update.
void measure_positions(Tape& t, const Decoder& model) {
  const std::string_view rope_type = model.config.rope_type;
  if (rope_type != "longrope" && rope_type != "dynamic") return;
  const Within here(t, t.place("rotary_emb"), -1);
  const NoGrad no_grad(t);
  Tensor last = t.output(t.shape({1}), Dtype::kInt64, "last position");
  Tensor length = t.output(t.shape({1}), Dtype::kInt64, "number of positions");
  last.reset();
  Tensor beyond = t.output(t.shape({1}), Dtype::kBool, "whether positions go further");
  beyond.reset();
  if (rope_type == "dynamic") {
    beyond = t.output(t.shape({1}), Dtype::kBool, "whether they came back");
  } else {
    model.buffers[0] = model.buffers[1];  // the original frequencies, registered anew
  }
}

}  // namespace

Prepared prepare_decoder(Tape& t, const Decoder& model, const Inputs& in) {
  const DecoderConfig& c = model.config;
  Prepared at;
  const std::optional<Wrapping>& wrapping = model.wrapping;
  Tensor none;
  if (wrapping) wrapping->enter(wrapping->context, Wrapping::kEmbedding, none);
  at.embedded = c.blocks.embed(t, model, in.ids);
  if (wrapping) wrapping->leave(wrapping->context, Wrapping::kEmbedding, at.embedded);
  at.positions = position_ids(t, in);
  at.masks = make_masks(t, model, at.embedded, in);
  at.hidden = at.embedded;
  measure_positions(t, model);
  const Count length = in.ids.dim(1);
  at.tables =
      in.cache ? rotary_tables(t, at.positions.dim(0), length, c.rotary_width, at.embedded.dtype())
               : c.blocks.tables(t, length, c.rotary_width, at.embedded.dtype());
  return at;
}

Tensor final_norm(Tape& t, const Decoder& model, Tensor hidden) {
  return model.config.blocks.norm(t, model.norm, std::move(hidden));
}

Tensor project_logits(Tape& t, const Decoder& model, Tensor hidden) {
  if (model.rows_of_head) {
    const Within here(t, model.lm_head.place);
    Tensor weight = ops::with_rows(t, model.lm_head.weight, model.trained_rows);
    return ops::matrix_product(t.as("logits"), std::move(hidden), std::move(weight), {});
  }
  return ops::linear(t.as("logits"), model.lm_head, std::move(hidden));
}

Tensor backbone(Tape& t, const Decoder& model, const Inputs& in) {
  const Within here(t, t.place("model"), -1);
  return body(t, model, in);
}

Tensor logits_of(Tape& t, const Decoder& model, const Inputs& in) {
  const Within here(t, t.place("model"), -1);
  Tensor hidden = body(t, model, in);
  return model.config.blocks.head(t, model, std::move(hidden));
}

namespace {

std::vector<Tensor> chunked_logits(Tape& t, const Decoder& model, const Inputs& in, double chunks) {
  Tensor hidden = body(t, model, in);
  const Count tokens = ceil_div(hidden.dim(1), Count(chunks));
  std::vector<Tensor> parts = ops::chunks_of(t, hidden, tokens);
  std::vector<Tensor> logits;
  for (const Tensor& part : parts) {
    Tensor rows = ops::contiguous(t, part);
    logits.push_back(model.config.blocks.head(t, model, std::move(rows)));
  }
  return logits;
}

}  // namespace

Tensor chunked_loss(Tape& t, const Decoder& model, const Inputs& in, double chunks) {
  const Within here(t, t.place("model"), -1);
  const std::vector<Tensor> logits = chunked_logits(t, model, in, chunks);
  const Within in_loss(t, t.place("loss"), -1);
  return ops::chunked_loss(t, logits, in.ids.dim(0), in.ids.dim(1));
}

Output forward(Tape& t, const Decoder& model, const Inputs& in, const Tensor& num_items_in_batch) {
  const Within here(t, t.place("model"), -1);
  Tensor hidden = body(t, model, in);
  const LigerKernels& liger = model.options.liger;
  if (liger.fused_linear_cross_entropy) {
    const Within in_loss(t, t.place("loss"), -1);
    return {ops::fused_linear_cross_entropy(t, hidden, model.lm_head.weight, num_items_in_batch),
            {}};
  }
  Tensor logits = model.config.blocks.head(t, model, hidden);
  if (model.wrapping) model.wrapping->leave(model.wrapping->context, Wrapping::kHead, logits);
  const Within in_loss(t, t.place("loss"), -1);
  Tensor loss = model.loss(t, logits, num_items_in_batch, liger.cross_entropy);
  return {std::move(loss), std::move(logits)};
}

}  // namespace ledger::models
