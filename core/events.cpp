// A developer's view of the record: tools/first_difference.py holds it against a recorded list.
#include "core/events.hpp"

#include <map>

#include "core/timeline.hpp"
#include "core/training/program.hpp"

namespace ledger {
namespace {

const char* letter_of(Mark::Kind kind) {
  switch (kind) {
    case Mark::Kind::kGenerate: return "G";
    case Mark::Kind::kLogProbabilities: return "L";
    case Mark::Kind::kForward: return "F";
    case Mark::Kind::kBackward: return "B";
    case Mark::Kind::kStep: return "S";
    case Mark::Kind::kZeroGrad: return "E";
    case Mark::Kind::kEvaluate: return "V";
    case Mark::Kind::kSave: return "W";
    case Mark::Kind::kLoaded:
    case Mark::Kind::kBegin:
    case Mark::Kind::kBackwardEnd:
    case Mark::Kind::kClip:
    case Mark::Kind::kEnd: break;
  }
  return nullptr;
}

}  // namespace

std::string events_of_step(std::string_view scenario_json, int step) {
  const Result<Scenario> scenario = read_scenario(scenario_json);
  std::string out;
  if (!scenario.ok()) {
    for (const Problem& p : scenario.problems()) out += p.path + ": " + p.message + "\n";
    return out;
  }
  Workings workings;
  const training::Run run =
      training::run(scenario.value(), workings,
                    static_cast<int>(scenario.value().training.gradient_accumulation_steps));
  const Record& record = run.record;
  std::map<std::uint32_t, int> numbers;
  bool inside = false;
  for (std::uint32_t i = 0; i < record.events.size(); ++i) {
    const Event& e = record.events[i];
    if (e.kind == Event::Kind::kMark) {
      const Mark& mark = record.marks[e.id];
      if (mark.kind == Mark::Kind::kBegin) inside = mark.step == step;
      if (mark.kind == Mark::Kind::kEnd) inside = false;
      const bool between = mark.kind == Mark::Kind::kEvaluate || mark.kind == Mark::Kind::kSave;
      if (between) inside = step > training::kSteps;  // of what follows the steps
      const char* letter = letter_of(mark.kind);
      if (inside && letter) out += std::string("==== ") + letter + "\n";
      continue;
    }
    const bool allocates = e.kind == Event::Kind::kAllocate;
    if (!inside || (!allocates && e.kind != Event::Kind::kFree)) continue;
    const StorageRecord& s = record.storages[e.id];
    if (allocates) numbers.emplace(e.id, static_cast<int>(numbers.size()) + 1);
    const auto number = numbers.find(e.id);
    out += allocates ? "+ " : "- ";
    out += number == numbers.end() ? "older" : "#" + std::to_string(number->second);
    out += " " + std::to_string(static_cast<std::uint64_t>(s.bytes.value())) + "  ";
    out += place_of(record, i) + ": " + s.what + "\n";
  }
  return out;
}

}  // namespace ledger
