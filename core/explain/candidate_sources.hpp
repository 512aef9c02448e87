// Where candidates come from, each source by itself and not ranked.
#pragma once

#include "core/explain/candidates.hpp"
#include "core/explain/shapes.hpp"

namespace ledger::message {

// Classes of Candidate::distance beyond those of a replay.
inline constexpr int kInside = 4, kOutside = 6, kNotKnown = 9;

// Kinds whose size does not depend on batch and length.
bool of_parameters(Kind kind);
// The last name of a parameter's path: "gate_proj" of "layers.39.mlp.gate_proj.weight".
std::string_view last_name(std::string_view path);
// How much of what the text says agrees.
int agreement(const Hints& hints, Kind kind, Moment moment, bool named);

// Storages of that size that the replayed steps ask for, equal ones together.
std::vector<Candidate> replayed(const Request& request, const Diagnosis& diagnosis,
                                const Hints& hints, const Case& c, std::size_t number);
// Shapes that have the size, but for those among `others`.
std::vector<Candidate> by_letters(const Request& request, const Diagnosis& diagnosis,
                                  const Hints& hints, const Case& c, std::size_t number,
                                  const std::vector<ShapeBytes>& shapes,
                                  const std::vector<Candidate>& others);
// Shapes that have the size with another number of tokens.
std::vector<Candidate> solved(const Request& request, const Hints& hints, Case& c,
                              std::size_t number, const std::vector<ShapeBytes>& shapes);

}  // namespace ledger::message
