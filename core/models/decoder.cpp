// The forward pass around the layers: embedding, masks, tables, layers, final norm, head, loss.
#include "core/models/decoder.hpp"

#include "core/ops/embedding.hpp"

namespace ledger::models {
namespace {

// A layer as checkpointing calls it.
Tensor run_layer(Tape& t, const void* context, const std::vector<Tensor>& arguments) {
  const DecoderLayer& layer = *static_cast<const DecoderLayer*>(context);
  const Within here(t, layer.place, layer.index);
  return layer.model->config.blocks.layer(
      t, layer, {arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]});
}

Tensor through_layer(Tape& t, const Decoder& model, const DecoderLayer& layer,
                     std::vector<Tensor> arguments) {
  switch (model.options.checkpointing) {
    case RunOptions::Checkpointing::kOff: break;
    case RunOptions::Checkpointing::kNonReentrant:
      return t.checkpoint(run_layer, &layer, std::move(arguments));
    case RunOptions::Checkpointing::kReentrant:
      return t.checkpoint_reentrant(run_layer, &layer, std::move(arguments));
  }
  return run_layer(t, &layer, arguments);
}

struct Masks {
  Tensor full, windowed;
};

Masks make_masks(Tape& t, const Decoder& model, const Tensor& embedded, const Tensor& padding) {
  const DecoderConfig& c = model.config;
  bool some_full = c.always_full_mask, some_windowed = c.always_windowed_mask;
  for (const bool windowed : c.windowed) (windowed ? some_windowed : some_full) = true;
  Masks masks;
  const bool eager = model.options.eager;
  if (some_full) masks.full = causal_mask(t, embedded, padding, MaskKind::kFull, 0, eager);
  if (some_windowed) {
    masks.windowed = causal_mask(t, embedded, padding, MaskKind::kWindowed, c.window, eager);
  }
  return masks;
}

Tensor body(Tape& t, const Decoder& model, const Tensor& ids, const Tensor& padding) {
  const DecoderConfig& c = model.config;
  const Count length = ids.dim(1);
  Tensor embedded = c.blocks.embed(t, model, ids);
  if (model.options.input_gradients) t.make_leaf(embedded);
  Tensor range = t.make(t.shape({1, length}), Dtype::kInt64, "position ids", Role::kInput);
  Tensor positions = t.make(t.shape({1, length}), Dtype::kInt64, "position ids", Role::kInput);
  range.reset();
  Masks masks = make_masks(t, model, embedded, padding);
  RotaryTables tables = rotary_tables(t, length, c.rotary_width, embedded.dtype());

  Tensor hidden = embedded;
  for (const DecoderLayer& layer : model.layers) {
    const bool windowed = c.windowed[static_cast<std::size_t>(layer.index)];
    hidden = through_layer(
        t, model, layer,
        {hidden, tables.cos, tables.sin, windowed ? masks.windowed : masks.full, positions});
  }
  return c.blocks.norm(t, model.norm, std::move(hidden));
}

}  // namespace

Tensor embed_tokens(Tape& t, const Decoder& model, const Tensor& ids) {
  const Within here(t, t.place("embed_tokens"));
  return ops::embedding(t, ids, model.embed_tokens);
}

Tensor project_logits(Tape& t, const Decoder& model, Tensor hidden) {
  return ops::linear(t.as("logits"), model.lm_head, std::move(hidden));
}

Output forward(Tape& t, const Decoder& model, Tensor input_ids, Tensor attention_mask) {
  const Within here(t, t.place("model"), -1);
  Tensor hidden = body(t, model, input_ids, attention_mask);
  Tensor logits = model.config.blocks.head(t, model, hidden);
  const Within in_loss(t, t.place("loss"), -1);
  Tensor loss = ops::causal_lm_loss(t, logits);
  return {std::move(loss), std::move(logits)};
}

}  // namespace ledger::models
