// Reads `serving`: what is served after the training or beside it, by which engine.
#include <algorithm>
#include <cmath>

#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

struct ServingKey {
  std::string_view key;
  std::string_view engines;  // that have it
};
constexpr ServingKey kServingKeys[] = {
    {"engine", "transformers vllm sglang"},
    {"dtype", "transformers vllm sglang"},
    {"prompt_length", "transformers vllm sglang"},
    {"max_new_tokens", "transformers vllm sglang"},
    {"batch_size", "transformers"},
    {"cache_implementation", "transformers"},
    {"prefill_chunk_size", "transformers"},
    {"do_sample", "transformers"},
    {"padded", "transformers"},
    {"gpu_memory_utilization", "vllm"},
    {"max_num_batched_tokens", "vllm"},
    {"max_num_seqs", "vllm"},
    {"block_size", "vllm"},
    {"enforce_eager", "vllm"},
    {"mem_fraction_static", "sglang"},
    {"chunked_prefill_size", "sglang"},
    {"cuda_graph_max_bs", "sglang"},
    {"page_size", "sglang"},
    {"kv_cache_dtype", "vllm sglang"},
    {"colocated", "vllm sglang"},
    {"sleep_level", "vllm sglang"},
};

bool has(const ServingKey& row, std::string_view engine) {
  return row.engines.find(engine) != row.engines.npos;
}

template <std::size_t n>
std::vector<std::string_view> ids(const std::array<Choice, n>& choices) {
  std::vector<std::string_view> out;
  for (const Choice& c : choices) out.push_back(c.id);
  return out;
}

void refuse_keys_of_other_engines(const Value& given, std::string_view engine, Findings& findings) {
  for (const ServingKey& row : kServingKeys) {
    const Value* value = given.find(row.key);
    if (!value || value->is_null() || has(row, engine)) continue;
    const std::string path = "serving." + std::string(row.key);
    findings.add(path,
                 path + " has no meaning for engine " + std::string(engine) + "; leave it out.",
                 *value);
  }
}

}  // namespace

std::optional<Serving> read_serving(const Value& scenario, Dtype trained, Findings& findings) {
  const Value* given = object(scenario.find("serving"), "serving", findings);
  if (!given) return {};
  std::vector<std::string_view> keys;
  for (const ServingKey& row : kServingKeys) keys.push_back(row.key);
  check_keys(*given, "serving", keys, findings);
  const auto text_of = [&](std::string_view key, const std::vector<std::string_view>& accepted,
                           std::string_view otherwise) {
    return choice(given->find(key), "serving." + std::string(key), accepted, findings)
        .value_or(std::string(otherwise));
  };
  const auto number_of = [&](std::string_view key) {
    const std::string path = "serving." + std::string(key);
    const Limit limit = limit_of(path);
    return number(given->find(key), {path, limit.min, limit.max, limit.whole}, findings);
  };
  const auto flag_of = [&](std::string_view key) {
    return flag(given->find(key), "serving." + std::string(key), findings).value_or(false);
  };
  Serving s;
  s.engine = text_of("engine", ids(kEngines), "transformers");
  refuse_keys_of_other_engines(*given, s.engine, findings);
  // The engines load 32-bit checkpoints in 16 bit unless told otherwise.
  const bool narrows = s.engine != "transformers" && trained == Dtype::kFloat32;
  s.dtype = dtype(given->find("dtype"), "serving.dtype", findings)
                .value_or(narrows ? Dtype::kBFloat16 : trained);
  s.prompt_length = number_of("prompt_length").value_or(s.prompt_length);
  s.max_new_tokens = number_of("max_new_tokens").value_or(s.max_new_tokens);
  s.batch_size = number_of("batch_size").value_or(s.batch_size);
  s.cache_implementation = text_of("cache_implementation", ids(kCacheImplementations), "dynamic");
  s.prefill_chunk_size = number_of("prefill_chunk_size").value_or(0);
  s.do_sample = flag_of("do_sample");
  s.padded = flag_of("padded");
  s.gpu_memory_utilization = number_of("gpu_memory_utilization").value_or(s.gpu_memory_utilization);
  s.max_num_batched_tokens = number_of("max_num_batched_tokens").value_or(s.max_num_batched_tokens);
  s.max_num_seqs = number_of("max_num_seqs").value_or(s.max_num_seqs);
  s.block_size = number_of("block_size").value_or(s.block_size);
  s.enforce_eager = flag_of("enforce_eager");
  s.mem_fraction_static = number_of("mem_fraction_static");
  s.chunked_prefill_size = number_of("chunked_prefill_size");
  s.cuda_graph_max_bs = number_of("cuda_graph_max_bs");
  s.page_size = number_of("page_size").value_or(s.page_size);
  s.fp8_cache = text_of("kv_cache_dtype", ids(kCacheDtypes), "auto") == "fp8";
  s.colocated = flag_of("colocated");
  s.sleep_level = number_of("sleep_level").value_or(0);
  return s;
}

void check_serving(const Scenario& scenario, Findings& findings) {
  const Serving& s = *scenario.serving;
  if (s.sleep_level > 0 && !s.colocated) {
    findings.add("serving.sleep_level",
                 "serving.sleep_level is given, but serving.colocated is not: an engine sleeps to "
                 "make room for a training on the same device. Give colocated true, or leave it "
                 "out.",
                 grouped(s.sleep_level));
  }
  if (s.engine != "transformers") {
    if (!scenario.device.total_bytes) {
      findings.add("serving.engine",
                   "serving.engine " + quoted(s.engine) +
                       " takes a share of the card's memory, whose size is not known; give card or "
                       "device.total_bytes.",
                   s.engine);
    }
    return;
  }
  if (s.cache_implementation == "static" && s.prefill_chunk_size > 0) {
    findings.add("serving.prefill_chunk_size",
                 "serving.prefill_chunk_size together with cache_implementation static is not "
                 "modelled; leave one of them out.",
                 grouped(s.prefill_chunk_size));
  }
  const std::string_view type = scenario.model.model_type;
  if (std::find(kServes.begin(), kServes.end(), type) != kServes.end()) return;
  findings.add("serving.engine",
               "serving.engine transformers is not modelled yet for " + std::string(type) +
                   "; it is for " + listed({kServes.begin(), kServes.end()}, "and") +
                   ". The engines vllm and sglang are, by their account of the cache.");
}

Value serving_of(const Serving& s) {
  Value out = Value::object();
  out.add_text("engine", s.engine);
  out.add_text("dtype", name_of(s.dtype));
  out.add_number("prompt_length", s.prompt_length);
  out.add_number("max_new_tokens", s.max_new_tokens);
  if (s.engine == "transformers") {
    out.add_number("batch_size", s.batch_size);
    out.add_text("cache_implementation", s.cache_implementation);
    out.add("prefill_chunk_size",
            s.prefill_chunk_size > 0 ? Value::of_number(s.prefill_chunk_size) : Value());
    out.add_flag("do_sample", s.do_sample);
    out.add_flag("padded", s.padded);
    return out;
  }
  const auto or_null = [](const std::optional<double>& number) {
    return number ? Value::of_number(*number) : Value();
  };
  if (s.engine == "vllm") {
    out.add_number("gpu_memory_utilization", s.gpu_memory_utilization);
    out.add_number("max_num_batched_tokens", s.max_num_batched_tokens);
    out.add_number("max_num_seqs", s.max_num_seqs);
    out.add_number("block_size", s.block_size);
    out.add_flag("enforce_eager", s.enforce_eager);
  } else {
    out.add("mem_fraction_static", or_null(s.mem_fraction_static));
    out.add("chunked_prefill_size", or_null(s.chunked_prefill_size));
    out.add("cuda_graph_max_bs", or_null(s.cuda_graph_max_bs));
    out.add_number("page_size", s.page_size);
  }
  out.add_text("kv_cache_dtype", s.fp8_cache ? "fp8" : "auto");
  out.add_flag("colocated", s.colocated);
  out.add_number("sleep_level", s.sleep_level);
  return out;
}

}  // namespace ledger::reading
