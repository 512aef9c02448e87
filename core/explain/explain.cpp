// Explains a pasted message and writes the explanation of docs/contract.md, key by key.
#include "core/explain/explain.hpp"

#include <algorithm>
#include <cmath>

#include "core/explain/advice.hpp"
#include "core/json_writer.hpp"

namespace ledger::message {
namespace {

using json::Value;
using json::Writer;

constexpr std::size_t kMostCases = 5;        // scenarios that are tried
constexpr std::size_t kMostCandidates = 12;  // that are written
constexpr std::size_t kMostEvents = 400000;  // of all replayed scenarios, before no more are

void write_problems(Writer& w, const Problems& problems, std::string_view before) {
  for (const Problem& p : problems) {
    w.begin_object().key("path").text(std::string(before) + (p.path.empty() ? "" : "." + p.path));
    w.key("message").text(p.message);
    if (!p.given.empty()) w.key("given").text(p.given);
    if (!p.nearest.empty()) w.key("nearest").text(p.nearest);
    w.end_object();
  }
}

std::string refusal(std::string_view path, std::string_view sentence) {
  Writer w;
  w.begin_object().key("problems").begin_list();
  w.begin_object().key("path").text(path).key("message").text(sentence).end_object();
  return w.end_list().end_object().take();
}

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

constexpr std::array<std::string_view, 3> kSeverities = {"error", "warning", "log"};
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

std::string summary(const Paste& paste, const Message* m, const Diagnosis& d,
                    const std::vector<Candidate>& found) {
  if (!m) return "Nothing in this text is a message about memory that is known here.";
  std::string out = std::string(row_of(m->producer).name);
  out += m->severity == Severity::kError     ? ": a failure"
         : m->severity == Severity::kWarning ? ": a warning, no failure"
                                             : ": a line of a log, no failure";
  const CauseRow& cause = row_of(d.cause);
  if (m->severity == Severity::kError) out += "; " + std::string(cause.what);
  if (!found.empty())
    out += ". The size is that of: " + found.front().what +
           (found.front().where.empty() ? "" : " (" + found.front().where + ")");
  if (paste.messages.size() > 1)
    out += ". The first of " + with_separators(static_cast<double>(paste.messages.size())) +
           " messages that tells the cause";
  return out + ".";
}

// Engines run no training step; their messages say the length.
bool serves_models(Producer producer) {
  return producer == Producer::kVllm || producer == Producer::kSglang ||
         producer == Producer::kTgi || producer == Producer::kOllama || producer == Producer::kGgml;
}

std::string explained(std::string_view text, std::string_view scenario_json) {
  if (text.size() > json::kMaxBytes) {
    return refusal("text", "The text is longer than " +
                               with_separators(static_cast<double>(json::kMaxBytes)) +
                               " bytes; paste the part around the message.");
  }
  const Paste paste = read_paste(text);
  const Message* message = paste.chosen ? &paste.messages[*paste.chosen] : nullptr;

  std::vector<std::unique_ptr<Case>> cases;
  Writer problems;
  problems.begin_list();
  bool recognised = false;
  std::size_t events = 0;
  const bool serves = message && serves_models(message->producer);
  const auto add_case = [&](const Value& scenario, std::string_view path) {
    cases.push_back(read_case(scenario, !serves && events < kMostEvents));
    if (const Reading* tokens = serves ? message->find(Label::kTokens) : nullptr)
      set_length(*cases.back(), tokens->figure.value);
    if (cases.back()->simulation) events += cases.back()->simulation->run.record.events.size();
    write_problems(problems, cases.back()->problems, path);
  };
  if (!scenario_json.empty()) {
    const json::Parsed parsed = json::parse(scenario_json);
    if (parsed.error.empty() && parsed.value.is(Value::Kind::kList)) {
      for (std::size_t n = 0; n < parsed.value.list.size() && n < kMostCases; ++n)
        add_case(parsed.value.list[n], "scenario." + std::to_string(n));
    } else if (parsed.error.empty()) {
      add_case(parsed.value, "scenario");
    } else {
      problems.begin_object().key("path").text("scenario").key("message");
      problems.text("This is not JSON: " + parsed.error + ".").end_object();
    }
  } else if (message && message->severity != Severity::kLog) {
    for (const std::string& id : named_presets(text, 3)) {
      Value scenario = Value::object();
      scenario.add_text("model", id);
      add_case(scenario, "scenario");
      cases.back()->recognised = true;
      recognised = true;
    }
  }

  Diagnosis diagnosis;
  Request request;
  std::vector<Candidate> found;
  std::vector<Change> list;
  Hints hints;
  if (message) {
    diagnosis = diagnose(*message);
    request = request_of(*message);
    const std::size_t earliest = *paste.chosen > 0 ? paste.messages[*paste.chosen - 1].end : 0;
    hints = hints_of(paste.text, *message, std::min(earliest, message->begin));
    found = candidates(*message, request, diagnosis, hints, cases, kMostCandidates);
    const Candidate* first = found.empty() ? nullptr : &found.front();
    const Case* c = cases.empty() ? nullptr : cases[first ? first->of_case : 0].get();
    if (message->severity != Severity::kLog) list = changes(*message, diagnosis, first, c);
  }

  Writer w;
  w.begin_object().key("known").flag(message != nullptr);
  w.key("severity").text(message ? name_of(message->severity) : std::string_view("unknown"));
  w.key("sentence").text(summary(paste, message, diagnosis, found));
  write_producer(w, message ? *message : Message());
  write_messages(w, paste);
  write_numbers(w, paste);
  write_request(w, request);
  write_diagnosis(w, diagnosis);
  w.key("hints").begin_object().key("moment").text(
      kMomentNames[static_cast<std::size_t>(hints.moment)]);
  w.key("kind").text(row_of(hints.kind).id).key("name").text(hints.name).end_object();
  w.key("scenarios").begin_list();
  for (const std::unique_ptr<Case>& c : cases) {
    w.begin_object().key("model").text(c->model).key("recognised").flag(recognised);
    w.key("replayed").flag(c->simulation.has_value());
    w.key("scenario").raw(json::write(c->given)).end_object();
  }
  w.end_list();
  write_candidates(w, found);
  write_changes(w, list);
  w.key("problems").raw(problems.end_list().take());
  return w.end_object().take();
}

}  // namespace
}  // namespace ledger::message

namespace ledger {

std::string explain(std::string_view text, std::string_view scenario_json) {
  return message::explained(text, scenario_json);
}

}  // namespace ledger
