// Reads `parallel`: which part of a run over several devices one rank is.
#include <algorithm>
#include <cmath>

#include "core/nearest.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

struct ParallelKey {
  std::string_view key;
  std::string_view strategies;  // that have it; empty: not modelled yet
};
constexpr ParallelKey kParallelKeys[] = {
    {"strategy", "ddp fsdp2 hsdp tp"},
    {"world_size", "ddp fsdp2 hsdp tp"},
    {"rank", "ddp"},
    {"gradient_as_bucket_view", "ddp"},
    {"static_graph", "ddp"},
    {"find_unused_parameters", "ddp"},
    {"bucket_cap_mb", "ddp"},
    {"comm_hook", "ddp"},
    {"zero_redundancy_optimizer", "ddp"},
    {"parameters_as_bucket_view", "ddp"},
    {"reshard_after_forward", "fsdp2 hsdp"},
    {"param_dtype", "fsdp2 hsdp"},
    {"reduce_dtype", "fsdp2 hsdp"},
    {"dp_replicate_size", "hsdp"},
    {"auto_wrap_policy", "fsdp2 hsdp"},
    {"wrap_embedding_and_head", "fsdp2 hsdp"},
    {"offload_params", "fsdp2 hsdp"},
    {"tensor_parallel_size", "fsdp2 tp"},
    {"sequence_parallel", "fsdp2 tp"},
    {"parallelize_embedding_and_head", "fsdp2 tp"},
    {"loss_parallel", "fsdp2 tp"},
    {"context_parallel_size", ""},
    {"pipeline_parallel_size", ""},
    {"expert_parallel_size", ""},
};

// A word of the list: "tp" is no part of another.
bool has(const ParallelKey& row, std::string_view strategy) {
  return row.strategies.find(strategy) != row.strategies.npos;
}

std::optional<std::string> read_strategy(const Value& given, Findings& findings) {
  std::vector<std::string_view> known;
  for (const Choice& c : kStrategies) known.push_back(c.id);
  const Value* value = given.find("strategy");
  if (!value || value->is_null()) {
    findings.add("parallel.strategy",
                 "parallel.strategy is missing; it must be " + listed(known) + ".");
    return {};
  }
  const bool to_come = std::find(kStrategiesToCome.begin(), kStrategiesToCome.end(), value->text) !=
                       kStrategiesToCome.end();
  if (value->is(Kind::kText) && to_come) {
    const bool zero1 = value->text == "zero1";
    findings.add("parallel.strategy",
                 "parallel.strategy " + quoted(value->text) + " is not modelled yet; it must be " +
                     listed(known) + "." +
                     (zero1 ? " torch's ZeroRedundancyOptimizer is: ddp with "
                              "zero_redundancy_optimizer true."
                            : ""),
                 *value, zero1 ? "ddp" : "fsdp2");
    return {};
  }
  return choice(value, "parallel.strategy", known, findings);
}

// What a size that is not modelled contradicts as well.
std::string contradiction(std::string_view key, double size, const ModelConfig& model) {
  const double layers = model.number("num_hidden_layers");
  if (key == "pipeline_parallel_size" && layers > 0 && size > layers) {
    return " It is above the model's " + grouped(layers) + " layers too.";
  }
  return {};
}

void check_keys_of(const Value& given, std::string_view strategy, const ModelConfig& model,
                   Findings& findings) {
  std::vector<std::string_view> keys;
  for (const ParallelKey& row : kParallelKeys) keys.push_back(row.key);
  check_keys(given, "parallel", keys, findings);
  for (const ParallelKey& row : kParallelKeys) {
    const Value* value = given.find(row.key);
    if (!value || value->is_null()) continue;
    const std::string path = "parallel." + std::string(row.key);
    if (row.strategies.empty()) {
      if (value->is(Kind::kNumber) && value->number == 1) continue;
      const bool whole = value->is(Kind::kNumber) && value->number >= 1;
      findings.add(path,
                   path + " is not modelled yet; leave it out, or give 1." +
                       (whole ? contradiction(row.key, value->number, model) : ""),
                   *value, "1");
    } else if (!strategy.empty() && !has(row, strategy)) {
      if (row.key == "tensor_parallel_size" && value->is(Kind::kNumber) && value->number == 1) {
        continue;
      }
      findings.add(path, path + " has no meaning in " + std::string(strategy) + "; leave it out.",
                   *value);
    }
  }
}

void check_ranks(const Parallel& parallel, Findings& findings) {
  const double groups = parallel.world_size / parallel.tensor_parallel_size;
  const bool tensors_only = parallel.strategy == "tp";
  if (tensors_only && groups != 1) {
    findings.add("parallel.tensor_parallel_size",
                 "parallel.tensor_parallel_size is " + grouped(parallel.tensor_parallel_size) +
                     ", but in tp all ranks divide the same weights: it is parallel.world_size, " +
                     grouped(parallel.world_size) + ". fsdp2 takes both.",
                 grouped(parallel.tensor_parallel_size), grouped(parallel.world_size));
    return;
  }
  if (tensors_only && parallel.world_size < 2) {
    findings.add("parallel.world_size",
                 "parallel.world_size is 1, which leaves nothing to divide; tp begins with two.",
                 "1", "2");
    return;
  }
  if (std::fmod(parallel.world_size, parallel.tensor_parallel_size) != 0) {
    findings.add("parallel.tensor_parallel_size",
                 "parallel.tensor_parallel_size is " + grouped(parallel.tensor_parallel_size) +
                     ", which does not divide parallel.world_size, " +
                     grouped(parallel.world_size) + ".",
                 grouped(parallel.tensor_parallel_size));
    return;
  }
  if (parallel.rank >= parallel.world_size) {
    findings.add("parallel.rank",
                 "parallel.rank is " + grouped(parallel.rank) + ", but ranks count from 0 to " +
                     grouped(parallel.world_size - 1) + ".",
                 grouped(parallel.rank));
  }
  const bool divides = std::fmod(parallel.world_size, parallel.dp_replicate_size) == 0;
  if (parallel.shards() && divides && parallel.shard_size() < 2) {
    findings.add("parallel.world_size",
                 "parallel.world_size is " + grouped(parallel.world_size) +
                     ", which leaves one rank to divide over; " + parallel.strategy +
                     " is modelled from two on. ddp keeps all on each rank.",
                 grouped(parallel.world_size));
  }
  if (!divides) {
    findings.add("parallel.dp_replicate_size",
                 "parallel.dp_replicate_size is " + grouped(parallel.dp_replicate_size) +
                     ", which does not divide parallel.world_size, " +
                     grouped(parallel.world_size) + ".",
                 grouped(parallel.dp_replicate_size));
  }
  if (parallel.parameters_as_bucket_view && !parallel.zero_redundancy_optimizer) {
    findings.add("parallel.parameters_as_bucket_view",
                 "parallel.parameters_as_bucket_view is an argument of ZeroRedundancyOptimizer; "
                 "give zero_redundancy_optimizer true as well, or leave it out.");
  }
  if (parallel.static_graph && parallel.find_unused_parameters) {
    findings.add("parallel.find_unused_parameters",
                 "parallel.find_unused_parameters has no effect with static_graph; leave one of "
                 "the two out.");
  }
}

}  // namespace

std::optional<Parallel> read_parallel(const Value& scenario, const ModelConfig& model,
                                      Findings& findings) {
  const Value* given = object(scenario.find("parallel"), "parallel", findings);
  if (!given) return {};
  Parallel parallel;
  const auto strategy = read_strategy(*given, findings);
  if (strategy) parallel.strategy = *strategy;
  check_keys_of(*given, parallel.strategy, model, findings);
  const auto read = [&](std::string_view key) {
    const std::string path = "parallel." + std::string(key);
    const Limit limit = limit_of(path);
    return number(given->find(key), {path, limit.min, limit.max, limit.whole}, findings);
  };
  const auto read_flag = [&](std::string_view key, bool& field) {
    field = flag(given->find(key), "parallel." + std::string(key), findings).value_or(field);
  };
  const std::size_t before = findings.size();
  const Value* size = given->find("world_size");
  if (!size || size->is_null()) {
    findings.add("parallel.world_size",
                 "parallel.world_size is missing: over how many ranks the run goes.");
  }
  parallel.world_size = read("world_size").value_or(1);
  parallel.rank = read("rank").value_or(0);
  read_flag("gradient_as_bucket_view", parallel.gradient_as_bucket_view);
  read_flag("static_graph", parallel.static_graph);
  read_flag("find_unused_parameters", parallel.find_unused_parameters);
  read_flag("zero_redundancy_optimizer", parallel.zero_redundancy_optimizer);
  read_flag("parameters_as_bucket_view", parallel.parameters_as_bucket_view);
  parallel.bucket_cap_mb = read("bucket_cap_mb");
  const auto hook = choice(given->find("comm_hook"), "parallel.comm_hook",
                           {"bf16_compress_hook", "fp16_compress_hook"}, findings);
  if (hook) parallel.comm_hook = hook->starts_with("bf16") ? Dtype::kBFloat16 : Dtype::kFloat16;
  parallel.reshard_after_forward =
      flag(given->find("reshard_after_forward"), "parallel.reshard_after_forward", findings);
  parallel.param_dtype = dtype(given->find("param_dtype"), "parallel.param_dtype", findings);
  parallel.reduce_dtype = dtype(given->find("reduce_dtype"), "parallel.reduce_dtype", findings);
  parallel.dp_replicate_size = read("dp_replicate_size").value_or(parallel.dp_replicate_size);
  const auto wrap = choice(given->find("auto_wrap_policy"), "parallel.auto_wrap_policy",
                           {"TRANSFORMER_BASED_WRAP", "NO_WRAP"}, findings);
  parallel.wraps_layers = wrap != "NO_WRAP";
  read_flag("wrap_embedding_and_head", parallel.wraps_ends);
  read_flag("offload_params", parallel.offload_params);
  parallel.tensor_parallel_size =
      read("tensor_parallel_size").value_or(parallel.strategy == "tp" ? parallel.world_size : 1);
  // A table that is the head as well cannot be divided in both ways.
  parallel.parallelize_embedding_and_head =
      parallel.divides_tensors() && !model.flag("tie_word_embeddings");
  read_flag("parallelize_embedding_and_head", parallel.parallelize_embedding_and_head);
  read_flag("sequence_parallel", parallel.sequence_parallel);
  read_flag("loss_parallel", parallel.loss_parallel);
  const Value* replicas = given->find("dp_replicate_size");
  if (parallel.strategy == "hsdp" && (!replicas || replicas->is_null())) {
    findings.add("parallel.dp_replicate_size",
                 "parallel.dp_replicate_size is missing: how many groups of ranks hold the same "
                 "shards.");
  }
  if (findings.size() == before) check_ranks(parallel, findings);
  if (!strategy) return {};
  return parallel;
}

void check_parallel(const Scenario& scenario, Findings& findings) {
  const Parallel& parallel = *scenario.parallel;
  const auto refuse = [&](std::string_view path, std::string_view why, std::string near = {}) {
    findings.add(std::string(path), std::string(path) + " " + std::string(why), std::string(),
                 std::move(near));
  };
  if (scenario.trainer != "torch") {
    refuse("trainer", "together with parallel is modelled for a plain loop only yet: \"torch\".",
           "torch");
  }
  if (scenario.rl) refuse("rl", "together with parallel is not modelled yet.");
  if (scenario.evaluate || scenario.save) {
    refuse("moments",
           "has \"evaluate\" or \"save\", which together with parallel are not modelled yet.");
  }
  if (scenario.training.loss_type == kChunkedLoss) {
    refuse("training.loss_type", "in chunks together with parallel is not modelled.");
  }
  const auto offload = scenario.training.optim_args.find("cpu_offload");
  if (offload != scenario.training.optim_args.end() && offload->second > 0) {
    refuse("training.optim_args.cpu_offload", "together with parallel is not modelled.");
  }
  if (scenario.quantization && !scenario.quantization->by_bitsandbytes()) {
    refuse("quantization.quant_method",
           "together with parallel is modelled for bitsandbytes only.");
  }
  if (scenario.load)
    refuse("moments", "has \"load\", which together with parallel is not modelled yet.");
  const Training& training = scenario.training;
  if (parallel.divides_tensors()) {
    check_tensor_parallel(scenario, findings);
  } else {
    const std::string_view why = "divides what tensor_parallel_size divides, which is not given.";
    if (parallel.sequence_parallel) refuse("parallel.sequence_parallel", why);
    if (parallel.loss_parallel) refuse("parallel.loss_parallel", why);
    if (parallel.parallelize_embedding_and_head)
      refuse("parallel.parallelize_embedding_and_head", why);
  }
  if (!parallel.shards()) return;
  const std::string name = parallel.strategy;
  if (training.optim != "adamw_torch" && training.optim != "adamw_torch_fused") {
    refuse("training.optim",
           training.optim + " together with " + name +
               " is not modelled yet; adamw_torch and adamw_torch_fused are.",
           "adamw_torch_fused");
  }
  const std::string& type = scenario.model.model_type;
  const bool plain =
      std::find(kLigerModelTypes.begin(), kLigerModelTypes.end(), type) != kLigerModelTypes.end();
  if (parallel.wraps_ends && !parallel.wraps_layers) {
    refuse("parallel.wrap_embedding_and_head",
           "goes with groups of layers; leave auto_wrap_policy NO_WRAP out.");
  } else if (parallel.wraps_ends && scenario.model.flag("tie_word_embeddings")) {
    refuse("parallel.wrap_embedding_and_head",
           "needs two tables; this model's head is its embedding, and fully_shard refuses to put "
           "one parameter into two groups. Give false.");
  } else if (parallel.wraps_ends && !plain && !type.empty()) {
    refuse("parallel.wrap_embedding_and_head",
           "is modelled for the model types " +
               listed({kLigerModelTypes.begin(), kLigerModelTypes.end()}, "and") +
               ", not yet for " + type + "; give false.");
  }
  if (training.bf16 || training.fp16) {
    refuse(training.bf16 ? "training.bf16" : "training.fp16",
           "together with " + name +
               " is not modelled; give parallel.param_dtype, its own mixed precision, instead.");
  }
  if (training.max_grad_norm > 0) {
    refuse("training.max_grad_norm", "together with " + name + " is not modelled yet; give 0.");
  }
  if (parallel.offload_params && parallel.divides_tensors()) {
    refuse("parallel.offload_params", "together with tensor_parallel_size is not modelled yet.");
  }
  if (training.gradient_checkpointing && training.use_reentrant) {
    refuse("training.gradient_checkpointing_kwargs.use_reentrant",
           "together with " + name + " is not modelled yet; give false.");
  }
  if (training.use_liger_kernel) {
    refuse("training.use_liger_kernel", "together with " + name + " is not modelled yet.");
  }
  if (scenario.quantization) {
    refuse("quantization", "together with " + name + " is not modelled yet; ddp is.");
  }
  if (scenario.peft &&
      (scenario.peft->use_dora || scenario.peft->bias != "none" ||
       !scenario.peft->modules_to_save.empty() || !scenario.peft->trainable_token_indices.empty() ||
       !scenario.peft->target_parameters.empty() || !scenario.other_adapters.empty())) {
    refuse("peft", "together with " + name +
                       " is modelled for one LoRA adapter without DoRA, biases, saved modules, "
                       "trained tokens and target_parameters.");
  }
}

Value parallel_of(const Parallel& parallel) {
  Value out = Value::object();
  const auto or_null = [](std::optional<Dtype> dtype) {
    return dtype ? Value::of_text(std::string(name_of(*dtype))) : Value();
  };
  out.add_text("strategy", parallel.strategy);
  out.add_number("world_size", parallel.world_size);
  if (parallel.strategy == "ddp") {
    out.add_number("rank", parallel.rank);
    out.add_flag("gradient_as_bucket_view", parallel.gradient_as_bucket_view);
    out.add_flag("static_graph", parallel.static_graph);
    out.add_flag("find_unused_parameters", parallel.find_unused_parameters);
    out.add("bucket_cap_mb",
            parallel.bucket_cap_mb ? Value::of_number(*parallel.bucket_cap_mb) : Value());
    out.add("comm_hook", parallel.comm_hook ? Value::of_text(*parallel.comm_hook == Dtype::kBFloat16
                                                                 ? "bf16_compress_hook"
                                                                 : "fp16_compress_hook")
                                            : Value());
    out.add_flag("zero_redundancy_optimizer", parallel.zero_redundancy_optimizer);
    out.add_flag("parameters_as_bucket_view", parallel.parameters_as_bucket_view);
    return out;
  }
  if (parallel.strategy != "hsdp") {
    out.add_number("tensor_parallel_size", parallel.tensor_parallel_size);
    out.add_flag("sequence_parallel", parallel.sequence_parallel);
    out.add_flag("parallelize_embedding_and_head", parallel.parallelize_embedding_and_head);
    out.add_flag("loss_parallel", parallel.loss_parallel);
  }
  if (!parallel.shards()) return out;
  out.add("reshard_after_forward", parallel.reshard_after_forward
                                       ? Value::of_flag(*parallel.reshard_after_forward)
                                       : Value());
  out.add("param_dtype", or_null(parallel.param_dtype));
  out.add("reduce_dtype", or_null(parallel.reduce_dtype));
  out.add_text("auto_wrap_policy", parallel.wraps_layers ? "TRANSFORMER_BASED_WRAP" : "NO_WRAP");
  out.add_flag("wrap_embedding_and_head", parallel.wraps_ends);
  out.add_flag("offload_params", parallel.offload_params);
  if (parallel.strategy == "hsdp") out.add_number("dp_replicate_size", parallel.dp_replicate_size);
  return out;
}

}  // namespace ledger::reading
