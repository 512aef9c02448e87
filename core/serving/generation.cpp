// The program, and the search for the largest that fits.
#include "core/serving/generation.hpp"

#include <algorithm>
#include <cmath>

#include "core/device/outside.hpp"
#include "core/models/generate.hpp"

namespace ledger::serving {
namespace {

constexpr double kFewPasses = 4;  // of one token: the first two and the last two

std::uint64_t peak_between(const std::vector<std::uint64_t>& allocated, std::size_t from,
                           std::size_t to) {
  std::uint64_t peak = 0;
  for (std::size_t i = from; i < to && i < allocated.size(); ++i) {
    peak = std::max(peak, allocated[i]);
  }
  return peak;
}

}  // namespace

Generation generation(const Scenario& scenario, const GenerationSize& size, bool quickly) {
  const Serving& s = *scenario.serving;
  Generation out;
  Workings workings;
  Tape t(workings, scenario.device);
  std::size_t begun = 0, prefilled = 0, ended = 0;
  {
    models::Decoder model;
    model.config =
        models::find_architecture(scenario.model.model_type)->configure(scenario.model, workings);
    model.options.eager = scenario.attn_implementation == "eager";
    models::build(t, model, s.dtype);
    t.empty_cache();
    t.mark(Mark::Kind::kLoaded, 0);
    begun = t.record().events.size();
    const Evaluating evaluating(t);
    models::GenerateRequest request;
    request.prompt = workings.named("T_p", size.prompt);
    const Shape shape = t.shape({workings.letter(Letter::B, size.batch), request.prompt});
    request.ids = t.make(shape, Dtype::kInt64, "token ids", Role::kInput);
    request.attention_mask = t.make(shape, Dtype::kInt64, "attention mask", Role::kInput);
    request.new_tokens = size.new_tokens;
    request.passes_shown = quickly ? kFewPasses : 0;
    request.greedy = !s.do_sample;
    request.padded = s.padded;
    request.static_cache = s.cache_implementation == "static";
    request.chunk = s.prefill_chunk_size;
    const double chunks = request.chunk > 0 ? std::ceil(size.prompt / request.chunk) : 0;
    out.shortened = models::shortens(model.config, std::max(size.new_tokens, chunks));
    const models::Completions completions = models::generate(t, model, request);
    prefilled = completions.prefilled;
    ended = t.record().events.size();
    t.mark(Mark::Kind::kEnd, 0);  // what follows is the end of the program
    out.cache = completions.cache.bytes();
  }
  const Record record = t.take_record();
  const device::Replay replay = device::replay(record, scenario.allocator);
  out.weights = replay.weights_bytes;
  out.prefill_peak = peak_between(replay.allocated, begun, prefilled);
  out.decode_peak = peak_between(replay.allocated, prefilled, ended);
  out.end = replay.allocated[ended - 1];
  out.reserved = peak_between(replay.reserved, begun, ended);
  return out;
}

namespace {

struct Search {
  const Scenario& scenario;
  bool of_sequences;  // else of tokens
  bool surely;
  double limit;  // bytes

  double needed(double n, bool quickly = true) const {
    const Serving& s = *scenario.serving;
    GenerationSize size{s.batch_size, s.prompt_length, s.max_new_tokens};
    if (of_sequences) {
      size.batch = n;
    } else {
      size.new_tokens = std::min(size.new_tokens, n - 1);
      size.prompt = n - size.new_tokens;
    }
    const Generation g = generation(scenario, size, quickly);
    return static_cast<double>(surely ? g.reserved : g.peak());
  }

  // What is needed grows nearly in proportion, so straight lines lead to the border soon.
  double largest() const {
    const double least = of_sequences ? 1 : 2;
    const double most = of_sequences ? 65536 : 16777216;
    double low = least, at_low = needed(low);
    if (at_low > limit) return 0;
    double high = low, at_high = at_low;
    while (high < most) {
      high = std::min(most, 8 * high);
      at_high = needed(high);
      if (at_high > limit) break;
      low = high;
      at_low = at_high;
    }
    if (at_high <= limit) return most;
    for (int i = 0; high - low > 1 && i < 64; ++i) {
      const double share = (limit - at_low) / (at_high - at_low);
      double guess = i % 4 == 3 ? std::floor((low + high) / 2)
                                : std::floor(low + share * (high - low)) + (i % 2);
      guess = std::clamp(guess, low + 1, high - 1);
      const double at = needed(guess);
      const bool fits = at <= limit;
      (fits ? low : high) = guess;
      (fits ? at_low : at_high) = at;
    }
    return low;
  }
};

// Segments remember every chunk of a prompt: what a few chunks seem to leave room for is tried with
// all of them, and made smaller, in proportion and so by more than enough, until it fits.
double tried(const Search& search) {
  double n = search.largest();
  if (!search.surely || search.scenario.serving->prefill_chunk_size == 0) return n;
  const double least = search.of_sequences ? 1 : 2;
  for (int i = 0; i < 8 && n >= least; ++i) {
    const double needed = search.needed(n, false);
    if (needed <= search.limit) return n;
    n = std::floor(n * search.limit / needed);
  }
  return 0;
}

Largest largest_of(const Scenario& scenario, double usable_bytes, bool of_sequences) {
  const device::Range outside = sum(device::process_parts(scenario));
  const double free = usable_bytes - scenario.device.other_bytes;
  return {tried({scenario, of_sequences, true, free - outside.high}),
          tried({scenario, of_sequences, false, free - outside.low})};
}

}  // namespace

Largest most_sequences(const Scenario& scenario, double usable_bytes) {
  return largest_of(scenario, usable_bytes, true);
}

Largest longest_context(const Scenario& scenario, double usable_bytes) {
  return largest_of(scenario, usable_bytes, false);
}

}  // namespace ledger::serving
