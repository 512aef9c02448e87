// DeepSpeed's JSON, by its documentation of the configuration and runtime/zero/config.py at
// edaa722.
#include "core/import/formats.hpp"
#include "core/import/parts.hpp"
#include "core/import/reasons.hpp"

namespace ledger::pasted {
namespace {

using enum Act;
namespace why = because;

constexpr std::string_view kBuffers =
    "the sizes of ZeRO's buffers are not modelled; they come on top of the estimate";
constexpr std::string_view kOnHost =
    "what ZeRO keeps on the host is not modelled; the estimate keeps it on the device, and is "
    "higher";

constexpr KeyRow kKeys[] = {
    {"train_batch_size", kOther, {}, {}, true},
    {"train_micro_batch_size_per_gpu", kNumber, "training.per_device_train_batch_size", {}, true},
    {"gradient_accumulation_steps", kNumber, "training.gradient_accumulation_steps"},
    {"gradient_clipping", kNumber, "training.max_grad_norm", {}, true},
    {"zero_optimization.stage", kOther, {}, {}, true},
    {"zero_optimization.offload_optimizer.device", kUnsupported, {}, kOnHost, true},
    {"zero_optimization.offload_param.device", kUnsupported, {}, kOnHost, true},
    {"zero_optimization.offload_optimizer.*", kIgnored, {}, "how the host does its part", true},
    {"zero_optimization.offload_param.*", kIgnored, {}, "how the host does its part", true},
    {"zero_optimization.cpu_offload", kUnsupported, {}, kOnHost, true},
    {"zero_optimization.reduce_bucket_size", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.allgather_bucket_size", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.allgather_partitions", kIgnored, {}, "how shards are gathered", true},
    {"zero_optimization.reduce_scatter", kIgnored, {}, "how gradients are summed", true},
    {"zero_optimization.overlap_comm", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.contiguous_gradients", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.sub_group_size", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.stage3_prefetch_bucket_size", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.stage3_param_persistence_threshold", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.stage3_max_live_parameters", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.stage3_max_reuse_distance", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.stage3_gather_16bit_weights_on_model_save",
     kIgnored,
     {},
     why::kSaving,
     true},
    {"zero_optimization.zero_hpz_partition_size", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.zero_quantized_*", kUnsupported, {}, kBuffers, true},
    {"zero_optimization.round_robin_gradients",
     kIgnored,
     {},
     "the order of the same buffers",
     true},
    {"zero_optimization.ignore_unused_parameters", kIgnored, {}, "a check", true},
    {"zero_optimization.load_from_fp32_weights", kIgnored, {}, "loading only", true},
    {"zero_optimization.elastic_checkpoint", kIgnored, {}, why::kSaving, true},
    {"zero_optimization.*", kUnsupported, {}, kBuffers, true},
    {"bf16.enabled", kOther, {}, {}, true},
    {"bfloat16.enabled", kOther, {}, {}, true},
    {"fp16.enabled", kOther, {}, {}, true},
    {"fp16.*", kIgnored, {}, "how the loss is scaled", true},
    {"bf16.*", kUnsupported, {}, kBuffers, true},
    {"amp*", kUnsupported, {}, "apex is not modelled"},
    {"data_types.grad_accum_dtype",
     kUnsupported,
     {},
     "the type of DeepSpeed's own gradients is not modelled",
     true},
    {"communication_data_type", kUnsupported, {}, kBuffers, true},
    {"optimizer.type", kOther, {}, {}, true},
    {"optimizer.params*", kIgnored, {}, why::kRate, true},
    {"scheduler*", kIgnored, {}, why::kRate},
    {"activation_checkpointing*",
     kIgnored,
     {},
     "only a model that calls DeepSpeed's own checkpointing follows it",
     true},
    {"zero_allow_untested_optimizer", kIgnored, {}, "a check", true},
    {"zero_force_ds_cpu_optimizer", kIgnored, {}, "a check", true},
    {"steps_per_print", kIgnored, {}, why::kLogging, true},
    {"wall_clock_breakdown", kIgnored, {}, why::kLogging, true},
    {"dump_state", kIgnored, {}, why::kLogging, true},
    {"flops_profiler*", kIgnored, {}, why::kLogging, true},
    {"tensorboard*", kIgnored, {}, why::kLogging},
    {"wandb*", kIgnored, {}, why::kLogging},
    {"csv_monitor*", kIgnored, {}, why::kLogging, true},
    {"comms_logger*", kIgnored, {}, why::kLogging, true},
    {"prescale_gradients", kIgnored, {}, why::kRate, true},
    {"gradient_predivide_factor", kIgnored, {}, why::kRate, true},
    {"aio*", kIgnored, {}, why::kHost, true},
    {"checkpoint*", kIgnored, {}, why::kSaving},
    {"tensor_parallel*", kUnsupported, {}, why::kSplitModel},
    {"sequence_parallel_size", kUnsupported, {}, why::kSplitSequence},
    {"pipeline*", kUnsupported, {}, why::kSplitModel},
    {"compression_training*", kUnsupported, {}, "compression is not modelled", true},
    {"hybrid_engine*", kUnsupported, {}, why::kEngine, true},
};

void finish(Sheet& sheet) {
  Together& together = sheet.all.together;
  if (const Value* all = sheet.at("train_batch_size"); all && is_auto(all)) {
    sheet.ignored("train_batch_size", "\"auto\": another file decides");
  } else if (all) {
    together.all_sequences = sheet.number("train_batch_size");
    together.all_sequences_key = sheet.key_of("train_batch_size");
    sheet.ignored("train_batch_size", "the product of micro-batch, accumulation and processes");
  }
  if (sheet.has("zero_optimization.stage")) {
    const double stage = sheet.number("zero_optimization.stage");
    const std::size_t key = sheet.key_of("zero_optimization.stage");
    if (stage == 0) {
      together.strategy = "ddp";
      sheet.ignored("zero_optimization.stage", "nothing is shared out");
    } else if (stage == 1 || stage == 2 || stage == 3) {
      together.strategy = stage == 1 ? "zero1" : stage == 2 ? "zero2" : "zero3";
      sheet.unsupported("zero_optimization.stage", "it needs the number of processes");
    }
    together.strategy_key = key;
  }
  for (const std::string_view key : {"bf16.enabled", "bfloat16.enabled"}) {
    const Value* given = sheet.at(key);
    if (!given) continue;
    if (is_auto(given)) {
      sheet.ignored(key, "\"auto\": another file decides");
    } else if (!sheet.flag(key)) {
      sheet.ignored(key, "asks for nothing");
    } else {
      sheet.became(key, "training.bf16", Value::of_flag(true),
                   "taken as autocast; DeepSpeed keeps weights in bfloat16 and a copy in 32 bit "
                   "that it shares out, which is not modelled");
    }
  }
  if (const Value* given = sheet.at("fp16.enabled")) {
    if (is_auto(given)) {
      sheet.ignored("fp16.enabled", "\"auto\": another file decides");
    } else if (!sheet.flag("fp16.enabled")) {
      sheet.ignored("fp16.enabled", "asks for nothing");
    } else {
      sheet.became("fp16.enabled", "training.fp16", Value::of_flag(true),
                   "taken as autocast; DeepSpeed keeps weights in float16 and a copy in 32 bit "
                   "that it shares out, which is not modelled");
    }
  }
  const std::string optimizer = sheet.text("optimizer.type");
  if (!optimizer.empty()) {
    if (optimizer == "AdamW" || optimizer == "Adam") {
      sheet.became("optimizer.type", "training.optim", Value::of_text("adamw_torch_fused"),
                   "DeepSpeed's FusedAdam keeps the same state");
    } else {
      sheet.unsupported("optimizer.type",
                        "this optimizer of DeepSpeed's is not modelled; the estimate takes "
                        "adamw_torch_fused");
    }
  }
}

}  // namespace

Format deepspeed_format() {
  return {"deepspeed", "DeepSpeed JSON", "DeepSpeed at edaa722", kKeys, &finish};
}

}  // namespace ledger::pasted
