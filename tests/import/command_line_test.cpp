// Command lines as people paste them: quotes, continued lines, variables, launchers, overrides.
#include <doctest/doctest.h>

#include "core/import/command_line.hpp"

namespace ledger::pasted {
namespace {

std::string tree(const CommandLine& line, std::size_t piece = 0) {
  return json::write(line.pieces.at(piece).tree);
}

TEST_CASE("options come with a blank, an equals sign, or alone") {
  const CommandLine line = read_command_line(
      "python train.py --learning-rate 2e-4 --max_length=4096 --packing --no-bf16 --report_to "
      "none");
  CHECK(
      tree(line) ==
      R"({"learning_rate":0.0002,"max_length":4096,"packing":true,"bf16":false,"report_to":"none"})");
  CHECK(line.pieces[0].program == "train.py");
}

TEST_CASE("several words after an option are a list") {
  CHECK(tree(read_command_line("x.py --lora_target_modules q_proj v_proj --bf16 True")) ==
        R"({"lora_target_modules":["q_proj","v_proj"],"bf16":"True"})");
}

TEST_CASE("quotes keep words together, and lines go on behind a backslash") {
  CHECK(tree(read_command_line("python -u train.py \\\n  --optim_args \"a=1,b=2\" \\  \r\n"
                               "  --kwargs '{\"use_reentrant\": false}' # said so")) ==
        R"({"optim_args":"a=1,b=2","kwargs":{"use_reentrant":false}})");
}

TEST_CASE("variables of a script are put in, and those that are not known stay") {
  CHECK(tree(read_command_line("#!/bin/bash\n# don't\nexport SIZE=2\nB=${BATCH:-8}\n"
                               "python t.py --a $SIZE --b=\"${B}\" --c $OTHER '$SIZE'")) ==
        R"({"a":2,"b":8,"c":["$OTHER","$SIZE"]})");
}

TEST_CASE("a launcher's options are told from the script's") {
  const CommandLine line = read_command_line(
      "CUDA_VISIBLE_DEVICES=0,1 accelerate launch --multi_gpu --num_processes 2 "
      "--fsdp_offload_params true -m my.module --num_processes 4 conf.yaml");
  REQUIRE(line.pieces.size() == 2);
  CHECK(line.pieces[0].format == "accelerate");
  CHECK(tree(line) ==
        R"({"multi_gpu":true,"num_processes":2,"fsdp_config":{"fsdp_offload_params":"true"}})");
  CHECK(line.pieces[1].program == "my.module");
}

TEST_CASE("programs that read one format are known by their names") {
  CHECK(read_command_line("axolotl train a.yml --micro-batch-size 2").pieces[0].format ==
        "axolotl");
  CHECK(read_command_line("axolotl train a.yml --micro-batch-size 2").files ==
        std::vector<std::string>{"a.yml"});
  CHECK(read_command_line("llamafactory-cli train a.yaml stage=dpo").pieces[0].format ==
        "llamafactory");
  const CommandLine tune =
      read_command_line("tune run --nproc_per_node 2 lora_finetune_distributed batch_size=4");
  CHECK(tune.pieces[0].format == "accelerate");
  CHECK(tune.pieces[1].format == "torchtune");
  CHECK(tree(tune, 1) == R"({"batch_size":4})");
  CHECK(read_command_line("python3 -m verl.trainer.main_ppo a.b=1").pieces[0].format == "verl");
}

TEST_CASE("dotted overrides make a tree, with or without a plus") {
  CHECK(tree(read_command_line("python3 -m verl.trainer.main_ppo a.b.c=1 +a.d=x ++a.b.e=[1,2]")) ==
        R"({"a":{"b":{"c":1,"e":[1,2]},"d":"x"}})");
}

TEST_CASE("YAML is no command line") {
  CHECK_FALSE(is_command_line("base_model: a/b\nmicro_batch_size: 2\n# python train.py\n"));
  CHECK_FALSE(is_command_line("python: 3.11\nbf16: auto\n"));
  CHECK_FALSE(is_command_line("- a\n- b\n"));
  CHECK_FALSE(is_command_line("---\na: --flag\n"));
  CHECK(is_command_line("$ torchrun --nproc_per_node 2 x.py"));
  CHECK(is_command_line("--per_device_train_batch_size 2 \\\n --bf16"));
  CHECK(is_command_line("!accelerate launch x.py --bf16"));
}

}  // namespace
}  // namespace ledger::pasted
