// Sources: vllm/v1/worker/gpu_worker.py (determine_available_memory),
// vllm/v1/core/kv_cache_utils.py; sglang/srt/server_args.py (mem_fraction_static),
// sglang/srt/model_executor/model_runner.py (profile_max_num_token). What they measure at start
// cannot be derived: it is a range.
#include "core/serving/engine.hpp"

#include <algorithm>
#include <cmath>

namespace ledger::serving {
namespace {

constexpr double kMiB = 1048576, kGiB = 1073741824;

// Numbers of one token that the widest moment of a layer holds: what gate and up put out, the
// hidden states and the residual stream; at most the product of gate and up beside them.
Range widths(const models::DecoderConfig& c) {
  const models::MixtureConfig& m = c.mixture;
  double wide = c.feed_forward.value();
  if (m.experts.value() > 0) {
    wide = m.chosen.value() * m.feed_forward.value() + m.shared_feed_forward.value();
  }
  const double stream = 2 * c.hidden.value();
  return {2 * wide + stream, 3 * wide + stream};
}

// The sampler's trial run: logits as they come, in 32 bit, as probabilities, sorted with indices of
// 64 bit.
double sampler_bytes(double sequences, double vocabulary, double bytes_of_logit) {
  return sequences * vocabulary * (bytes_of_logit + 4 + 4 + 4 + 8);
}

Range activations_of(const models::DecoderConfig& c, double tokens, double sequences, Dtype dtype) {
  const double e = bytes_of(dtype);
  const Range numbers = widths(c);
  return {std::floor(tokens * numbers.low * e),
          std::ceil(tokens * numbers.high * e + sampler_bytes(sequences, c.vocabulary.value(), e))};
}

constexpr const char* kActivations =
    "of a trial run with as many tokens as are taken at once: one layer's widest tensors, at most "
    "with the sampler's; the engine measures it";
constexpr EnginePart kNoGraphs{"CUDA graphs", {0, 0}, "enforce_eager: none are captured"};
const EnginePart kGraphs{"CUDA graphs",
                         {std::floor(0.58 * kGiB), 2464 * kMiB},
                         "0.58 GiB in a log of vLLM 0.21 (wtdcode/vllm-backport#34) to 2,464 MiB "
                         "on four RTX 4090 (vllm-project/vllm#7553)"};

// SGLang's defaults for a card of `total` bytes, small below 35 GiB.
bool is_small(double total) { return total < 35 * kGiB; }
double chunk_of(const Serving& s, double total) {
  return s.chunked_prefill_size.value_or(is_small(total) ? 2048 : 8192);
}

// What SGLang leaves of a card, MiB: for activations by the tokens of a chunk, for graphs by their
// largest batch, for the rest a constant; more on a large card.
double reserved_by_sglang(const Serving& s, double total) {
  const double chunk = chunk_of(s, total);
  const double graphs = s.cuda_graph_max_bs.value_or(is_small(total) ? 8 : 256);
  const double ranks = 1;
  const double reserved = 512 + 1.5 * std::max(chunk, 2048.0) + 2 * graphs + 1024 * ranks / 8;
  return total > 60 * kGiB ? std::max(reserved, 10240.0) : reserved;
}

Range positive(Range range) { return {std::max(0.0, range.low), std::max(0.0, range.high)}; }

// Whole blocks, their tokens, and how many sequences of the scenario's length they hold at once.
void fill(Engine& e, const std::vector<CacheKind>& kinds, const Serving& s) {
  e.block_bytes = bytes_per_token(kinds).value() * e.block_tokens;
  const double tokens = s.context();
  const double of_one = of_sequence(kinds, std::ceil(tokens / e.block_tokens) * e.block_tokens);
  const auto blocks = [&](double bytes) {
    return e.block_bytes > 0 ? std::floor(bytes / e.block_bytes) : 0;
  };
  e.blocks = {blocks(e.cache.low), blocks(e.cache.high)};
  e.tokens = {e.blocks.low * e.block_tokens, e.blocks.high * e.block_tokens};
  e.sequences = {std::floor(e.cache.low / of_one), std::floor(e.cache.high / of_one)};
}

void as_vllm(Engine& e, const models::DecoderConfig& c, const Scenario& scenario) {
  const Serving& s = *scenario.serving;
  const double total = *scenario.device.total_bytes;
  const double budget = std::floor(total * s.gpu_memory_utilization);
  e.fraction = s.gpu_memory_utilization;
  e.fraction_source = "gpu_memory_utilization, of the card's whole memory";
  e.budget = {"share of the card",
              {budget, budget},
              "vllm/v1/worker/gpu_worker.py: total memory times gpu_memory_utilization"};
  e.activations = {"activations of the trial run",
                   activations_of(c, s.max_num_batched_tokens, s.max_num_seqs, s.dtype),
                   kActivations};
  e.graphs = s.enforce_eager ? kNoGraphs : kGraphs;
  const Range context = sum(device::process_parts(scenario));
  e.outside = {"beside PyTorch",
               {std::floor(0.1 * kGiB), context.high},
               "0.10 GiB in a log of vLLM, where only what grew is counted, to the whole context, "
               "which earlier versions count"};
  e.cache = positive(
      {budget - e.weights - e.activations.bytes.high - e.graphs.bytes.high - e.outside.bytes.high,
       budget - e.weights - e.activations.bytes.low - e.outside.bytes.low});
  e.block_tokens = s.block_size;
  // Before version 0.21 graphs came on top of the share.
  e.awake = {budget, budget + e.graphs.bytes.high + context.high};
}

void as_sglang(Engine& e, const models::DecoderConfig& c, const Scenario& scenario) {
  const Serving& s = *scenario.serving;
  const double total = *scenario.device.total_bytes;
  const Range context = sum(device::process_parts(scenario));
  const Range free = {total - scenario.device.other_bytes - context.high,
                      total - scenario.device.other_bytes - context.low};
  const double computed =
      std::floor(1000 * (1 - reserved_by_sglang(s, total) * kMiB / total)) / 1000;
  e.fraction = s.mem_fraction_static.value_or(computed);
  e.fraction_source =
      s.mem_fraction_static
          ? "mem_fraction_static, of what is free when the server starts"
          : "as the server computes mem_fraction_static: 512 MiB, 1.5 for each token of a chunk, 2 "
            "for each sequence of the largest graph, at least 10,240 on cards above 60 GiB are "
            "left";
  e.budget = {"weights and cache",
              {std::floor(free.low * e.fraction), std::floor(free.high * e.fraction)},
              "sglang/srt/model_executor/model_runner.py: profile_max_num_token"};
  e.activations = {"activations", activations_of(c, chunk_of(s, total), 1, s.dtype), kActivations};
  e.graphs = kGraphs;
  e.outside = {"beside PyTorch", context, "the process's context"};
  e.cache = positive({e.budget.bytes.low - e.weights, e.budget.bytes.high - e.weights});
  e.block_tokens = s.page_size;
  // Graphs are captured once weights and cache are there, out of what is left.
  e.awake = {e.budget.bytes.low + e.graphs.bytes.low + context.low,
             e.budget.bytes.high + e.activations.bytes.high + e.graphs.bytes.high + context.high};
}

}  // namespace

Engine engine_of(const Scenario& scenario, const models::DecoderConfig& config,
                 const std::vector<CacheKind>& kinds, double parameters) {
  const Serving& s = *scenario.serving;
  Engine e;
  e.weights = parameters * bytes_of(s.dtype);
  if (s.engine == "vllm") {
    as_vllm(e, config, scenario);
  } else {
    as_sglang(e, config, scenario);
  }
  fill(e, kinds, s);
  const Range context = sum(device::process_parts(scenario));
  e.asleep = e.awake;
  if (s.sleep_level > 0) {
    e.asleep = {context.low, context.high + e.graphs.bytes.high};
    // Host memory is the same memory there.
    const bool kept = s.sleep_level == 1 && scenario.device.unified;
    if (kept) e.asleep = {e.asleep.low + e.weights, e.asleep.high + e.weights};
  }
  return e;
}

}  // namespace ledger::serving
