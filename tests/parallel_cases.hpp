// The measured cases of parallel runs in their own form, turned into scenarios.
#pragma once

#include <string>

#include "tests/rows.hpp"

namespace ledger::rows {

inline json parallel_of(const json& c) {
  const std::string kind = c.at("parallel");
  json p = {{"world_size", c.at("world")}};
  if (kind == "ddp" || kind == "ddp_zero1") {
    p["strategy"] = "ddp";
    for (const auto& [ours, theirs] : {std::pair{"gradient_as_bucket_view", "bucket_view"},
                                       {"static_graph", "static_graph"},
                                       {"find_unused_parameters", "find_unused"},
                                       {"bucket_cap_mb", "bucket_mb"},
                                       {"rank", "rank_id"},
                                       {"parameters_as_bucket_view", "params_bucket_view"},
                                       {"comm_hook", "hook"}}) {
      if (c.contains(theirs)) p[ours] = c.at(theirs);
    }
    if (p.contains("comm_hook")) p["comm_hook"] = "bf16_compress_hook";
    if (kind == "ddp_zero1") p["zero_redundancy_optimizer"] = true;
    return p;
  }
  p["strategy"] = kind == "tp_fsdp2" ? "fsdp2" : kind;
  if (kind == "tp" || kind == "tp_fsdp2") {
    const bool sequence = c.value("sequence_parallel", false);
    p["tensor_parallel_size"] = c.value("tp", c.at("world").get<int>());
    p["sequence_parallel"] = sequence;
    p["parallelize_embedding_and_head"] = sequence || c.contains("head");
    p["loss_parallel"] = c.value("head", "") == "loss_parallel";
    if (kind == "tp_fsdp2") p.update({{"param_dtype", "bfloat16"}, {"reduce_dtype", "float32"}});
    return p;
  }
  if (kind != "fsdp2" && kind != "hsdp") return p;
  if (kind == "hsdp") p["dp_replicate_size"] = c.at("replicas");
  // The instrument gave true where the case says nothing, which concerns the root as well.
  const json reshard = c.value("reshard", json(true));
  if (reshard.is_boolean()) p["reshard_after_forward"] = reshard;
  if (c.value("mp", true)) {
    p["param_dtype"] = "bfloat16";
    p["reduce_dtype"] = c.value("reduce", "") == "bf16" ? "bfloat16" : "float32";
  }
  if (c.value("wrap", "") == "root") p["auto_wrap_policy"] = "NO_WRAP";
  if (c.value("wrap_head", false)) p["wrap_embedding_and_head"] = true;
  if (c.value("offload", false)) p["offload_params"] = true;
  return p;
}

inline json parallel_scenario(const json& c) {
  const std::string optim = c.at("optimizer");
  const std::string method = c.at("method");
  const std::string weights = c.at("weights");
  json s = {{"model", c.at("model")},
            {"dtype", weights == "fp32" ? "float32" : "bfloat16"},
            {"attn_implementation", c.value("attention", "sdpa")},
            {"training",
             {{"per_device_train_batch_size", c.at("batch")},
              {"max_length", c.at("seq")},
              {"gradient_accumulation_steps", c.value("accumulation", 1)},
              {"gradient_checkpointing", c.value("checkpointing", false)},
              {"bf16", c.value("autocast", "") == "bf16"},
              {"optim", optim == "adamw_fused" ? "adamw_torch_fused" : "adamw_torch"}}},
            {"parallel", parallel_of(c)}};
  if (optim == "adamw_single") s["training"]["optim_args"] = {{"foreach", false}};
  if (method != "full") {
    s["peft"] = {{"r", 16},
                 {"target_modules", "all-linear"},
                 {"autocast_adapter_dtype", c.value("adapter_fp32", true)}};
  }
  if (method == "qlora") {
    s["quantization"] = {{"load_in_4bit", true},
                         {"bnb_4bit_quant_type", "nf4"},
                         {"bnb_4bit_use_double_quant", true},
                         {"bnb_4bit_compute_dtype", "bfloat16"}};
  }
  return s;
}

}  // namespace ledger::rows
