// Looks through the shapes by letters for tensors of a size, and for numbers of tokens that give
// it.
#include "core/explain/candidate_sources.hpp"

#include <algorithm>
#include <cmath>

#include "core/nearest.hpp"

namespace ledger::message {
namespace {

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

// A number of tokens that is a multiple of a large power of two falls into so narrow an interval
// by chance once in so many times.
double unlikely(double low, double high) {
  double power = 1;
  while (std::ceil(low / (power * 2)) * power * 2 <= high && power < 1e12) power *= 2;
  return power / std::max(1.0, high - low + 1);
}

}  // namespace

std::vector<Candidate> by_letters(const Request& request, const Diagnosis& d, const Hints& hints,
                                  const Case& c, std::size_t number,
                                  const std::vector<ShapeBytes>& shapes,
                                  const std::vector<Candidate>& others) {
  std::vector<Candidate> out;
  for (const ShapeBytes& shape : shapes) {
    if (!request.holds(shape.bytes.value())) continue;
    if (c.recognised && !of_parameters(shape.kind)) continue;
    bool known = false;
    for (const Candidate& other : others) {
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
  return out;
}

std::vector<Candidate> solved(const Request& request, const Hints& hints, Case& c,
                              std::size_t number, const std::vector<ShapeBytes>& shapes) {
  std::vector<Candidate> out;
  if (!request.identifies || request.other_high > 0) return out;
  const double batch = c.value(Letter::B) * c.value(Letter::T);
  for (const ShapeBytes& shape : shapes) {
    const double each = shape.per_token.value();
    if (each <= 0 || !shape.usual) continue;
    const double low = std::ceil(request.low / each), high = std::floor(request.high / each);
    if (low > high || high < 2 || high > 1e8) continue;
    if (request.holds(shape.bytes.value())) continue;
    const double rare = unlikely(low, high);
    constexpr double kRare = 64;
    const double excess = c.batch_given ? std::max(1.0, low / batch) : 1;
    constexpr double kMostExcess = 64;  // beyond it another tensor is likelier than such a sample
    if (excess > kMostExcess && rare < kRare) continue;
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
  return out;
}

}  // namespace ledger::message
