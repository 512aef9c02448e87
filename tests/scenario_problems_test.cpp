// Nonsense in, sentences out: every problem at once, each with its path, what was given and the
// nearest spelling.
#include <doctest/doctest.h>

#include <ctime>
#include <string>
#include <vector>

#include "core/scenario.hpp"

using namespace ledger;

namespace {

// Seconds in which any input is answered or refused. Sanitizers slow a program several times.
#ifdef LEDGER_SANITIZE
constexpr double kBudget = 10.0;
#else
constexpr double kBudget = 1.0;
#endif

Problems refused(const std::string& text) {
  const std::clock_t began = std::clock();  // the processor's time, not that of a busy machine
  const Result<Scenario> result = read_scenario(text);
  CHECK(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC < kBudget);
  if (result.ok()) FAIL(text.substr(0, 200), " is accepted");
  for (const Problem& problem : result.problems()) {
    CHECK(problem.message.size() > 10);
    const char last = problem.message.back();
    CHECK((last == '.' || last == '?'));
    CHECK(problem.message.size() < 1000);
  }
  return result.problems();
}

Problems with(const std::string& members) {
  return refused(R"({"model":"Qwen/Qwen3-0.6B",)" + members + "}");
}

const Problem* at(const Problems& problems, const std::string& path) {
  for (const Problem& problem : problems) {
    if (problem.path == path) return &problem;
  }
  return nullptr;
}

bool says(const Problem& problem, const std::string& words) {
  return problem.message.find(words) != std::string::npos;
}

// A scenario with exactly one problem, at this path.
Problem only(const Problems& problems, const std::string& path) {
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().path == path);
  return problems.front();
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("text that is not a JSON object is refused with a sentence") {
  CHECK(says(only(refused(""), ""), "empty"));
  CHECK(says(only(refused(" \n\t"), ""), "empty"));
  CHECK(says(only(refused("nope"), ""), "line 1, column"));
  CHECK(says(only(refused("[1,2]"), ""), "object"));
  CHECK(says(only(refused("\"text\""), ""), "object"));
  CHECK(says(only(refused("null"), ""), "object"));
  refused("{\"model\":\"\xff\"}");
  refused("{\"model\":\"Qwen/Qwen3-0.6B\"} and more");
  refused("\xc0\x80");
}

TEST_CASE("a mistake in the JSON is placed by line and column") {
  const Problem problem = only(refused("{\n  \"model\": \"Qwen/Qwen3-0.6B\",\n}"), "");
  CHECK(says(problem, "line 3, column 1"));
}

TEST_CASE("numbers that JSON does not have, or that no double holds, are refused") {
  CHECK(says(only(with(R"("training":{"max_length":NaN})"), ""), "line 1"));
  CHECK(says(only(with(R"("training":{"max_length":1e999})"), ""), "overflow"));
}

TEST_CASE("a key given twice is a problem") {
  only(with(R"("training":{"bf16":true,"bf16":false})"), "training.bf16");
}

TEST_CASE("an unknown key is a problem at every level, with the nearest known one") {
  CHECK(only(with(R"("trianing":{})"), "trianing").nearest == "training");
  CHECK(only(with(R"("training":{"max_lenght":8})"), "training.max_lenght").nearest ==
        "max_length");
  CHECK(only(with(R"("device":{"multiprocesors":8})"), "device.multiprocesors").nearest ==
        "multiprocessors");
  const std::string kwargs = "training.gradient_checkpointing_kwargs";
  only(with(R"("training":{"gradient_checkpointing_kwargs":{"use_rentrant":true}})"),
       kwargs + ".use_rentrant");
  only(with(R"("training":{"optim":"sgd","optim_args":{"nesterov":true}})"),
       "training.optim_args.nesterov");
  // A key that is known elsewhere, and what others call it.
  CHECK(only(with(R"("max_length":8)"), "max_length").nearest == "training.max_length");
  CHECK(only(with(R"("max_lenght":8)"), "max_lenght").nearest == "training.max_length");
  CHECK(only(with(R"("batch_size":8)"), "batch_size").nearest ==
        "training.per_device_train_batch_size");
}

TEST_CASE("numbers of the wrong kind or out of range are refused, saying what is accepted") {
  for (const char* bad : {"0", "-1", "1.5", "1e300", "\"8\"", "true", "[]", "{}", "16777217"}) {
    CAPTURE(bad);
    const Problem problem =
        only(with("\"training\":{\"max_length\":" + std::string(bad) + "}"), "training.max_length");
    CHECK(says(problem, "whole number from 1 to 16,777,216"));
    CHECK_FALSE(problem.given.empty());
  }
  only(with(R"("training":{"per_device_train_batch_size":65537})"),
       "training.per_device_train_batch_size");
  only(with(R"("training":{"gradient_accumulation_steps":1000001})"),
       "training.gradient_accumulation_steps");
  only(with(R"("training":{"max_grad_norm":-0.5})"), "training.max_grad_norm");
  only(with(R"("at_event":-1)"), "at_event");
  only(with(R"("device":{"total_bytes":-5})"), "device.total_bytes");
  only(with(R"("device":{"other_bytes":1e300})"), "device.other_bytes");
}

TEST_CASE("flags and objects are not guessed from other kinds") {
  only(with(R"("training":{"bf16":1})"), "training.bf16");
  only(with(R"("keep_outputs":"yes")"), "keep_outputs");
  only(with(R"("training":[])"), "training");
  only(with(R"("config":"x")"), "config");
  only(with(R"("device":8)"), "device");
  only(with(R"("training":{"optim_args":"foreach=False"})"), "training.optim_args");
}

TEST_CASE("a wrong choice names the accepted ones and the nearest") {
  const Problem optim = only(with(R"("training":{"optim":"adamw_troch"})"), "training.optim");
  CHECK(optim.nearest == "adamw_torch");
  CHECK(says(optim, "adamw_torch_fused"));
  CHECK(only(with(R"("dtype":"bf16")"), "dtype").nearest == "bfloat16");
  CHECK(only(with(R"("dtype":"Float32")"), "dtype").nearest == "float32");
  CHECK(only(with(R"("attn_implementation":"spda")"), "attn_implementation").nearest == "sdpa");
}

TEST_CASE("what is not modelled yet is said to be so") {
  for (const char* members : {R"("parallel":{"strategy":"zero3","world_size":8})",
                              R"("allocator":{"throw_on_cudamalloc_oom":true})",
                              R"("attn_implementation":"flash_attention_2")"}) {
    CAPTURE(members);
    const Problems problems = with(members);
    REQUIRE(problems.size() == 1);
    CHECK(says(problems.front(), "not modelled yet"));
  }
}

TEST_CASE("options that PyTorch's allocator refuses are refused, each with its reason") {
  const auto allocator = [](const std::string& options) {
    return with(R"("allocator":)" + options);
  };
  const auto problem = [&](const std::string& options, const char* key) {
    return only(allocator(options), std::string("allocator.") + key);
  };
  CHECK(says(problem(R"({"max_split_size_mb":19})", "max_split_size_mb"), "at least 20"));
  CHECK(says(problem(R"({"max_split_size_mb":10})", "max_split_size_mb"), "from 11"));
  CHECK(says(problem(R"("max_non_split_rounding_mb:30,large_segment_size_mb:100")",
                     "max_non_split_rounding_mb"),
             "at least 100"));
  CHECK(says(problem(R"("large_segment_size_mb:10")", "large_segment_size_mb"), "from 11"));
  CHECK(says(problem(R"("large_segment_size_mb:100,max_split_size_mb:40")", "max_split_size_mb"),
             "at least 100"));
  CHECK(says(problem(R"("garbage_collection_threshold:1")", "garbage_collection_threshold"),
             "between 0 and 1"));
  CHECK(says(problem(R"({"per_process_memory_fraction":1.5})", "per_process_memory_fraction"),
             "from 0 to 1"));
  CHECK(says(problem(R"("expandable_segments:true")", "expandable_segments"), "true or false"));
  for (const char* divisions : {"3", "0", R"("[300:2]")", R"("[256:3]")", R"("256:1")",
                                R"("[256]")", R"("[256:]")", R"("[:2]")", "true", "[256]"}) {
    CAPTURE(divisions);
    const std::string options = R"({"roundup_power2_divisions":)" + std::string(divisions) + "}";
    CHECK(says(problem(options, "roundup_power2_divisions"), "power of two"));
  }
  const Problem backend = problem(R"("backend:cudaMallocAsync")", "backend");
  CHECK(says(backend, "driver's own pool"));
  CHECK(backend.nearest == "native");
  CHECK(says(problem(R"("pinned_use_background_threads:True")", "pinned_use_background_threads"),
             "leave it out"));
  CHECK(problem(R"({"max_split_size":64})", "max_split_size").nearest == "max_split_size_mb");
  CHECK(says(only(allocator("true"), "allocator"), "PYTORCH_ALLOC_CONF"));
  CHECK(says(only(allocator(R"("expandable_segments")"), "allocator"), "PYTORCH_ALLOC_CONF"));
  CHECK(says(only(allocator("\"" + repeated("a:1,", 1000000) + "\""), "allocator"), "too long"));
  CHECK(says(problem(R"({"roundup_power2_divisions":"[)" + repeated("1:2,", 1000000) + "1:2]\"}",
                     "roundup_power2_divisions"),
             "power of two"));
  CHECK(says(problem(R"("max_split_size_mb:64,max_split_size_mb:32")", "max_split_size_mb"),
             "twice"));
}

TEST_CASE("what only another trainer knows is said to be so") {
  for (const char* members :
       {R"("training":{"packing":true})", R"("training":{"padding_free":true})",
        R"("training":{"loss_type":"dft"})", R"("training":{"sample_lengths":[8]})",
        R"("training":{"label_smoothing_factor":0.1})",
        R"("trainer":"transformers","training":{"packing":true})"}) {
    CAPTURE(members);
    const Problems problems = with(members);
    REQUIRE(problems.size() == 1);
    CHECK(says(problems.front(), "another trainer"));
  }
}

TEST_CASE("Liger's kernels are refused where Liger, SFTTrainer or this model refuses them") {
  const char* both =
      R"("training":{"use_liger_kernel":true,"liger_kernel_config":{"cross_entropy":true}})";
  CHECK(says(only(with(both), "training.liger_kernel_config.fused_linear_cross_entropy"),
             "one of them"));
  const char* fused =
      R"("trainer":"trl","training":{"use_liger_kernel":true,
         "liger_kernel_config":{"fused_linear_cross_entropy":true}})";
  CHECK(says(only(with(fused), "training.liger_kernel_config.fused_linear_cross_entropy"),
             "SFTTrainer refuses"));
  CHECK(says(
      only(refused(R"({"model":"openai-community/gpt2","training":{"use_liger_kernel":true}})"),
           "training.use_liger_kernel"),
      "qwen3"));
  only(with(R"("training":{"liger_kernel_config":{"geglu":true}})"),
       "training.liger_kernel_config.geglu");
}

TEST_CASE("lengths of samples are a list of numbers of tokens") {
  for (const char* lengths : {"3", "[]", "[1]", "[2,-1]", "[1025]"}) {
    CAPTURE(lengths);
    const Problems problems =
        with(std::string(R"("trainer":"trl","training":{"sample_lengths":)") + lengths + "}");
    REQUIRE(problems.size() == 1);
    CHECK(problems.front().path.starts_with("training.sample_lengths"));
  }
}

TEST_CASE("all problems come at once") {
  const Problems problems = refused(
      R"({"model":"Qwen/Qwen3-0.6B","dtype":"bf16","peft":{"rank":8},"card":"RTX 9999","colour":1,
          "config":{"vocab_sze":1,"hidden_size":0},"training":{"max_length":0,"optim":"adam","fp16":3}})");
  for (const char* path :
       {"dtype", "peft.rank", "card", "colour", "config.vocab_sze", "config.hidden_size",
        "training.max_length", "training.optim", "training.fp16"}) {
    CAPTURE(path);
    CHECK(at(problems, path) != nullptr);
  }
  CHECK(problems.size() == 9);
}

TEST_CASE("a model that is not known is refused with the nearest ids") {
  CHECK(only(refused(R"({"model":"Qwen/Qwen3-0.6"})"), "model").nearest == "Qwen/Qwen3-0.6B");
  CHECK(only(refused(R"({"model":"Qwen3-06B"})"), "model").nearest == "Qwen/Qwen3-0.6B");
  CHECK(only(refused(R"({"model":"meta-llama/Llama-3.1-8B-Instruct"})"), "model").nearest ==
        "meta-llama/Llama-3.1-8B");
  only(refused(R"({})"), "model");
  only(refused(R"({"model":null})"), "model");
  only(refused(R"({"model":5})"), "model");
  only(refused(R"({"model":""})"), "model");
}

TEST_CASE("a pasted configuration of another type names the known types") {
  CHECK(says(only(refused(R"({"model":{"model_type":"mamba2"}})"), "model.model_type"), "smollm3"));
  CHECK(only(refused(R"({"model":{"architectures":["Qwen3ForCausalLM"]}})"), "model.model_type")
            .nearest == "qwen3");
  CHECK(says(
      only(refused(R"({"model":{"model_type":"llava","text_config":{}}})"), "model.model_type"),
      "text_config"));
  only(refused(R"({"model":{}})"), "model.model_type");
  only(refused(R"({"model":{"model_type":7}})"), "model.model_type");
}

TEST_CASE("a misspelt key of a configuration is a problem") {
  CHECK(only(refused(R"({"model":{"model_type":"llama","hidden_sise":512}})"), "model.hidden_sise")
            .nearest == "hidden_size");
  CHECK(only(with(R"("config":{"vocabsize":512})"), "config.vocabsize").nearest == "vocab_size");
  only(with(R"("config":{"model_type":"llama"})"), "config.model_type");
}

TEST_CASE("keys of a configuration that would need other memory are refused, not ignored") {
  const std::string start = R"({"model":{"model_type":"llama",)";
  for (const char* key :
       {R"("attention_dropout":1.5)", R"("rope_scaling":{"type":"longrope","factor":2.0})",
        R"("architectures":["LlamaForSequenceClassification"])", R"("output_hidden_states":true)",
        R"("is_encoder_decoder":true)", R"("hidden_act":"softplus")",
        R"("per_layer_config":{"0":{"num_attention_heads":2}})"}) {
    CAPTURE(key);
    CHECK(refused(start + key + "}}").size() == 1);
  }
}

TEST_CASE("a rotary type that follows the length is refused beyond the positions it was made for") {
  const std::string model =
      R"({"model":{"model_type":"phi3","original_max_position_embeddings":512,"rope_scaling":)"
      R"({"type":"longrope","short_factor":[1.0],"long_factor":[1.0]}},"training":{"max_length":)";
  CHECK(read_scenario(model + "512}}").ok());
  only(refused(model + "513}}"), "training.max_length");
}

TEST_CASE("shapes that transformers or a kernel refuses are problems") {
  only(with(R"("config":{"num_key_value_heads":5})"), "config.num_key_value_heads");
  only(with(R"("config":{"head_dim":101})"), "config.head_dim");
  only(with(R"("config":{"head_dim":null})"), "config.head_dim");
  only(with(R"("config":{"layer_types":["full_attention"]})"), "config.layer_types");
  only(with(R"("config":{"layer_types":["full","attention"]})"), "config.layer_types");
  only(with(R"("config":{"num_hidden_layers":1001})"), "config.num_hidden_layers");
  only(with(R"("config":{"hidden_size":10000001})"), "config.hidden_size");
  only(
      refused(
          R"({"model":{"model_type":"llama","hidden_size":1000,"num_attention_heads":48,"head_dim":64}})"),
      "model.hidden_size");
  only(refused(R"({"model":"SmolLM3-3B","config":{"no_rope_layers":[1,0]}})"),
       "config.no_rope_layers");
  only(refused(R"({"model":"SmolLM3-3B","config":{"no_rope_layers":[]}})"),
       "config.no_rope_layers");
}

TEST_CASE("autocast has one type") {
  only(with(R"("dtype":"float32","training":{"bf16":true,"fp16":true})"), "training.fp16");
}

TEST_CASE("adapters and four-bit weights that contradict themselves get sentences") {
  const std::string four = R"("quantization":{"load_in_4bit":true})";
  CHECK(says(only(with(four.c_str()), "quantization"), "cannot be trained"));
  CHECK(says(only(with(R"("peft":{"r":16},"quantization":{"bnb_4bit_use_double_quant":true})"),
                  "quantization.load_in_4bit"),
             "needs load_in_4bit"));
  only(with(R"("peft":{"r":16},"quantization":{})"), "quantization.load_in_4bit");
  CHECK(says(only(with(R"("peft":{"r":16},"quantization":{"load_in_8bit":true,
                       "bnb_4bit_use_double_quant":true})"),
                  "quantization.load_in_4bit"),
             "needs load_in_4bit"));
  CHECK(says(only(with(R"("peft":{},"quantization":{"load_in_4bit":true,"load_in_8bit":true})"),
                  "quantization.load_in_8bit"),
             "one of them must be false"));
  CHECK(says(only(with(R"("quantization":{"load_in_8bit":true})"), "quantization"),
             "cannot be trained"));
  const Problem skipped = only(with(R"("peft":{},"quantization":{"load_in_8bit":true,
                "llm_int8_skip_modules":["lm_head","down_porj"]})"),
                               "quantization.llm_int8_skip_modules");
  CHECK(skipped.nearest == "down_proj");
  CHECK(says(only(with(R"("peft":{},"quantization":{"load_in_4bit":true,
                       "llm_int8_skip_modules":["down_proj"]})"),
                  "quantization.llm_int8_skip_modules"),
             "add \"lm_head\""));
  CHECK(says(
      only(with(R"("peft":{},"quantization":{"quant_method":"hqq"})"), "quantization.quant_method"),
      "gptq"));
  only(with(R"("peft":{},"quantization":{"load_in_8bit":true,"llm_int8_has_fp16_weight":true})"),
       "quantization.llm_int8_has_fp16_weight");
  CHECK(says(only(with(R"("peft":{"r":2048})"), "peft.r"), "hidden width"));
  only(with(R"("peft":{"r":0})"), "peft.r");
  only(with(R"("peft":{"lora_dropout":1.5})"), "peft.lora_dropout");
  const Problem target =
      only(with(R"("peft":{"target_modules":["q_porj"]})"), "peft.target_modules");
  CHECK(target.nearest == "q_proj");
  CHECK(says(target, "down_proj"));
  CHECK(says(only(with(R"("peft":{"target_modules":"q_proj"})"), "peft.target_modules"),
             "regular expression"));
  only(with(R"("peft":{"target_modules":[]})"), "peft.target_modules");
  only(with(R"("peft":{"peft_type":"IA3"})"), "peft.peft_type");
  const Problem saved =
      only(with(R"("peft":{"modules_to_save":["lm_haed"]})"), "peft.modules_to_save");
  CHECK(saved.nearest == "lm_head");
  CHECK(says(saved, "embed_tokens"));
  CHECK(says(only(with(R"("peft":{"modules_to_save":["q_proj"]})"), "peft.modules_to_save"),
             "a linear of the layers"));
  only(with(R"("peft":{"modules_to_save":"lm_head"})"), "peft.modules_to_save");
  only(with(R"("peft":{"trainable_token_indices":[151936]})"), "peft.trainable_token_indices");
  only(with(R"("peft":{"trainable_token_indices":{"wte":[1]}})"), "peft.trainable_token_indices");
  CHECK(says(only(with(R"("peft":{"trainable_token_indices":[1],
                       "modules_to_save":["embed_tokens"]})"),
                  "peft.trainable_token_indices"),
             "once"));
  CHECK(says(
      only(with(R"("peft":{"use_dora":true,"target_modules":["embed_tokens"]})"), "peft.use_dora"),
      "embed_tokens"));
  CHECK(only(with(R"("peft":{"rank_pattern":{"q_porj":4}})"), "peft.rank_pattern.q_porj").nearest ==
        "q_proj");
  only(with(R"("peft":{"rank_pattern":{"q_proj":0}})"), "peft.rank_pattern.q_proj");
  CHECK(says(only(with(R"("peft":{"rank_pattern":{"q_proj":4096}})"), "peft.r"), "hidden width"));
  only(with(R"("peft":{"bias":"some"})"), "peft.bias");
  CHECK(
      says(only(with(R"("peft":{"bias":"all"},"quantization":{"load_in_4bit":true})"), "peft.bias"),
           "none"));
}

TEST_CASE("flash attention in 32 bit gets a sentence of its own") {
  CHECK(says(only(with(R"("dtype":"float32","attn_implementation":"flash_attention_2")"),
                  "attn_implementation"),
             "16-bit types only"));
}

TEST_CASE("a list of adapters names the one that is wrong") {
  only(with(R"("peft":[])"), "peft");
  only(with(R"("peft":[{},{"r":0}])"), "peft[1].r");
  only(with(R"("peft":[{},null])"), "peft[1]");
  only(with(R"("peft":[{"target_modules":["q_porj"]}])"), "peft[0].target_modules");
  CHECK(says(only(refused(R"({"model":"Qwen/Qwen3-30B-A3B","peft":[
                          {"target_modules":["gate"]},{"target_modules":["q_proj"]}]})"),
                  "peft[0].target_modules"),
             "more than one adapter"));
}

TEST_CASE("DoRA and dropout do not go with parameters of experts") {
  const std::string start = R"({"model":"Qwen/Qwen3-30B-A3B","peft":{"target_modules":["gate"],)";
  CHECK(says(only(refused(start + R"("use_dora":true}})"), "peft.use_dora"), "experts"));
  CHECK(says(only(refused(start + R"("lora_dropout":0.1}})"), "peft.lora_dropout"), "experts"));
}

TEST_CASE("sizes beyond what a double counts are refused") {
  only(with(R"("training":{"max_length":16777216,"per_device_train_batch_size":65536})"),
       "training.max_length");
  only(with(R"("attn_implementation":"eager","training":{"max_length":16777216})"),
       "training.max_length");
  only(
      with(
          R"("config":{"hidden_size":10000000,"intermediate_size":10000000,"num_hidden_layers":1000})"),
      "model");
}

TEST_CASE("devices are not guessed") {
  only(with(R"("device":{"compute_capability":"8.9"})"), "device.multiprocessors");
  only(with(R"("device":{"compute_capability":"7.0"})"), "device.compute_capability");
  only(with(R"("device":{"compute_capability":true})"), "device.compute_capability");
  only(with(R"("device":{"card":"RTX 4090"})"), "device.card");
  only(with(R"("card":7)"), "card");
  only(with(R"("card":"RTX 2070","dtype":"float16")"),
       "card");  // nobody's figure of its size is known
  CHECK(says(only(with(R"("card":"A100")"), "card"), "a100-40gb or a100-80gb"));
}

TEST_CASE("huge and deep input is refused quickly, with few and short sentences") {
  refused(repeated("[", 100000));
  refused(repeated("{\"a\":", 100000));
  refused("{\"model\":" + repeated("[", 100000));
  std::string keys;
  for (int i = 0; i < 90000; ++i) keys += ",\"vocab_siz" + std::to_string(i) + "\":1";
  CHECK(with("\"config\":{" + keys.substr(1) + "}").size() <= 101);
  CHECK(with(keys.substr(1)).size() <= 101);
  CHECK(refused("{\"model\":{\"model_type\":\"llama\",\"layer_types\":[" + repeated("1,", 300000) +
                "1]}}")
            .size() == 1);
  refused("{\"model\":\"" + std::string(5000000, 'q') + "\"}");
  with("\"" + std::string(5000000, 'q') + "\":1");
  with("\"card\":\"" + std::string(5000000, '4') + "\"");
  refused(std::string(20000000, ' ') + "{}");
}
