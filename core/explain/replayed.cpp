// Looks through the replayed steps for tensors of a size.
#include "core/explain/candidate_sources.hpp"

#include <algorithm>
#include <cmath>

#include "core/device/verdict.hpp"

namespace ledger::message {
namespace {

// How often each letter stands in a working.
struct Letters {
  std::array<int, kLetters.size()> counts{};
  int of(Letter l) const { return counts[static_cast<std::size_t>(l)]; }
};
void count_letters(const Expression& e, Letters& letters, int depth) {
  if (e.kind == Expression::Kind::kLetter) ++letters.counts[static_cast<std::size_t>(e.letter)];
  if (depth > 40) return;
  if (e.left) count_letters(*e.left, letters, depth + 1);
  if (e.right) count_letters(*e.right, letters, depth + 1);
}

Kind kind_of(const StorageRecord& s, bool accumulated, Moment moment) {
  Letters letters;
  if (s.bytes.working()) count_letters(*s.bytes.working(), letters, 0);
  const bool tokens = letters.of(Letter::T) > 0 || letters.of(Letter::B) > 0;
  switch (s.role) {
    case Role::kWeight:
    case Role::kBuffer: return Kind::kWeight;
    case Role::kState: return Kind::kOptimizerState;
    case Role::kBucket: return Kind::kBuffer;
    case Role::kInput:
    case Role::kWorkspace: return Kind::kOther;
    case Role::kActivation:
    case Role::kGradient:
    case Role::kScratch: break;
  }
  if (accumulated) return Kind::kGradient;
  if (!tokens) {
    if (moment == Moment::kStep) return Kind::kOptimizerTemporary;
    if (s.cast) return Kind::kWeightCopy;
    if (s.role == Role::kGradient) return Kind::kGradient;
    return Kind::kOther;
  }
  if (letters.of(Letter::V) > 0) return Kind::kLogits;
  if (letters.of(Letter::T) > 1) return letters.of(Letter::H) > 0 ? Kind::kScores : Kind::kMask;
  if (letters.of(Letter::f) > 0 || letters.of(Letter::f_e) > 0) return Kind::kMlp;
  if (letters.of(Letter::d) > 0 || letters.of(Letter::d_h) > 0) return Kind::kHidden;
  return Kind::kOther;
}

Moment moment_of(device::Phase phase) {
  switch (phase) {
    case device::Phase::kGenerate: return Moment::kGenerate;
    case device::Phase::kLogProbabilities:
    case device::Phase::kForward: return Moment::kForward;
    case device::Phase::kBackward: return Moment::kBackward;
    case device::Phase::kStep: return Moment::kStep;
    case device::Phase::kEvaluate: return Moment::kForward;  // without gradients
    case device::Phase::kSave: return Moment::kSave;
  }
  return Moment::kAny;
}

// Classes of how far the allocated figure of a candidate lies from the message's.
int class_of(double distance, const Diagnosis& d) {
  if (distance <= d.allocated_slack + d.allocated / 100) return 0;
  if (distance <= d.allocated / 20) return 1;
  if (distance <= d.allocated * 3 / 20) return 2;
  if (distance <= d.allocated * 2 / 5) return 3;
  return 5;
}
struct Born {
  std::uint32_t storage;
  const char* what;
  const Expression* working;
  std::uint32_t place;
  Moment moment;
  Kind kind;
  double count = 0, distance = -1;
  int step = 0;
  bool fails = false;
};

}  // namespace

bool of_parameters(Kind kind) {
  return kind == Kind::kWeight || kind == Kind::kWeightCopy || kind == Kind::kCheckpointCopy ||
         kind == Kind::kGradient || kind == Kind::kOptimizerState ||
         kind == Kind::kOptimizerTemporary;
}

std::string_view last_name(std::string_view path) {
  for (const std::string_view end : {std::string_view(".weight"), std::string_view(".bias")}) {
    if (path.size() > end.size() && path.substr(path.size() - end.size()) == end)
      path.remove_suffix(end.size());
  }
  const std::size_t dot = path.rfind('.');
  return dot == path.npos ? path : path.substr(dot + 1);
}

int agreement(const Hints& hints, Kind kind, Moment moment, bool named) {
  int out = 0;
  if (hints.kind != Kind::kOther && hints.kind == kind) out += 2;
  if (hints.moment != Moment::kAny && hints.moment == moment) out += 1;
  if (named) out += 2;
  return out;
}

std::vector<Candidate> replayed(const Request& request, const Diagnosis& d, const Hints& hints,
                                const Case& c, std::size_t number) {
  std::vector<Candidate> out;
  if (!c.simulation) return out;
  const Record& record = c.simulation->run.record;
  const device::Replay& replay = c.simulation->replay;
  std::optional<device::OnDevice> on_device;
  if (d.capacity > 0 && d.allocated >= 0) {
    on_device = device::replay_on_device(record, d.capacity, d.outside, c.scenario->allocator);
  }
  std::vector<std::uint8_t> accumulated(record.storages.size());
  for (const Event& e : record.events) {
    if (e.kind == Event::Kind::kAccumulate) accumulated[e.id] = 1;
  }
  constexpr std::size_t kMost = 100;  // kinds of tensors of one size
  std::vector<Born> groups;
  std::size_t phase = 0;
  for (std::uint32_t i = 0; i < replay.allocated.size(); ++i) {
    const Event& e = record.events[i];
    while (phase + 1 < replay.phases.size() && replay.phases[phase + 1].first_event <= i) ++phase;
    if (e.kind != Event::Kind::kAllocate) continue;
    const StorageRecord& s = record.storages[e.id];
    if (!request.holds(s.bytes.value())) continue;
    const bool loading = replay.phases.empty() || i < replay.phases.front().first_event;
    const Moment moment = loading ? Moment::kLoad : moment_of(replay.phases[phase].phase);
    const Kind kind = kind_of(s, accumulated[e.id] != 0, moment);
    if (c.recognised && !of_parameters(kind)) continue;  // its batch is nobody's
    std::size_t at = 0;
    while (at < groups.size() &&
           !(groups[at].what == s.what && groups[at].working == s.bytes.working() &&
             groups[at].place == s.place && groups[at].moment == moment && groups[at].kind == kind))
      ++at;
    if (at == groups.size()) {
      if (groups.size() >= kMost) continue;
      groups.push_back({e.id, s.what, s.bytes.working(), s.place, moment, kind});
      groups[at].step = loading ? 0 : replay.phases[phase].step;
    }
    Born& g = groups[at];
    g.count += 1;
    if (d.allocated >= 0) {
      const double before =
          static_cast<double>(replay.allocated[i]) - static_cast<double>(replay.block_bytes[e.id]);
      const double distance = std::fabs(before - d.allocated);
      if (g.distance < 0 || distance < g.distance) {
        g.distance = distance;
        g.step = loading ? 0 : replay.phases[phase].step;
      }
    }
    if (on_device && on_device->failure && on_device->failure->event == i) {
      g.fails = true;
      g.step = loading ? 0 : replay.phases[phase].step;
    }
  }
  for (const Born& g : groups) {
    const StorageRecord& s = record.storages[g.storage];
    Candidate candidate;
    candidate.found = Found::kReplay;
    candidate.kind = g.kind;
    candidate.of_case = number;
    candidate.what = g.what;
    candidate.where = record.places[s.place];
    candidate.working = s.bytes.working();
    candidate.bytes = s.bytes.value();
    candidate.count = g.count;
    candidate.moment = g.moment;
    candidate.step = g.step;
    const std::string_view name = last_name(hints.name);
    const bool named = !name.empty() && last_name(candidate.where) == name;
    candidate.hinted = agreement(hints, g.kind, g.moment, named);
    candidate.fails_there = g.fails;
    candidate.distance = g.distance < 0 ? kNotKnown : class_of(g.distance, d);
    candidate.preference = -g.count;
    if (g.fails) {
      candidate.why =
          "a replay on a device of this size, with as much taken by others, ends at "
          "just this request";
    } else if (candidate.distance <= 1) {
      candidate.why = "asked for when about as much is allocated as the message says";
    } else {
      candidate.why = "asked for by the replayed steps";
    }
    out.push_back(std::move(candidate));
  }
  return out;
}

}  // namespace ledger::message
