// accelerate's YAML and the options of `accelerate launch`, by commands/config/config_args.py of
// version 1.15.
#include "core/import/formats.hpp"
#include "core/import/parts.hpp"
#include "core/import/reasons.hpp"
#include "core/nearest.hpp"

namespace ledger::pasted {
namespace {

using enum Act;
namespace why = because;

constexpr std::string_view kHow = "how shards travel, not how large they are";

constexpr KeyRow kKeys[] = {
    {"compute_environment", kIgnored, {}, why::kLaunch, true},
    {"distributed_type", kOther, {}, {}, true},
    {"mixed_precision", kOther, {}, {}, true},
    {"num_processes", kOther, {}, {}, true},
    {"num_machines", kOther, {}, {}, true},
    {"nproc_per_node", kOther},
    {"nnodes", kOther},
    {"num_gpus", kOther},
    {"multi_gpu", kOther},
    {"use_fsdp", kOther},
    {"use_deepspeed", kOther},
    {"deepspeed_config", kNested, "deepspeed_plugin"},
    {"deepspeed_config_file", kNested, "deepspeed"},
    {"config_file", kNested, "accelerate"},
    {"zero_stage", kOther},
    {"gradient_accumulation_steps", kNumber, "training.gradient_accumulation_steps"},
    {"gradient_clipping", kNumber, "training.max_grad_norm"},
    {"fsdp_config.fsdp_version", kOther, {}, {}, true},
    {"fsdp_config.fsdp_sharding_strategy", kOther, {}, {}, true},
    {"fsdp_config.fsdp_reshard_after_forward", kOther, {}, {}, true},
    {"fsdp_config.fsdp_offload_params", kOther, {}, {}, true},
    {"fsdp_config.fsdp_auto_wrap_policy", kOther, {}, {}, true},
    {"fsdp_config.fsdp_activation_checkpointing",
     kFlag,
     "training.gradient_checkpointing",
     {},
     true},
    {"fsdp_config.fsdp_transformer_layer_cls_to_wrap",
     kIgnored,
     {},
     "the model's own layers",
     true},
    {"fsdp_config.fsdp_min_num_params",
     kUnsupported,
     {},
     "groups by size are not modelled; the estimate makes one a layer",
     true},
    {"fsdp_config.fsdp_backward_prefetch", kIgnored, {}, kHow, true},
    {"fsdp_config.fsdp_backward_prefetch_policy", kIgnored, {}, kHow, true},
    {"fsdp_config.fsdp_forward_prefetch", kIgnored, {}, kHow, true},
    {"fsdp_config.fsdp_limit_all_gathers", kIgnored, {}, kHow, true},
    {"fsdp_config.fsdp_use_orig_params", kIgnored, {}, "names of the same parameters", true},
    {"fsdp_config.fsdp_state_dict_type", kIgnored, {}, why::kSaving, true},
    {"fsdp_config.fsdp_sync_module_states", kIgnored, {}, "loading only", true},
    {"fsdp_config.fsdp_cpu_ram_efficient_loading", kIgnored, {}, "loading only", true},
    {"parallelism_config*", kUnsupported, {}, why::kSplitModel, true},
    {"megatron_lm_config*", kUnsupported, {}, "Megatron is not modelled", true},
    {"tp_config*", kUnsupported, {}, why::kSplitModel, true},
    {"fp8_config*", kUnsupported, {}, why::kFp8, true},
    {"dynamo_config*", kUnsupported, {}, why::kCompiled, true},
    {"dynamo_backend", kUnsupported, {}, why::kCompiled, true},
    {"machine_rank", kIgnored, {}, why::kLaunch, true},
    {"main_process_*", kIgnored, {}, why::kLaunch, true},
    {"main_training_function", kIgnored, {}, why::kLaunch, true},
    {"rdzv_*", kIgnored, {}, why::kLaunch, true},
    {"same_network", kIgnored, {}, why::kLaunch, true},
    {"gpu_ids", kIgnored, {}, why::kLaunch, true},
    {"enable_cpu_affinity", kIgnored, {}, why::kHost, true},
    {"downcast_bf16", kIgnored, {}, "for another kind of device", true},
    {"tpu_*", kIgnored, {}, "for another kind of device", true},
    {"use_cpu", kIgnored, {}, "a device is taken"},
    {"debug", kIgnored, {}, why::kLogging},
    {"mpirun_config*", kIgnored, {}, why::kLaunch, true},
    {"ipex_config*", kIgnored, {}, "for another kind of device", true},
    {"num_cpu_threads_per_process", kIgnored, {}, why::kHost, true},
    {"node_rank", kIgnored, {}, why::kLaunch},
    {"master_addr", kIgnored, {}, why::kLaunch},
    {"master_port", kIgnored, {}, why::kLaunch},
    {"standalone", kIgnored, {}, why::kLaunch},
    {"hostfile", kIgnored, {}, why::kLaunch},
    {"include", kIgnored, {}, why::kLaunch},
    {"max_restarts", kIgnored, {}, why::kLaunch},
    {"module", kIgnored, {}, why::kLaunch},
};

// What accelerate's deepspeed_config holds: DeepSpeed's plugin has names of its own.
constexpr KeyRow kPluginKeys[] = {
    {"deepspeed_config_file", kNested, "deepspeed"},
    {"zero_stage", kOther, {}, {}, true},
    {"gradient_accumulation_steps", kNumber, "training.gradient_accumulation_steps"},
    {"gradient_clipping", kNumber, "training.max_grad_norm"},
    {"offload_optimizer_device",
     kUnsupported,
     {},
     "what ZeRO keeps on the host is not modelled; the estimate keeps it on the device, and is "
     "higher"},
    {"offload_param_device",
     kUnsupported,
     {},
     "what ZeRO keeps on the host is not modelled; the estimate keeps it on the device, and is "
     "higher"},
    {"offload_*", kIgnored, {}, "how the host does its part"},
    {"zero3_init_flag", kIgnored, {}, "loading only"},
    {"zero3_save_16bit_model", kIgnored, {}, why::kSaving},
    {"deepspeed_multinode_launcher", kIgnored, {}, why::kLaunch},
    {"deepspeed_hostfile", kIgnored, {}, why::kLaunch},
    {"deepspeed_moe_layer_cls_names", kIgnored, {}, "which layers stay whole"},
};

void take_stage(Sheet& sheet, std::string_view key) {
  if (!sheet.has(key)) return;
  const double stage = sheet.number(key);
  sheet.all.together.strategy = stage == 1   ? "zero1"
                                : stage == 2 ? "zero2"
                                : stage == 3 ? "zero3"
                                             : "ddp";
  sheet.all.together.strategy_key = sheet.key_of(key);
  sheet.unsupported(key, "it needs the number of processes");
}

void finish_plugin(Sheet& sheet) { take_stage(sheet, "zero_stage"); }

void settle_fsdp(Sheet& sheet) {
  Together& together = sheet.all.together;
  const std::string sharding = lower(sheet.text("fsdp_config.fsdp_sharding_strategy"));
  const bool second = sheet.number("fsdp_config.fsdp_version", 1) == 2;
  const bool hybrid = sharding.starts_with("hybrid") || sharding == "4" || sharding == "5";
  together.strategy = !second ? "fsdp1" : hybrid ? "hsdp" : "fsdp2";
  const auto option = [&](std::string_view key, std::string_view to, Value value,
                          std::string_view reason = {}) {
    if (!sheet.has(key)) return;
    together.options.push_back(
        {std::string(to), std::move(value), Setting::kGiven, sheet.key_of(key), {}});
    sheet.ignored(key, reason.empty() ? "belongs to how weights are shared out" : reason);
  };
  const std::string base = "fsdp_config.fsdp_";
  const Value* reshard = sheet.at(base + "reshard_after_forward");
  bool after = true;
  if (reshard && is_flag(*reshard, after))
    option(base + "reshard_after_forward", "parallel.reshard_after_forward", Value::of_flag(after));
  else if (reshard)
    option(base + "reshard_after_forward", "parallel.reshard_after_forward",
           Value::of_flag(!lower(reshard->text).starts_with("shard_grad_op")));
  option(base + "offload_params", "parallel.offload_params",
         Value::of_flag(sheet.flag(base + "offload_params")));
  const std::string wrap = sheet.text(base + "auto_wrap_policy");
  option(base + "auto_wrap_policy", "parallel.auto_wrap_policy", Value::of_text(wrap));
  if (sheet.has(base + "sharding_strategy"))
    sheet.ignored(base + "sharding_strategy", second ? "version 2 goes by reshard_after_forward"
                                                     : "belongs to how weights are shared out");
  if (sheet.has(base + "version"))
    sheet.ignored(base + "version", "says which of PyTorch's two it is");
}

void finish(Sheet& sheet) {
  Together& together = sheet.all.together;
  const std::string type = lower(sheet.text("distributed_type"));
  const std::size_t key = sheet.key_of("distributed_type");
  const bool fsdp = type == "fsdp" || sheet.flag("use_fsdp");
  if (fsdp) {
    settle_fsdp(sheet);
  } else if (type == "multi_gpu" || sheet.flag("multi_gpu")) {
    together.strategy = "ddp";
  } else if (type == "no") {
    together.world = 1;
  } else if (type == "megatron_lm" || type == "tp") {
    sheet.unsupported("distributed_type", why::kSplitModel);
  }
  if (!together.strategy.empty() && together.strategy_key == Setting::kNoKey)
    together.strategy_key = key != Setting::kNoKey ? key : sheet.key_of("use_fsdp");
  take_stage(sheet, "zero_stage");
  if (key != Setting::kNoKey && sheet.all.keys[key].status == Status::kPending)
    sheet.ignored("distributed_type", type == "no" ? "one process: nothing is shared out"
                                                   : "its own keys say how weights are shared out");
  take_world(sheet, "num_processes", {});  // of all machines together
  take_world(sheet, "nproc_per_node", "nnodes");
  take_world(sheet, "num_gpus", {});
  if (sheet.has("num_machines"))
    sheet.ignored("num_machines", "num_processes counts all machines'");
  const Value* mixed = sheet.at("mixed_precision");
  if (mixed) {
    const std::string precision = lower(mixed->text);
    together.mixed_precision_key = sheet.key_of("mixed_precision");
    if (precision == "bf16" || precision == "fp16") {
      together.mixed_precision = precision;
    } else if (precision == "fp8") {
      sheet.unsupported("mixed_precision", why::kFp8);
    } else {
      sheet.ignored("mixed_precision", "asks for nothing");
    }
  }
}

}  // namespace

Format accelerate_format() {
  return {"accelerate", "accelerate's settings", "accelerate 1.15", kKeys, &finish};
}

Format deepspeed_plugin_format() {
  return {"deepspeed_plugin", "accelerate's deepspeed_config", "accelerate 1.15", kPluginKeys,
          &finish_plugin};
}

}  // namespace ledger::pasted
