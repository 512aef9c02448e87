// Scenarios that are accepted: defaults, presets, pasted configurations, overrides, devices, and
// the normalised text.
#include "core/scenario.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/presets.hpp"

using namespace ledger;

namespace {

Scenario accepted(const std::string& text) {
  const Result<Scenario> result = read_scenario(text);
  if (!result.ok()) {
    for (const Problem& problem : result.problems()) INFO(problem.path, ": ", problem.message);
    FAIL(text, " is refused: ", result.problems().front().message);
  }
  return result.value();
}

// The reading of a preset with further members of the scenario.
Scenario with(const std::string& members) {
  return accepted(R"({"model":"Qwen/Qwen3-0.6B",)" + members + "}");
}

template <class T>
bool operator==(const Named<T>& a, const Named<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool same(const Scenario& a, const Scenario& b) {
  return a.normalised == b.normalised && a.model.id == b.model.id &&
         a.model.model_type == b.model.model_type && a.model.numbers == b.model.numbers &&
         a.model.flags == b.model.flags && a.model.texts == b.model.texts &&
         a.model.lists == b.model.lists && a.dtype == b.dtype &&
         a.attn_implementation == b.attn_implementation && a.trainer == b.trainer &&
         a.training.per_device_train_batch_size == b.training.per_device_train_batch_size &&
         a.training.max_length == b.training.max_length &&
         a.training.gradient_accumulation_steps == b.training.gradient_accumulation_steps &&
         a.training.gradient_checkpointing == b.training.gradient_checkpointing &&
         a.training.use_reentrant == b.training.use_reentrant &&
         a.training.bf16 == b.training.bf16 && a.training.fp16 == b.training.fp16 &&
         a.training.optim == b.training.optim && a.training.optim_args == b.training.optim_args &&
         a.training.max_grad_norm == b.training.max_grad_norm &&
         a.attention_mask == b.attention_mask && a.keep_outputs == b.keep_outputs &&
         a.device.compute_major == b.device.compute_major &&
         a.device.compute_minor == b.device.compute_minor &&
         a.device.multiprocessors == b.device.multiprocessors &&
         a.device.threads_per_multiprocessor == b.device.threads_per_multiprocessor &&
         a.device.card == b.device.card && a.device.total_bytes == b.device.total_bytes &&
         a.device.other_bytes == b.device.other_bytes && a.at_event == b.at_event;
}

}  // namespace

TEST_CASE("a model alone is a scenario, with the defaults of a plain loop on an A100") {
  const Scenario s = accepted(R"({"model":"Qwen/Qwen3-0.6B"})");
  CHECK(s.model.id == "Qwen/Qwen3-0.6B");
  CHECK(s.model.model_type == "qwen3");
  CHECK(s.dtype == Dtype::kBFloat16);
  CHECK(s.attn_implementation == "sdpa");
  CHECK(s.trainer == "torch");
  CHECK(s.training.per_device_train_batch_size == 1);
  CHECK(s.training.max_length == 1024);
  CHECK(s.training.gradient_accumulation_steps == 1);
  CHECK_FALSE(s.training.gradient_checkpointing);
  CHECK_FALSE(s.training.use_reentrant);
  CHECK(s.training.optim == "adamw_torch_fused");
  CHECK(s.training.max_grad_norm == 0);
  CHECK(s.device.compute_major == 8);
  CHECK(s.device.compute_minor == 0);
  CHECK(s.device.multiprocessors == 108);
  CHECK(s.device.threads_per_multiprocessor == 2048);
  CHECK_FALSE(s.device.total_bytes.has_value());
}

TEST_CASE("a preset gives the published shapes") {
  const ModelConfig m = accepted(R"({"model":"Qwen/Qwen3-0.6B"})").model;
  CHECK(m.number("hidden_size") == 1024);
  CHECK(m.number("num_hidden_layers") == 28);
  CHECK(m.number("num_attention_heads") == 16);
  CHECK(m.number("num_key_value_heads") == 8);
  CHECK(m.number("head_dim") == 128);
  CHECK(m.number("intermediate_size") == 3072);
  CHECK(m.number("vocab_size") == 151936);
  CHECK(m.flag("tie_word_embeddings"));
  CHECK(m.text("hidden_act") == "silu");
  CHECK(m.number_or("sliding_window", 0) == 0);
  CHECK(m.lists.at("layer_types").size() == 28);
}

TEST_CASE("every preset is accepted, and a short run on it") {
  for (const std::string& id : preset_ids()) {
    CAPTURE(id);
    const Scenario s = accepted("{\"model\":\"" + id + "\",\"training\":{\"max_length\":512}}");
    CHECK(s.model.id == id);
  }
}

TEST_CASE("a preset is found in any case and by the part after the slash") {
  CHECK(accepted(R"({"model":"qwen/QWEN3-0.6b"})").model.id == "Qwen/Qwen3-0.6B");
  CHECK(accepted(R"({"model":"Llama-3.1-8B"})").model.id == "meta-llama/Llama-3.1-8B");
  CHECK(accepted(R"({"model":"smollm3-3b"})").model.id == "HuggingFaceTB/SmolLM3-3B");
}

TEST_CASE("the scenario of a measured row is read as it stands") {
  const Scenario s = accepted(
      R"({"model": "Qwen/Qwen3-0.6B", "dtype": "float32", "attn_implementation": "eager",
          "training": {"per_device_train_batch_size": 4, "max_length": 512,
                       "gradient_accumulation_steps": 4, "gradient_checkpointing": true,
                       "gradient_checkpointing_kwargs": {"use_reentrant": true}, "bf16": true,
                       "fp16": false, "optim": "adamw_torch", "optim_args": {"foreach": false},
                       "max_grad_norm": 1.0},
          "trainer": "torch", "keep_outputs": true,
          "device": {"compute_capability": "12.0", "multiprocessors": 170}})");
  CHECK(s.dtype == Dtype::kFloat32);
  CHECK(s.attn_implementation == "eager");
  CHECK(s.training.per_device_train_batch_size == 4);
  CHECK(s.training.gradient_accumulation_steps == 4);
  CHECK(s.training.gradient_checkpointing);
  CHECK(s.training.use_reentrant);
  CHECK(s.training.bf16);
  CHECK(s.training.optim_args.at("foreach") == 0);
  CHECK(s.training.max_grad_norm == 1);
  CHECK(s.keep_outputs);
  CHECK(s.device.compute_major == 12);
  CHECK(s.device.multiprocessors == 170);
  CHECK(s.device.threads_per_multiprocessor == 1536);
}

TEST_CASE("arguments of the optimizer that are not given have its defaults") {
  CHECK(with(R"("training":{"optim":"adamw_torch"})").training.optim_args.at("foreach") == 1);
  CHECK(with(R"("training":{"optim":"sgd"})").training.optim_args.at("momentum") == 0);
  const Scenario s = with(R"("training":{"optim":"sgd","optim_args":{"momentum":0.9}})");
  CHECK(s.training.optim_args.at("momentum") == 0.9);
}

TEST_CASE("parts of the contract that ask for nothing are let through") {
  with(R"("peft":null,"quantization":null,"parallel":null,"serving":null,"rl":null,"allocator":{},
          "moments":["train"],"attention_mask":false,
          "training":{"packing":false,"padding_free":false,"use_liger_kernel":false,"loss_type":null})");
}

TEST_CASE("the allocator's options may be an object or the text of PYTORCH_ALLOC_CONF") {
  const AllocatorOptions object =
      with(R"("allocator":{"expandable_segments":true,"max_split_size_mb":128,
              "garbage_collection_threshold":0.8,"per_process_memory_fraction":0.9})")
          .allocator;
  CHECK(object.expandable_segments);
  CHECK(object.max_split_size == 128 * AllocatorOptions::kMiB);
  CHECK(object.max_non_split_rounding == 20 * AllocatorOptions::kMiB);
  CHECK(object.garbage_collection_threshold == 0.8);
  CHECK(object.per_process_memory_fraction == 0.9);
  CHECK(with(R"("allocator":"expandable_segments:True, max_split_size_mb:128,)"
             R"( garbage_collection_threshold:0.8,per_process_memory_fraction:0.9")")
            .allocator == object);
  for (const char* none : {R"("allocator":{})", R"("allocator":"")", R"("allocator":null)",
                           R"("allocator":"backend:native,roundup_power2_divisions:1")"}) {
    CAPTURE(none);
    CHECK(with(none).allocator == AllocatorOptions());
  }
}

TEST_CASE("max_non_split_rounding_mb is large_segment_size_mb unless it is given") {
  const AllocatorOptions options =
      with(R"("allocator":"large_segment_size_mb:12,max_split_size_mb:15")").allocator;
  CHECK(options.max_non_split_rounding == 12 * AllocatorOptions::kMiB);
  CHECK(with(R"("allocator":"large_segment_size_mb:12,max_non_split_rounding_mb:13")")
            .allocator.max_non_split_rounding == 13 * AllocatorOptions::kMiB);
}

TEST_CASE("a list of divisions is read as PyTorch reads it") {
  using Divisions = decltype(AllocatorOptions::roundup_power2_divisions);
  const auto of = [](const std::string& list) {
    const std::string quoted = "\"" + list + "\"";
    return with(R"("allocator":{"roundup_power2_divisions":)" + quoted + "}")
        .allocator.roundup_power2_divisions;
  };
  // What torch.cuda.memory._snapshot()["allocator_settings"] says of the same lists.
  CHECK(of("[256:4,512:2,1024:8,>:16]") ==
        Divisions{4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 8, 16, 16, 16, 16, 16});
  CHECK(of("[2:2,16:4]") == Divisions{2, 2, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(of("[>:4]") == Divisions{0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
  CHECK(of("[512:2,256:4]") == Divisions{2, 2, 2, 2, 2, 2, 2, 2, 4, 2, 0, 0, 0, 0, 0, 0});
  CHECK(of("[ 8:0, >:32 ]") ==
        Divisions{0, 0, 0, 0, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32});
}

TEST_CASE("keys that are null have their defaults") {
  const Scenario s = with(
      R"("dtype":null,"training":{"max_length":null,"optim":null},"device":null,"card":null,"config":null)");
  CHECK(same(s, accepted(R"({"model":"Qwen/Qwen3-0.6B"})")));
}

TEST_CASE("a configuration overrides single keys of the preset") {
  const ModelConfig m =
      with(R"("config":{"vocab_size":32000,"num_hidden_layers":2,"rope_theta":1})").model;
  CHECK(m.number("vocab_size") == 32000);
  CHECK(m.number("num_hidden_layers") == 2);
  CHECK(m.lists.at("layer_types").size() == 2);
  CHECK(m.number("hidden_size") == 1024);
}

TEST_CASE("a pasted configuration has transformers' defaults where it is silent") {
  const ModelConfig llama = accepted(R"({"model":{"model_type":"llama"}})").model;
  CHECK(llama.id == "");
  CHECK(llama.number("vocab_size") == 32000);
  CHECK(llama.number("num_key_value_heads") == 32);
  CHECK(llama.number("head_dim") == 128);
  CHECK_FALSE(llama.flag("tie_word_embeddings"));

  const std::string little = R"("hidden_size":512,"num_attention_heads":4)";
  const ModelConfig qwen2 =
      accepted(R"({"model":{"model_type":"qwen2","num_key_value_heads":null,)" + little + "}}")
          .model;
  CHECK(qwen2.number("head_dim") == 128);
  CHECK(qwen2.number("num_key_value_heads") == 4);
  // Qwen3's head width is a default of its own, whatever the hidden width.
  const ModelConfig qwen3 =
      accepted(
          R"({"model":{"model_type":"qwen3","num_key_value_heads":4,"hidden_size":512,"num_attention_heads":8}})")
          .model;
  CHECK(qwen3.number("head_dim") == 128);
  // Mistral's window is on unless the configuration says null.
  CHECK(accepted(R"({"model":{"model_type":"mistral"}})").model.number("sliding_window") == 4096);
  const ModelConfig open =
      accepted(R"({"model":{"model_type":"mistral","sliding_window":null}})").model;
  CHECK(open.numbers.count("sliding_window") == 0);
}

TEST_CASE("SmolLM3 leaves every fourth layer without rotation and ties its embedding") {
  const ModelConfig m =
      accepted(R"({"model":{"model_type":"smollm3","num_hidden_layers":6}})").model;
  CHECK(m.lists.at("no_rope_layers") == std::vector<std::string>{"1", "1", "1", "0", "1", "1"});
  CHECK(m.flag("tie_word_embeddings"));
  CHECK(m.number("num_key_value_heads") == 4);
}

TEST_CASE("Qwen's windows are in force from max_window_layers on, if they are used at all") {
  const std::string start =
      R"({"model":{"model_type":"qwen2","num_hidden_layers":3,"max_window_layers":1,"sliding_window":4096)";
  const ModelConfig off = accepted(start + "}}").model;
  CHECK(off.numbers.count("sliding_window") == 0);
  CHECK(off.lists.at("layer_types") == std::vector<std::string>(3, "full_attention"));
  const ModelConfig on = accepted(start + R"(,"use_sliding_window":true}})").model;
  CHECK(on.number("sliding_window") == 4096);
  CHECK(on.lists.at("layer_types") ==
        std::vector<std::string>{"full_attention", "sliding_attention", "sliding_attention"});
}

TEST_CASE("keys of a config.json that memory does not depend on are ignored") {
  const std::string plain = R"("model_type":"llama","num_hidden_layers":2)";
  const std::string full =
      plain +
      R"(,"architectures":["LlamaForCausalLM"],"attention_dropout":0.0,"bos_token_id":128000,
          "eos_token_id":[128001,128008],"initializer_range":0.02,"max_position_embeddings":131072,
          "pretraining_tp":1,"rms_norm_eps":1e-05,"rope_scaling":null,
          "rope_theta":500000.0,"torch_dtype":"bfloat16","transformers_version":"4.43.0","use_cache":true,
          "unsloth_fixed":true)";
  CHECK(same(accepted("{\"model\":{" + plain + "}}"), accepted("{\"model\":{" + full + "}}")));
}

TEST_CASE("adapters are complete with peft's defaults and read back unchanged") {
  const Scenario lora = with(R"("peft":{})");
  REQUIRE(lora.peft.has_value());
  CHECK(lora.peft->r == 8);  // peft.LoraConfig
  CHECK(lora.peft->target_modules == std::vector<std::string>{"q_proj", "v_proj"});
  CHECK(lora.peft->autocast_adapter_dtype);
  CHECK(same(accepted(lora.normalised), lora));
  const Scenario qlora = with(
      R"("peft":{"r":16,"target_modules":["self_attn.q_proj","down_proj"],"lora_alpha":32},
         "quantization":{"load_in_4bit":true,"bnb_4bit_compute_dtype":"bfloat16"})");
  REQUIRE(qlora.quantization.has_value());
  CHECK(qlora.quantization->bnb_4bit_quant_type == "fp4");  // bitsandbytes' default
  CHECK(qlora.quantization->bnb_4bit_compute_dtype == Dtype::kBFloat16);
  CHECK(qlora.peft->target_modules == std::vector<std::string>{"q_proj", "down_proj"});
  CHECK(same(accepted(qlora.normalised), qlora));
}

TEST_CASE("a card sets the device, and the device's own keys override the card") {
  const Scenario card = with(R"("card":"RTX 4090")");
  CHECK(card.device.card == "rtx-4090");
  CHECK(card.device.compute_major == 8);
  CHECK(card.device.compute_minor == 9);
  CHECK(card.device.multiprocessors == 128);
  CHECK(card.device.threads_per_multiprocessor == 1536);
  CHECK(card.device.total_bytes.value() == std::floor(23.51 * 1073741824));
  const Scenario own =
      with(R"("card":"RTX 4090","device":{"total_bytes":20000000000,"other_bytes":5})");
  CHECK(own.device.total_bytes.value() == 20000000000);
  CHECK(own.device.other_bytes == 5);
  CHECK(own.device.multiprocessors == 128);
}

TEST_CASE("a compute capability is accepted as text and as a number") {
  const Scenario text = with(R"("device":{"compute_capability":"9.0","multiprocessors":132})");
  const Scenario number = with(R"("device":{"compute_capability":9,"multiprocessors":132})");
  CHECK(same(text, number));
  CHECK(text.device.compute_major == 9);
}

TEST_CASE(
    "the normalised scenario is complete, reads back as the same scenario, and has one order") {
  const std::string scenarios[] = {
      R"({"model":"Qwen/Qwen3-0.6B"})",
      R"({"model":"qwen3-0.6b","config":{"vocab_size":32000},"card":"4090","at_event":7})",
      R"({"model":{"model_type":"smollm3","num_hidden_layers":3},"dtype":"float16"})",
      R"({"model":{"model_type":"qwen2","sliding_window":null,"eos_token_id":1},"config":{"vocab_size":1000}})",
      R"({"model":"qwen3-0.6b","card":"rtx-4090","device":{"compute_capability":"9.0","multiprocessors":132}})",
      R"({"model":"qwen3-0.6b","training":{"optim":"sgd","optim_args":{"momentum":0.5},"max_grad_norm":0.1}})",
  };
  for (const std::string& text : scenarios) {
    CAPTURE(text);
    const Scenario first = accepted(text);
    CHECK(same(first, accepted(first.normalised)));
  }
  const Scenario one = accepted(
      R"({"model":"Qwen/Qwen3-0.6B","training":{"bf16":true,"max_length":8},"dtype":"float32"})");
  const Scenario other = accepted(
      R"({"dtype":"float32","training":{"max_length":8,"bf16":true},"model":"Qwen/Qwen3-0.6B"})");
  CHECK(one.normalised == other.normalised);
}
