// Writes `serving`, key by key as in docs/contract.md.
#include "core/serving/report.hpp"

#include <algorithm>
#include <cmath>

#include "core/serving/cache_plan.hpp"
#include "core/serving/engine.hpp"
#include "core/serving/generation.hpp"

namespace ledger::serving {
namespace {

using json::Writer;

// Ray's monitor ends a node's workers above this share of its memory.
constexpr double kMonitor = 0.95;

void write_range(Writer& w, std::string_view key, Range range) {
  w.key(key).begin_object().key("low").number(range.low);
  w.key("high").number(range.high).end_object();
}

void write_part(Writer& w, std::string_view key, const EnginePart& part) {
  w.key(key).begin_object().key("what").text(part.what).key("low").number(part.bytes.low);
  w.key("high").number(part.bytes.high).key("source").text(part.source).end_object();
}

void write_working(Writer& w, Bytes bytes) {
  const Expression* working = bytes.working();
  if (!working) return;
  w.key("symbols").text(to_text(*working, Notation::kSymbols));
  w.key("figures").text(to_text(*working, Notation::kFigures));
  w.key("mathml").text("<math>" + to_mathml(*working, Notation::kSymbols) + "</math>");
  w.key("mathml_figures").text("<math>" + to_mathml(*working, Notation::kFigures) + "</math>");
}

void write_cache(Writer& w, const std::vector<CacheKind>& kinds, double tokens, double sequences) {
  const Bytes per_token = bytes_per_token(kinds);
  w.key("cache").begin_object().key("bytes_per_token").number(per_token.value());
  write_working(w, per_token);
  w.key("tokens").number(tokens).key("sequences").number(sequences);
  w.key("bytes").number(of_sequence(kinds, tokens) * sequences);
  w.key("kinds").begin_list();
  for (const CacheKind& kind : kinds) {
    const bool fixed = kind.fixed.value() > 0;
    w.begin_object().key("what").text(kind.what).key("layers").number(kind.layers.value());
    w.key("bytes_per_token").number(kind.per_token.value());
    w.key("bytes_per_sequence").number(kind.fixed.value());
    w.key("window");
    if (kind.window.value() > 0) {
      w.number(kind.window.value());
    } else {
      w.null();
    }
    write_working(w, fixed ? kind.fixed : kind.per_token);
    w.key("source").text(kind.source).end_object();
  }
  w.end_list().end_object();
}

std::string_view fits_word(double low, double high, double limit) {
  return high <= limit ? "yes" : low > limit ? "no" : "close";
}

void write_largest(Writer& w, std::string_view key, const Largest& largest) {
  write_range(w, key, {largest.surely, largest.at_best});
}

void write_generation(Writer& w, const Scenario& scenario) {
  const Serving& s = *scenario.serving;
  const Generation g =
      generation(scenario, {s.batch_size, s.prompt_length, s.max_new_tokens}, false);
  w.key("weights_bytes").whole(g.weights).key("cache_bytes").number(g.cache);
  w.key("prefill_peak_bytes").whole(g.prefill_peak);
  w.key("decode_peak_bytes").whole(g.decode_peak);
  w.key("peak_bytes").whole(g.peak()).key("end_bytes").whole(g.end);
  w.key("reserved_bytes").whole(g.reserved);
  w.key("shortened").flag(g.shortened).key("room");
  if (!scenario.device.total_bytes) {
    w.null();
    return;
  }
  const double usable = *scenario.device.total_bytes;
  const Range outside = sum(device::process_parts(scenario));
  const double other = scenario.device.other_bytes;
  const Range needed = {static_cast<double>(g.peak()) + outside.low + other,
                        static_cast<double>(g.reserved) + outside.high + other};
  w.begin_object().key("usable_bytes").number(usable);
  write_range(w, "needed_bytes", needed);
  w.key("fits").text(fits_word(needed.low, needed.high, usable));
  write_largest(w, "longest_context", longest_context(scenario, usable));
  write_largest(w, "most_sequences", most_sequences(scenario, usable));
  w.end_object();
}

void write_colocated(Writer& w, const Scenario& scenario, const Engine& e, const Trained& trained) {
  w.key("colocated");
  if (!scenario.serving->colocated) {
    w.null();
    return;
  }
  const Device& d = scenario.device;
  const double limit = std::floor(d.unified ? kMonitor * *d.total_bytes : *d.total_bytes);
  const Range rollout = {trained.between.low + e.awake.low + d.other_bytes,
                         trained.between.high + e.awake.high + d.other_bytes};
  const Range training = {trained.while_training.low + e.asleep.low + d.other_bytes,
                          trained.while_training.high + e.asleep.high + d.other_bytes};
  w.begin_object().key("limit_bytes").number(limit).key("limit_source");
  w.text(d.unified ? "Ray's memory monitor ends workers above 95 % of a node's memory "
                     "(memory_usage_threshold, src/ray/common/ray_config_def.h)"
                   : "what PyTorch can use of the card");
  const Range worst = {std::max(rollout.low, training.low), std::max(rollout.high, training.high)};
  w.key("fits").text(fits_word(worst.low, worst.high, limit));
  w.key("phases").begin_list();
  for (const bool trains : {false, true}) {
    w.begin_object().key("phase").text(trains ? "training" : "rollout");
    write_range(w, "trainer_bytes", trains ? trained.while_training : trained.between);
    write_range(w, "engine_bytes", trains ? e.asleep : e.awake);
    write_range(w, "bytes", trains ? training : rollout);
    const Range& r = trains ? training : rollout;
    w.key("fits").text(fits_word(r.low, r.high, limit)).end_object();
  }
  w.end_list().key("state_16P_bytes").number(16 * trained.parameters);
  w.end_object();
}

std::string engine_sentence(const Engine& e) {
  if (e.sequences.high < 1) {
    return "The engine has no room for one sequence of this length: raise the fraction, shorten "
           "the sequence, or take a smaller model or a cache of one byte a number.";
  }
  if (e.sequences.low < 1) {
    return "Whether the engine has room for one sequence of this length depends on what it "
           "measures "
           "at its start.";
  }
  return "The engine starts, and has room for at least one sequence of this length.";
}

void write_engine(Writer& w, const Scenario& scenario, const Engine& e, const Trained& trained) {
  w.key("weights_bytes").number(e.weights).key("fraction").number(e.fraction);
  w.key("fraction_source").text(e.fraction_source);
  write_part(w, "budget", e.budget);
  write_part(w, "activations", e.activations);
  write_part(w, "graphs", e.graphs);
  write_part(w, "outside", e.outside);
  write_range(w, "cache_bytes", e.cache);
  w.key("block_tokens").number(e.block_tokens).key("block_bytes").number(e.block_bytes);
  write_range(w, "blocks", e.blocks);
  write_range(w, "cache_tokens", e.tokens);
  write_range(w, "sequences", e.sequences);
  w.key("starts").text(e.sequences.low >= 1 ? "yes" : e.sequences.high >= 1 ? "close" : "no");
  w.key("why").text(engine_sentence(e));
  write_colocated(w, scenario, e, trained);
}

}  // namespace

void write_serving(Writer& w, const Scenario& scenario, const Trained& trained) {
  w.key("serving");
  const Serving& s = *scenario.serving;
  const bool by_engine = s.engine != "transformers";
  Workings workings;
  const models::DecoderConfig own =
      models::find_architecture(scenario.model.model_type)->configure(scenario.model, workings);
  w.begin_object().key("engine").text(s.engine);
  // The last token that is generated is never put into the cache.
  const std::vector<CacheKind> kinds = cache_kinds(own, s.dtype, s.fp8_cache, workings);
  write_cache(w, kinds, s.context() - 1, by_engine ? 1 : s.batch_size);
  if (by_engine) {
    write_engine(w, scenario, engine_of(scenario, own, kinds, trained.parameters), trained);
  } else {
    write_generation(w, scenario);
  }
  w.end_object();
}

}  // namespace ledger::serving
