// What an estimate takes for granted, said in sentences.
#pragma once

#include <string>
#include <vector>

#include "core/models/decoder.hpp"
#include "core/simulation.hpp"

namespace ledger {

// Every assumption behind this scenario's figures, with the software versions they hold for.
std::vector<std::string> assumptions_of(const Scenario& scenario,
                                        const models::DecoderConfig& model,
                                        const Simulation& simulation);

}  // namespace ledger
