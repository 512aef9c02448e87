// gemma3_text: gemma2 with norms on queries and keys, and windowed layers that rotate by tables of
// their own. Source: transformers models/gemma3/modeling_gemma3.py, configuration_gemma3.py.

#include "core/models/builder.hpp"
#include "core/models/gemma.hpp"
#include "core/models/windows.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

bool mixes_kinds(const DecoderConfig& c) {
  bool some_full = false, some_windowed = false;
  for (const bool windowed : c.windowed) (windowed ? some_windowed : some_full) = true;
  return some_full && some_windowed;
}

// Tables for each kind of layer, in the order of a Python set: either may come first. This is the
// order of the measured rows.
Prepared prepare_gemma3(Tape& t, const Decoder& model, const Inputs& in) {
  const DecoderConfig& c = model.config;
  Prepared at;
  at.embedded = c.blocks.embed(t, model, in.ids);
  at.positions = position_ids(t, in);
  at.masks = make_masks(t, model, at.embedded, in);
  at.hidden = at.embedded;
  const Dtype dtype = at.embedded.dtype();
  const Count rows = in.cache ? at.positions.dim(0) : Count(1);
  if (mixes_kinds(c))
    at.local_tables = rotary_tables(t, rows, in.ids.dim(1), c.rotary_width, dtype);
  at.tables = rotary_tables(t, rows, in.ids.dim(1), c.rotary_width, dtype);
  return at;
}

}  // namespace

DecoderConfig configure_gemma3_text(const ModelConfig& config, Workings& workings) {
  DecoderConfig c = configure_gemma2(config, workings);
  c.score_cap = false;  // configured, but not handed to the attention function
  c.query_key_norm = true;
  c.blocks.project = project_then_norm;
  c.blocks.prepare = prepare_gemma3;
  c.windows_rotate_otherwise = true;
  if (window_from_types(c, config)) return c;
  const auto pattern = static_cast<std::size_t>(config.number_or("sliding_window_pattern", 6));
  for (std::size_t i = 0; i < c.windowed.size(); ++i) c.windowed[i] = (i + 1) % pattern != 0;
  return c;
}

}  // namespace ledger::models
