// The allocations and frees of one step as text, for comparison with a recorded run.
#pragma once

#include <string>
#include <string_view>

namespace ledger {

// One line an event: `+ #7 2097152  layers.3.mlp.gate_proj: gate` for an allocation (its number in
// the step, bytes as requested), `- #7 2097152 ...` for its end (`older` for what was there
// before),
// `==== F` where forward, `B` backward, `S` step and `E` zero_grad begin. Problems as sentences.
std::string events_of_step(std::string_view scenario_json, int step);

}  // namespace ledger
