// Explains a pasted message and writes the explanation of docs/contract.md, key by key.
#include "core/explain/explain.hpp"

#include <algorithm>
#include <cmath>

#include "core/explain/explanation_writer.hpp"
#include "core/problems.hpp"

namespace ledger::message {
namespace {

using json::Value;

constexpr std::size_t kMostCases = 5;        // scenarios that are tried
constexpr std::size_t kMostCandidates = 12;  // that are written
constexpr std::size_t kMostEvents = 400000;  // of all replayed scenarios, before no more are

std::string refusal(std::string_view path, std::string_view sentence) {
  Writer w;
  w.begin_object().key("problems").begin_list();
  w.begin_object().key("path").text(path).key("message").text(sentence).end_object();
  return w.end_list().end_object().take();
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
    if (!cases.back()->scenario) add_problems(problems, cases.back()->read.problems(), path);
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
    diagnosis = diagnose(*message, &paste.text);
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
