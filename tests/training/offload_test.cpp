// What an optimizer keeps outside the device.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/report.hpp"

namespace ledger {
namespace {

using nlohmann::json;

// Two tables of 1,000 × 256, four matrices of 256 × 256, three of 256 × 512; norms of 256.
json scenario_with(json training) {
  training["max_length"] = 64;
  return {{"model",
           {{"model_type", "llama"},
            {"hidden_size", 256},
            {"intermediate_size", 512},
            {"num_hidden_layers", 1},
            {"num_attention_heads", 4},
            {"num_key_value_heads", 4},
            {"head_dim", 64},
            {"vocab_size", 1000},
            {"tie_word_embeddings", false}}},
          {"training", training}};
}

json host_of(const json& scenario) { return json::parse(estimate(scenario.dump())).at("host"); }

constexpr double kLarge = 2 * 256000.0 + 4 * 65536 + 3 * 131072;  // elements of nine parameters

}  // namespace

TEST_CASE("AdamW on the host has parameter, gradient and both moments there, in bfloat16") {
  const json host = host_of(
      scenario_with({{"optim", "adamw_torch_fused"}, {"optim_args", {{"cpu_offload", true}}}}));
  CHECK(host.at("weights_bytes") == 2 * kLarge);
  CHECK(host.at("gradients_bytes") == 2 * kLarge);
  CHECK(host.at("optimizer_bytes") == 4 * kLarge + 4 * 9);
  CHECK(host.at("managed_bytes") == 0);
}

TEST_CASE("paged state lies in managed memory, a byte for each of two states") {
  const json host = host_of(scenario_with({{"optim", "paged_adamw_8bit"}}));
  // Pages from 100,000 elements on: the tables and the wide matrices.
  CHECK(host.at("managed_bytes") == 2 * (2 * 256000.0 + 3 * 131072));
  CHECK(host.at("weights_bytes") == 0);
  CHECK(host_of(scenario_with({{"optim", "adamw_torch_fused"}})).is_null());
}

}  // namespace ledger
