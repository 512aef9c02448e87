// Writes the pieces of an explanation, key by key.
#pragma once

#include "core/explain/advice.hpp"
#include "core/json_writer.hpp"

namespace ledger::message {

using json::Writer;

std::string_view name_of(Severity severity);
void write_producer(Writer& w, const Message& message);
void write_messages(Writer& w, const Paste& paste);
void write_numbers(Writer& w, const Paste& paste);
void write_request(Writer& w, const Request& request);
void write_diagnosis(Writer& w, const Diagnosis& diagnosis);
void write_candidates(Writer& w, const std::vector<Candidate>& found);
void write_changes(Writer& w, const std::vector<Change>& list);

}  // namespace ledger::message
