// Which layers look back on a window only, for the families that mix both kinds.
#pragma once

#include "core/models/decoder.hpp"

namespace ledger::models {

// `layer_types` where given; else layers from `max_window_layers` on, if `use_sliding_window`.
void window_from_layer(DecoderConfig& c, const ModelConfig& config, Workings& workings);

// By `layer_types`, where given. Answers whether it was.
bool window_from_types(DecoderConfig& c, const ModelConfig& config);

}  // namespace ledger::models
