// Parts of the reading of a model: those of a config.json of several parts, and the rotary type.
#pragma once

#include "core/counts/counts.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {

// A model that is counted only: a problem that holds its count and says why there is no more.
void count_only(const counts::CountedType& type, const Value& config, const Value* overrides,
                Findings& findings);

// The text part of a model of several parts, with what its whole says about it.
struct TextPart {
  const counts::Composite* of = nullptr;  // null where the model is of one part
  Value config;
};

TextPart text_part(const Value& config);
// What asks for something that is not modelled beside the parts.
void check_whole(const Value& config, Findings& findings);
// Says what is left out beside the text part, and puts a pasted config.json together again.
void leave_out_towers(const counts::Composite& of, const Value& config, bool pasted,
                      ModelReading& reading, Findings& findings);

// How the frequencies of the rotary embedding are computed: rope_parameters, or rope_scaling in
// older configurations.
void keep_rotary(const Value& config, const Value* overrides, bool pasted, ModelReading& reading,
                 Findings& findings);

}  // namespace ledger::reading
