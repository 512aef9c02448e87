// Pins the text of a few reports, as people read them. Where a text changes on purpose, write the
// goldens anew with LEDGER_WRITE_GOLDENS=1 in the environment and read the difference.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/report.hpp"
#include "core/table.hpp"

namespace ledger {
namespace {

void check_golden(const std::string& name, const std::string& scenario) {
  const std::string path = std::string(TEST_DATA_DIR) + "/goldens/" + name + ".txt";
  const std::string text = table(estimate(scenario));
  if (std::getenv("LEDGER_WRITE_GOLDENS") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  CHECK(text == golden.str());
}

}  // namespace

TEST_CASE("the table of a full fine-tuning step reads as it did") {
  check_golden(
      "full",
      R"({"model":"Qwen/Qwen3-0.6B","dtype":"float32","training":{"bf16":true},"card":"RTX 4090"})");
}
TEST_CASE("the table of a QLoRA step reads as it did") {
  check_golden("qlora", R"({"model":"meta-llama/Llama-3.1-8B","card":"RTX 4090",
    "peft":{"r":16,"target_modules":"all-linear"},
    "quantization":{"load_in_4bit":true,"bnb_4bit_quant_type":"nf4","bnb_4bit_use_double_quant":true,
                    "bnb_4bit_compute_dtype":"bfloat16"},
    "training":{"max_length":2048,"bf16":true,"gradient_checkpointing":true,"optim":"paged_adamw_8bit"}})");
}
TEST_CASE("the table of a run that does not fit reads as it did") {
  check_golden(
      "does_not_fit",
      R"({"model":"meta-llama/Llama-3.1-8B","training":{"max_length":512},"card":"RTX 4090"})");
}
TEST_CASE("the sentences of a scenario with problems read as they did") {
  check_golden(
      "problems",
      R"({"model":"Qwen/Qwen3-06B","training":{"optim":"adam","max_length":-1},"colour":1})");
}

}  // namespace ledger
