// The keys of docs/contract.md.
#include "core/explain/explanation_writer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ledger::message {
namespace {

constexpr std::array<std::string_view, 3> kSeverities = {"error", "warning", "log"};

std::string_view unit_text(const Reading& r) {
  if (r.label == Label::kElements) return "elements";
  if (r.label == Label::kTokens || r.label == Label::kTokensMost) return "tokens";
  if (r.label == Label::kBlocks) return "blocks";
  if (r.label == Label::kCells) return "cells";
  if (r.label == Label::kParameters) return "parameters, in powers of 1000";
  if (r.figure.unit == Unit::kPercent) return "percent";
  if (!is_size(r.figure.unit)) return "a share, or a number";
  static constexpr std::array<std::string_view, 7> kBinary = {
      "bytes", "2^10 bytes", "2^20 bytes", "2^30 bytes", "2^40 bytes", "2^50 bytes", "2^60 bytes"};
  static constexpr std::array<std::string_view, 7> kDecimal = {
      "bytes",       "10^3 bytes",  "10^6 bytes", "10^9 bytes",
      "10^12 bytes", "10^15 bytes", "10^18 bytes"};
  static constexpr std::array<std::string_view, 7> kOpen = {"bytes",
                                                            "10^3 or 2^10 bytes",
                                                            "10^6 or 2^20 bytes",
                                                            "10^9 or 2^30 bytes",
                                                            "10^12 or 2^40 bytes",
                                                            "10^15 or 2^50 bytes",
                                                            "10^18 or 2^60 bytes"};
  const auto power = static_cast<std::size_t>(r.figure.unit);
  switch (r.meaning) {
    case Meaning::kBinary:
    case Meaning::kFloor: return kBinary[power];
    case Meaning::kDecimal:
    case Meaning::kNominal: return kDecimal[power];
    case Meaning::kOpen:
      return r.figure.spelling == Spelling::kBinary ? kBinary[power] : kOpen[power];
  }
  return {};
}

void write_number_of(Writer& w, const Squeezed& s, const Reading& r, std::size_t message) {
  const LabelRow& label = row_of(r.label);
  w.begin_object().key("id").text(label.id).key("what").text(label.what);
  w.key("printed").text(json::shortened(s.printed(r.figure.begin, r.figure.end), 80));
  w.key("recognised").flag(r.label != Label::kUnknown);
  w.key("value").number(r.figure.value).key("unit").text(unit_text(r));
  w.key("bytes");
  if (is_size(r.figure.unit) && r.label != Label::kParameters) {
    w.begin_object().key("value").number(std::floor(r.bytes + 0.5)).key("low").number(r.low);
    w.key("high").number(r.high).key("cut_off").flag(r.meaning == Meaning::kFloor).end_object();
  } else {
    w.null();
  }
  w.key("message");
  if (message == static_cast<std::size_t>(-1)) {
    w.null();
  } else {
    w.number(static_cast<double>(message));
  }
  w.end_object();
}

}  // namespace

void write_numbers(Writer& w, const Paste& paste) {
  constexpr std::size_t kMost = 600;
  std::size_t written = 0;
  w.key("numbers").begin_list();
  // Those of the explained message first.
  const auto all_of = [&](std::size_t n) {
    for (const Reading& r : paste.messages[n].readings) {
      if (written++ < kMost) write_number_of(w, paste.text, r, n);
    }
  };
  if (paste.chosen) all_of(*paste.chosen);
  for (std::size_t n = 0; n < paste.messages.size(); ++n) {
    if (n != paste.chosen) all_of(n);
  }
  for (const Reading& r : paste.around) {
    if (written++ < kMost) write_number_of(w, paste.text, r, static_cast<std::size_t>(-1));
  }
  w.end_list();
  w.key("numbers_left_out").number(written > kMost ? static_cast<double>(written - kMost) : 0);
}

std::string_view name_of(Severity severity) {
  return kSeverities[static_cast<std::size_t>(severity)];
}

void write_producer(Writer& w, const Message& m) {
  const ProducerRow& row = row_of(m.producer);
  w.key("producer").begin_object().key("id").text(row.id).key("name").text(row.name);
  w.key("versions");
  if (m.versions.empty()) {
    w.null();
  } else {
    w.text(m.versions);
  }
  w.key("units").text(row.units).key("source").text(row.source).end_object();
}

void write_messages(Writer& w, const Paste& paste) {
  w.key("messages").begin_list();
  for (const Group& g : paste.groups) {
    const Message& m = paste.messages[g.first];
    const std::string excerpt = paste.text.printed(m.begin, std::min(m.end, m.begin + 400));
    w.begin_object().key("first").number(static_cast<double>(g.first));
    w.key("count").number(static_cast<double>(g.count));
    w.key("producer").text(row_of(m.producer).id).key("severity").text(name_of(m.severity));
    w.key("explained").flag(paste.chosen == g.first);
    w.key("ranks").begin_list();
    for (const std::string& rank : g.ranks) w.text(rank);
    w.end_list().key("tried");
    if (g.tried_high > 0) {
      w.begin_object().key("low").number(g.tried_low).key("high").number(g.tried_high).end_object();
    } else {
      w.null();
    }
    w.key("text").text(json::shortened(excerpt, 400)).end_object();
  }
  w.end_list();
  w.key("messages_left_out").number(static_cast<double>(paste.left_out));
}

void write_request(Writer& w, const Request& r) {
  w.key("request");
  if (!r.known) {
    w.null();
    return;
  }
  w.begin_object().key("low").number(r.low).key("high").number(r.high).key("or");
  if (r.other_high > 0) {
    w.begin_object().key("low").number(r.other_low).key("high").number(r.other_high).end_object();
  } else {
    w.null();
  }
  w.key("identifies").flag(r.identifies).key("why").text(r.why).end_object();
}

void write_diagnosis(Writer& w, const Diagnosis& d) {
  const CauseRow& row = row_of(d.cause);
  w.key("diagnosis").begin_object().key("id").text(row.id).key("what").text(row.what);
  w.key("why").text(d.why.empty() ? std::string_view("The message does not say enough.")
                                  : std::string_view(d.why));
  w.key("arithmetic").begin_list();
  for (const std::string& line : d.arithmetic) w.text(line);
  w.end_list().key("notes").begin_list();
  for (const Note& note : d.notes) {
    w.begin_object().key("id").text(note.id).key("sentence").text(note.sentence).end_object();
  }
  w.end_list().end_object();
}

void write_candidates(Writer& w, const std::vector<Candidate>& found) {
  w.key("candidates").begin_list();
  for (const Candidate& c : found) {
    w.begin_object()
        .key("kind")
        .text(row_of(c.kind).id)
        .key("found")
        .text(kFoundNames[static_cast<std::size_t>(c.found)]);
    w.key("what").text(c.what).key("where").text(c.where);
    w.key("symbols").text(c.working ? to_text(*c.working, Notation::kSymbols) : std::string());
    w.key("figures").text(c.working ? to_text(*c.working, Notation::kFigures) : std::string());
    w.key("mathml").text(c.working
                             ? "<math>" + to_mathml(*c.working, Notation::kSymbols) + "</math>"
                             : std::string());
    w.key("bytes").number(c.bytes).key("count").number(c.count);
    w.key("moment").text(kMomentNames[static_cast<std::size_t>(c.moment)]);
    w.key("step").number(c.step).key("fails_there").flag(c.fails_there);
    w.key("hinted").flag(c.hinted > 0).key("why").text(c.why);
    w.key("scenario").number(static_cast<double>(c.of_case)).end_object();
  }
  w.end_list();
}

void write_changes(Writer& w, const std::vector<Change>& list) {
  w.key("changes").begin_list();
  for (const Change& change : list) {
    w.begin_object().key("id").text(change.id).key("sentence").text(change.sentence);
    w.key("of_tensor").flag(change.of_tensor).key("patch").raw(json::write(change.patch));
    w.end_object();
  }
  w.end_list();
}

}  // namespace ledger::message
