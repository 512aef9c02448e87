// Finds the tensors of a size and puts the likeliest first.
#include "core/explain/candidates.hpp"

#include "core/explain/candidate_sources.hpp"
#include "core/short_sort.hpp"

namespace ledger::message {
namespace {

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
    const std::vector<ShapeBytes> shapes = shapes_of(c);
    std::vector<Candidate> exact = replayed(request, diagnosis, hints, c, n);
    std::vector<Candidate> letters = by_letters(request, diagnosis, hints, c, n, shapes, exact);
    std::vector<Candidate> tokens = solved(request, hints, c, n, shapes);
    // Beside one within the scenario's tokens, those that need more are noise.
    const double batch = c.value(Letter::B) * c.value(Letter::T);
    bool within = c.batch_given && (!exact.empty() || !letters.empty());
    for (const Candidate& candidate : tokens)
      within = within || (c.batch_given && candidate.tokens_low <= batch);
    if (within) std::erase_if(tokens, [batch](const Candidate& t) { return t.tokens_low > batch; });
    for (std::vector<Candidate>* list : {&exact, &letters, &tokens}) {
      for (Candidate& candidate : *list) out.push_back(std::move(candidate));
    }
  }
  short_sort(out, better);  // stable, and the same everywhere
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace ledger::message
