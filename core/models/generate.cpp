// Statement by statement as transformers samples: generation/utils.py, generate and _sample, with
// GenerationConfig's defaults and do_sample (temperature 1, no top-k, no top-p).
#include "core/models/generate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/models/cache.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/layout.hpp"
#include "core/reduction.hpp"

namespace ledger::models {
namespace {

// Events that passes of one token, or those of a prompt in chunks, may have together; a pass has
// about so many a layer.
constexpr double kMostEvents = 300000, kEventsPerLayer = 100;
constexpr double kFewChunks = 6;  // of a prompt: the first three and the last three

double most_passes(const DecoderConfig& config) {
  return std::max(4.0, std::floor(kMostEvents / (kEventsPerLayer * config.layers.value())));
}

struct Sampler {
  Tape& t;
  const Decoder& model;
  const GenerateRequest& request;
  Count batch, vocabulary;
  KeyValueCache cache{};
  Tensor ids{}, attention_mask{}, positions{}, unfinished{};
  Tensor logits{}, scores{}, probabilities{}, next{};

  Tensor numbers(Count count, const char* what) {  // of 64 bit
    return t.scratch(t.shape({count}), Dtype::kInt64, what);
  }
  Tensor rows(Count length, const char* what) {
    return t.scratch(t.shape({batch, length}), Dtype::kInt64, what);
  }

  // torch.isin(pad, eos).any() and the checks around it, all of which are read back.
  void check_special_tokens(const Tensor& mask) {
    {
      Tensor a = t.bytes(1, "truth value"), b = t.bytes(1, "truth value");
      Tensor c = t.bytes(1, "truth value");
    }
    { Tensor a = t.bytes(1, "truth value"), b = t.bytes(1, "truth value"); }
    {
      Tensor last = numbers(1, "last tokens that are padding");
      Tensor any = t.bytes(1, "truth value");
    }
    (void)mask;
  }

  void count_positions() {
    Tensor counted = running_sum(t, request.attention_mask, "positions counted");
    Tensor shifted = rows(request.prompt, "positions from zero");
    counted.reset();
    Tensor padding = t.bytes(batch * request.prompt, "tokens that are padding");
    positions = rows(request.prompt, "position ids");
  }

  Tensor run(const Tensor& new_ids, const Tensor& new_positions, Count length) {
    Inputs in;
    in.ids = new_ids;
    in.position_ids = new_positions;
    in.attention_mask = attention_mask;
    in.padded = request.padded;
    in.cache = &cache;
    cache.length = length;
    Tensor narrow;
    {
      const Autocast autocast(t, request.autocast, request.autocast_dtype);
      const Within here(t, t.place("model"), -1);
      Tensor hidden = backbone(t, model, in);
      const Count width = hidden.dim(2);
      Tensor last = t.view(hidden, t.shape({batch, 1, width}), false);
      narrow = model.config.blocks.head(t, model, std::move(last));
    }
    if (!request.autocast) return narrow;
    return ops::to(t.as("logits in 32 bit"), narrow, Dtype::kFloat32);
  }

  void prefill() {
    if (request.chunk > 0 && request.chunk < request.prompt.value()) return prefill_in_chunks();
    Tensor own = rows(request.prompt, "token ids");
    logits = run(own, positions, request.prompt);
  }

  // GenerationConfig's prefill_chunk_size. Ids and positions of a chunk are slices, copied. Of many
  // chunks the first and the last ones are replayed: the first after a gap finds too short a cache,
  // those behind it the right one.
  void prefill_in_chunks() {
    const double chunks = std::ceil(request.prompt.value() / request.chunk);
    const double most = request.passes_shown > 0 ? kFewChunks : most_passes(model.config);
    const double shown = std::min(chunks, std::max(most, kFewChunks));
    const double before = shown < chunks ? std::floor(shown / 2) : chunks;
    Tensor chunk_ids, chunk_positions;  // names of the loop
    for (double i = 0; i < chunks; i += 1) {
      if (i == before) i = chunks - (shown - before);
      const double done = i * request.chunk;
      const double last = std::min(done + request.chunk, request.prompt.value());
      const Count length = last == request.prompt.value() ? request.prompt : Count(last);
      chunk_ids = rows(Count(last - done), "token ids");
      chunk_positions = rows(Count(last - done), "position ids");
      logits = run(chunk_ids, chunk_positions, length);
    }
  }

  // Positions and mask grow by one token.
  void grow(Count length) {
    {
      Tensor range = numbers(1, "range");
      Tensor last = numbers(batch, "last position");
      range.reset();
      Tensor following = numbers(batch, "next position");
      last.reset();
      positions = rows(length, "position ids");
    }
    Tensor ones = numbers(batch, "attention mask of a token");
    attention_mask = rows(length, "attention mask");
  }

  // torch.multinomial(probabilities, 1) with its checks.
  Tensor choose() {
    Tensor chosen = numbers(batch, "next tokens");
    Tensor least = t.bytes(4, "smallest probability"), most = t.bytes(4, "largest probability");
    allocate_working_space(t, {batch * vocabulary, 1, true, Dtype::kFloat32, 1, 8});
    Tensor sound = t.bytes(1, "whether all are probabilities");
    Tensor sums = t.bytes(Count(4) * batch, "sum of each row");
    sums.reset();
    Tensor whole = t.bytes(1, "whether a row sums to nothing");
    Tensor race = t.scratch(probabilities.shape(), Dtype::kFloat32, "exponential random numbers");
    // The largest of each row, a number and its index.
    allocate_working_space(t, {vocabulary, batch, true, Dtype::kFloat32, 1, 16});
    return chosen;
  }

  void sample(Count length) {
    // A copy even where the type is that already.
    scores = t.scratch(t.shape({batch, vocabulary}), Dtype::kFloat32, "scores of the next token");
    Tensor chosen;
    if (request.greedy) {
      chosen = numbers(batch, "next tokens");
      allocate_working_space(t, {vocabulary, batch, true, Dtype::kFloat32, 1, 16});
    } else {
      probabilities = t.scratch(scores.shape(), Dtype::kFloat32, "probabilities of the next token");
      chosen = choose();
    }
    {
      Tensor kept = numbers(batch, "next tokens");
      Tensor finished = numbers(batch, "finished sequences");
      Tensor padding = numbers(batch, "padding of finished sequences");
      next = numbers(batch, "next tokens");
    }
    chosen.reset();
    ids = rows(length, "token ids");
    unfinished = numbers(batch, "unfinished sequences");
  }
};

// Of many passes in a row only the first and the last ones are replayed: between them the cache
// only grows.
double passes_shown(const DecoderConfig& config, const GenerateRequest& request) {
  const double most = most_passes(config);
  const double asked = request.passes_shown > 0 ? request.passes_shown : most;
  return std::min({request.new_tokens, most, asked});
}

}  // namespace

bool shortens(const DecoderConfig& config, double new_tokens) {
  return new_tokens > most_passes(config);
}

Completions generate(Tape& t, const Decoder& model, const GenerateRequest& request) {
  const NoGrad no_grad(t);
  const Within here(t, t.place("generate"), -1);
  Sampler s{t, model, request, request.ids.dim(0), model.config.vocabulary};
  Tensor end = s.numbers(1, "end of text"), padding = s.numbers(1, "padding");
  s.ids = request.ids;
  s.attention_mask = request.attention_mask;
  s.check_special_tokens(request.attention_mask);
  s.count_positions();
  Tensor first_positions = s.positions;  // generate()'s own names
  s.unfinished = s.numbers(s.batch, "unfinished sequences");
  s.cache.window = model.config.window;
  s.cache.windowed = &model.config.windowed;
  if (request.static_cache) s.cache.static_length = request.prompt + Count(request.new_tokens - 1);
  s.prefill();
  Completions out;
  out.prefilled = t.record().events.size();
  model.decodes = true;
  const double shown = passes_shown(model.config, request);
  const double before = shown < request.new_tokens ? std::ceil(shown / 2) : request.new_tokens;
  const double last_begin = request.new_tokens - (shown - before) + 1;
  Tensor pass_ids, pass_positions, pass_mask;
  for (double token = 1;; token += 1) {
    if (token > before && token < last_begin) token = last_begin;
    const Count length = request.prompt + Count(token);
    s.grow(length);
    s.sample(length);
    s.logits.reset();
    if (token >= request.new_tokens) break;
    Tensor new_ids = s.numbers(s.batch, "token ids");
    Tensor new_positions = s.numbers(s.batch, "position ids");
    pass_ids = t.view(new_ids, t.shape({s.batch, 1}), false);
    pass_positions = t.view(new_positions, t.shape({s.batch, 1}), false);
    new_ids.reset();
    new_positions.reset();
    pass_mask = s.attention_mask;
    s.logits = s.run(pass_ids, pass_positions, length);
  }
  model.decodes = false;
  out.ids = s.ids;
  out.cache = std::move(s.cache);
  return out;
}

}  // namespace ledger::models
