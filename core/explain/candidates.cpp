// Finds the tensors of a size and puts the likeliest first.
#include "core/explain/candidates.hpp"

#include <algorithm>
#include <cmath>

#include "core/device/verdict.hpp"
#include "core/explain/shapes.hpp"
#include "core/nearest.hpp"
#include "core/short_sort.hpp"

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

// Kinds whose size does not depend on batch and length.
bool of_parameters(Kind kind) {
  return kind == Kind::kWeight || kind == Kind::kWeightCopy || kind == Kind::kCheckpointCopy ||
         kind == Kind::kGradient || kind == Kind::kOptimizerState ||
         kind == Kind::kOptimizerTemporary;
}

Moment moment_of(device::Phase phase) {
  switch (phase) {
    case device::Phase::kGenerate: return Moment::kGenerate;
    case device::Phase::kLogProbabilities:
    case device::Phase::kForward: return Moment::kForward;
    case device::Phase::kBackward: return Moment::kBackward;
    case device::Phase::kStep: return Moment::kStep;
  }
  return Moment::kAny;
}

// The last name of a parameter's path: "gate_proj" of "layers.39.mlp.gate_proj.weight".
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

// Classes of how far the allocated figure of a candidate lies from the message's.
int class_of(double distance, const Diagnosis& d) {
  if (distance <= d.allocated_slack + d.allocated / 100) return 0;
  if (distance <= d.allocated / 20) return 1;
  if (distance <= d.allocated * 3 / 20) return 2;
  if (distance <= d.allocated * 2 / 5) return 3;
  return 5;
}
constexpr int kInside = 4, kOutside = 6, kNotKnown = 9;

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

void add_replayed(const Request& request, const Diagnosis& d, const Hints& hints, const Case& c,
                  std::size_t number, std::vector<Candidate>& out) {
  if (!c.simulation) return;
  const Record& record = c.simulation->run.record;
  const device::Replay& replay = c.simulation->replay;
  std::optional<device::OnDevice> on_device;
  if (d.capacity > 0 && d.allocated >= 0) {
    on_device = device::replay_on_device(record, d.capacity, d.outside);
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
}

// Whether as much as the message says can be allocated at that moment, from the number of
// parameters: 0 to the loaded model while it loads, weights and more in a pass, weights, gradients
// and a part of the state in the first step.
int class_by_parameters(const Case& c, const ShapeBytes& shape, const Diagnosis& d) {
  if (d.allocated < 0 || c.parameters <= 0) return kNotKnown;
  const double weights = c.parameters * c.width;
  const double trainable = c.trainable > 0 ? c.trainable : c.adapters ? 0 : c.parameters;
  const double gradients = trainable * c.width;
  const double slack = d.allocated_slack + d.allocated / 50;
  double low = 0, high = 1e300;
  switch (shape.moment) {
    case Moment::kLoad:
      high = c.parameters * std::max(c.width, 4);  // it may pass through 32 bit
      break;
    case Moment::kBackward:
    case Moment::kForward:
    case Moment::kGenerate:
    case Moment::kSave:
    case Moment::kAny: low = c.adapters ? weights / 4 : weights; break;
    case Moment::kStep:
      low = weights + gradients;
      high = low + trainable * 12;
      break;
  }
  return d.allocated >= low - slack && d.allocated <= high + slack ? kInside : kOutside;
}

// Of equals: moments that are narrow in what may be allocated first, then kinds.
double preference_of(const ShapeBytes& shape) {
  double out = shape.usual ? 0 : 100;
  switch (shape.kind) {
    case Kind::kLogits: out += 1; break;
    case Kind::kScores: out += 2; break;
    case Kind::kWeight: out += 3; break;
    case Kind::kOptimizerState: out += 4; break;
    case Kind::kGradient: out += 5; break;
    case Kind::kMlp: out += 6; break;
    case Kind::kHidden: out += 7; break;
    case Kind::kCache: out += 8; break;
    case Kind::kOptimizerTemporary: out += 9; break;
    case Kind::kMask: out += 10; break;
    case Kind::kCheckpointCopy: out += 11; break;
    default: out += 12; break;
  }
  return out;
}

bool names_it(const ShapeBytes& shape, const Hints& hints) {
  const std::string name = lower(last_name(hints.name));
  return !name.empty() &&
         std::string_view(shape.names).find(" " + name + " ") != std::string_view::npos;
}

void add_by_letters(const Request& request, const Diagnosis& d, const Hints& hints, const Case& c,
                    std::size_t number, const std::vector<ShapeBytes>& shapes,
                    std::vector<Candidate>& out) {
  const std::size_t replayed = out.size();
  for (const ShapeBytes& shape : shapes) {
    if (!request.holds(shape.bytes.value())) continue;
    if (c.recognised && !of_parameters(shape.kind)) continue;
    bool known = false;
    for (std::size_t i = 0; i < replayed; ++i) {
      const Candidate& other = out[i];
      known = known || (other.of_case == number && other.kind == shape.kind &&
                        other.bytes == shape.bytes.value() &&
                        (shape.moment == Moment::kAny || shape.moment == other.moment));
    }
    if (known) continue;
    Candidate candidate;
    candidate.found = Found::kLetters;
    candidate.kind = shape.kind;
    candidate.of_case = number;
    candidate.what = shape.what;
    candidate.working = shape.bytes.working();
    candidate.bytes = shape.bytes.value();
    candidate.moment = shape.moment;
    candidate.hinted = agreement(hints, shape.kind, shape.moment, names_it(shape, hints));
    candidate.distance = class_by_parameters(c, shape, d);
    candidate.preference = preference_of(shape);
    candidate.why = "a tensor of the model that has this size";
    out.push_back(std::move(candidate));
  }
}

// A number of tokens that is a multiple of a large power of two falls into so narrow an interval
// by chance once in so many times.
double unlikely(double low, double high) {
  double power = 1;
  while (std::ceil(low / (power * 2)) * power * 2 <= high && power < 1e12) power *= 2;
  return power / std::max(1.0, high - low + 1);
}

void add_solved(const Request& request, const Hints& hints, Case& c, std::size_t number,
                const std::vector<ShapeBytes>& shapes, std::vector<Candidate>& out) {
  if (!request.identifies || request.other_high > 0) return;
  const double batch = c.value(Letter::B) * c.value(Letter::T);
  for (const ShapeBytes& shape : shapes) {
    const double each = shape.per_token.value();
    if (each <= 0 || !shape.usual) continue;
    const double low = std::ceil(request.low / each), high = std::floor(request.high / each);
    if (low > high || high < 2 || high > 1e8) continue;
    if (request.holds(shape.bytes.value())) continue;
    const double rare = unlikely(low, high);
    constexpr double kRare = 64;
    double tokens = high;
    if (rare >= kRare) {
      double power = 1;
      while (std::ceil(low / (power * 2)) * power * 2 <= high) power *= 2;
      tokens = std::floor(high / power) * power;
    }
    Candidate candidate;
    candidate.found = Found::kSolved;
    candidate.kind = shape.kind;
    candidate.of_case = number;
    candidate.what = shape.what;
    const Bytes bytes = c.workings.named("tokens", tokens) * shape.per_token;
    candidate.working = bytes.working();
    candidate.bytes = bytes.value();
    candidate.moment = shape.moment;
    candidate.tokens_low = low;
    candidate.tokens_high = high;
    candidate.hinted = agreement(hints, shape.kind, shape.moment, false);
    // Of equals what every model has: logits, then the residual stream.
    const double order = shape.kind == Kind::kLogits ? 0 : shape.kind == Kind::kHidden ? 1 : 2;
    // Rare numbers first; then those that the batch allows, the smallest excess first.
    const double excess = c.batch_given ? std::max(1.0, low / batch) : 1;
    candidate.preference = (rare >= kRare ? -1000 : 0) + std::min(excess, 500.0) * 10 + order / 100;
    candidate.why = "it has this size with " + with_separators(low) +
                    (high > low ? " to " + with_separators(high) : std::string()) + " tokens";
    if (c.batch_given)
      candidate.why += low > batch
                           ? ", more than the scenario's " + with_separators(batch) +
                                 ": a sample that was not cut off, or padding"
                           : " of the " + with_separators(batch) + " that the scenario allows";
    out.push_back(std::move(candidate));
  }
}

// Which letters the sizes of a printed shape may be.
std::string letters_of(const std::vector<double>& sizes, const Case& c, Kind& kind) {
  std::string text;
  int tokens = 0;
  bool vocabulary = false, heads = false, feed_forward = false, hidden = false;
  for (const double size : sizes) {
    std::string name;
    for (const Letter l :
         {Letter::V, Letter::T, Letter::H, Letter::f, Letter::d, Letter::d_h, Letter::B}) {
      if (size > 1 && c.value(l) == size) {
        name = std::string(legend(l).symbol);
        tokens += l == Letter::T;
        vocabulary = vocabulary || l == Letter::V;
        heads = heads || l == Letter::H;
        feed_forward = feed_forward || l == Letter::f;
        hidden = hidden || l == Letter::d;
        break;
      }
    }
    if (name.empty()) name = with_separators(size);
    text += (text.empty() ? "" : " · ") + name;
  }
  kind = vocabulary     ? (hidden ? Kind::kWeight : Kind::kLogits)
         : tokens > 1   ? Kind::kScores
         : feed_forward ? (hidden ? Kind::kWeight : Kind::kMlp)
         : hidden       ? Kind::kHidden
                        : Kind::kOther;
  return text;
}

bool better(const Candidate& a, const Candidate& b) {
  if ((a.found == Found::kPrinted) != (b.found == Found::kPrinted))
    return a.found == Found::kPrinted;
  if ((a.found == Found::kSolved) != (b.found == Found::kSolved)) return b.found == Found::kSolved;
  if (a.hinted != b.hinted) return a.hinted > b.hinted;
  if (a.fails_there != b.fails_there) return a.fails_there;
  if (a.distance != b.distance) return a.distance < b.distance;
  if (a.found != b.found) return a.found < b.found;
  if (a.preference != b.preference) return a.preference < b.preference;
  return a.of_case < b.of_case;
}

}  // namespace

std::vector<Candidate> candidates(const Message& message, const Request& request,
                                  const Diagnosis& diagnosis, const Hints& hints,
                                  const std::vector<std::unique_ptr<Case>>& cases,
                                  std::size_t most) {
  std::vector<Candidate> out;
  if (!request.known || diagnosis.cause == Cause::kCorruptSize) return out;
  if (message.shape) {
    Candidate printed;
    printed.found = Found::kPrinted;
    printed.bytes = request.high;
    printed.what = "the tensor whose shape is printed: " + message.shape->printed;
    printed.why = "the shape stands in the message";
    for (const std::unique_ptr<Case>& c : cases) {
      Kind kind = Kind::kOther;
      const std::string letters = letters_of(message.shape->sizes, *c, kind);
      if (kind == Kind::kOther) continue;
      printed.kind = kind;
      printed.what = std::string(row_of(kind).what) + ": " + letters;
      break;
    }
    if (printed.kind == Kind::kOther && hints.kind != Kind::kOther) printed.kind = hints.kind;
    out.push_back(std::move(printed));
  }
  if (!request.identifies) return out;
  for (std::size_t n = 0; n < cases.size(); ++n) {
    Case& c = *cases[n];
    std::vector<Candidate> own;
    add_replayed(request, diagnosis, hints, c, n, own);
    const std::vector<ShapeBytes> shapes = shapes_of(c);
    add_by_letters(request, diagnosis, hints, c, n, shapes, own);
    add_solved(request, hints, c, n, shapes, own);
    for (Candidate& candidate : own) out.push_back(std::move(candidate));
  }
  short_sort(out, better);  // stable, and the same everywhere
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace ledger::message
