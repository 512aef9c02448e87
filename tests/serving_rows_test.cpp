// Generation by transformers, and forward passes without gradients, against PyTorch's own
// allocator.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/models/generate.hpp"
#include "core/report.hpp"
#include "core/serving/generation.hpp"
#include "tests/cases.hpp"

namespace ledger {
namespace {

using rows::json;

// A case as a scenario that serves; the training beside it is of no interest.
json scenario_of_case(const json& c) {
  json serving = {{"engine", "transformers"},
                  {"prompt_length", c.at("prompt")},
                  {"max_new_tokens", c.value("new", 16)},
                  {"batch_size", c.at("batch")}};
  if (c.contains("chunk")) serving["prefill_chunk_size"] = c.at("chunk");
  if (c.contains("cache")) serving["cache_implementation"] = c.at("cache");
  if (c.contains("sample")) serving["do_sample"] = c.at("sample");
  if (c.contains("padded")) serving["padded"] = c.at("padded");
  const std::string attention =
      c.contains("attention") ? c.at("attention") : c.value("attn_implementation", json("sdpa"));
  json scenario = {{"model", c.at("model")},
                   {"dtype", c.contains("weights") ? rows::dtype_of(c.at("weights")) : "bfloat16"},
                   {"attn_implementation", attention},
                   {"training", {{"max_length", 16}}},
                   {"serving", serving}};
  if (c.contains("config")) scenario["config"] = c.at("config");
  return scenario;
}

Scenario read(const json& scenario) {
  const Result<Scenario> result = read_scenario(scenario.dump());
  if (!result.ok()) FAIL(result.problems().front().message);
  return result.value();
}

serving::Generation generated(const Scenario& s) {
  const Serving& of = *s.serving;
  return serving::generation(s, {of.batch_size, of.prompt_length, of.max_new_tokens}, false);
}

// A forward pass without gradients, with a cache or without one, with or without labels.
struct Pass {
  std::uint64_t peak = 0;
  double cache = 0;
};

Pass pass_of(const Scenario& scenario, const json& c) {
  Workings workings;
  Tape t(workings, scenario.device);
  Pass out;
  std::size_t loaded = 0;  // events before; building a tied head takes more for a moment
  {
    models::Decoder model;
    model.config =
        models::find_architecture(scenario.model.model_type)->configure(scenario.model, workings);
    models::build(t, model, scenario.dtype);
    t.empty_cache();
    t.mark(Mark::Kind::kLoaded, 0);
    loaded = t.record().events.size();
    const NoGrad no_grad(t);
    const Count length = c.at("prompt").get<double>();
    const Shape shape = t.shape({Count(c.at("batch").get<double>()), length});
    models::KeyValueCache cache;
    cache.length = length;
    cache.window = model.config.window;
    cache.windowed = &model.config.windowed;
    models::Inputs in;
    in.ids = t.make(shape, Dtype::kInt64, "token ids", Role::kInput);
    if (c.value("mask", false)) {
      in.attention_mask = t.make(shape, Dtype::kInt64, "attention mask", Role::kInput);
      in.padded = c.value("padded", false);
    }
    if (c.at("mode") == "prefill") in.cache = &cache;
    if (c.at("mode") == "forward_loss") {
      const models::Output output = models::forward(t, model, in);
    } else if (c.value("keep", 0) == 1) {
      Tensor hidden = models::backbone(t, model, in);
      const Shape last = t.shape({hidden.dim(0), 1, hidden.dim(2)});
      hidden = t.view(hidden, last, false);
      const Tensor logits = model.config.blocks.head(t, model, hidden);
    } else {
      const Tensor logits = models::logits_of(t, model, in);
    }
    out.cache = cache.bytes();
  }
  const Record record = t.take_record();
  const device::Replay replay = device::replay(record, scenario.allocator);
  for (std::size_t i = loaded; i < replay.allocated.size(); ++i) {
    out.peak = std::max(out.peak, replay.allocated[i]);
  }
  return out;
}

double off(double replayed, double measured) { return std::abs(replayed - measured) / measured; }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

TEST_CASE("the cache has the measured bytes, the peak of generating the measured one") {
  std::vector<double> differences;
  std::size_t outside = 0;
  for (const json& row : rows::read("inference.jsonl.gz")) {
    const json& c = row.at("case");
    const std::string id = row.at("id");
    CAPTURE(id);
    const Scenario scenario = read(scenario_of_case(c));
    const double measured = row.at("peak");
    if (c.at("mode") != "generate") {
      const Pass pass = pass_of(scenario, c);
      differences.push_back(off(static_cast<double>(pass.peak), measured));
      CHECK(differences.back() < 0.001);
      if (row.contains("kv_bytes")) CHECK(pass.cache == row.at("kv_bytes"));
      continue;
    }
    if (c.value("no_cache", false)) {  // use_cache=False is no way to serve
      ++outside;
      continue;
    }
    const serving::Generation g = generated(scenario);
    CHECK(g.weights == row.at("weights"));
    CHECK(g.cache == row.at("kv_bytes"));
    differences.push_back(off(static_cast<double>(g.peak()), measured));
    CHECK(differences.back() < 0.001);
  }
  CHECK(outside == 1);
  CHECK(median(differences) < 1e-6);
}

// Small, so that a number of eight bytes counts for more. What a window leaves of the cache is a
// view, of which these rows have what is seen, not what is held.
TEST_CASE("generating has the measured peak in every family that is served") {
  std::vector<double> differences;
  for (const json& row : rows::read("generation.jsonl.gz")) {
    const json scenario = scenario_of_case(row.at("case"));
    const Result<Scenario> result = read_scenario(scenario.dump());
    if (!result.ok()) continue;  // another family
    CAPTURE(row.at("id").get<std::string>());
    const json& measured = row.at("measured");
    const serving::Generation g = generated(result.value());
    CHECK(g.weights == measured.at("weights"));
    if (measured.at("kinds") != json({"DynamicSlidingWindowLayer"}) &&
        measured.at("kinds").size() == 1)
      CHECK(g.cache == measured.at("kv"));
    differences.push_back(off(static_cast<double>(g.peak()), measured.at("peak")));
    CHECK(differences.back() < 0.001);
  }
  CHECK(differences.size() >= 15);
  CHECK(median(differences) < 1e-5);
}

}  // namespace ledger
