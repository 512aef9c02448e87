// What must hold whatever the scenario: more work never takes less memory, parts add up, the order
// of keys does not matter.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/report.hpp"

namespace ledger {
namespace {

using nlohmann::json;

json scenario(const char* model_type, int layers) {
  return json{{"model",
               {{"model_type", model_type},
                {"hidden_size", 256},
                {"intermediate_size", 704},
                {"num_hidden_layers", layers},
                {"num_attention_heads", 4},
                {"num_key_value_heads", 2},
                {"head_dim", 64},
                {"vocab_size", 3000}}},
              {"training", {{"max_length", 128}, {"per_device_train_batch_size", 1}}}};
}

json report_of(const json& wanted) {
  json report = json::parse(estimate(wanted.dump()));
  CAPTURE(wanted.dump());
  REQUIRE(report.at("problems").empty());
  return report;
}

double peak(const json& wanted) { return report_of(wanted).at("peak").at("allocated_bytes"); }

constexpr const char* kTypes[] = {"llama", "mistral", "qwen2", "qwen3", "smollm3"};

}  // namespace

TEST_CASE("more layers never take less memory") {
  for (const char* type : kTypes) {
    for (int layers = 1; layers < 6; ++layers)
      CHECK(peak(scenario(type, layers)) <= peak(scenario(type, layers + 1)));
  }
}

TEST_CASE("a larger batch never takes less memory") {
  // Batches of equal sequences stay on one side of the kernels' thresholds here: fewer than 3,072
  // tokens (the embedding's backward sorts beyond) and the same number of pieces in flash
  // attention.
  for (const char* type : kTypes) {
    json wanted = scenario(type, 2);
    double before = 0;
    for (int batch = 8; batch <= 20; batch += 4) {
      wanted["training"]["per_device_train_batch_size"] = batch;
      const double now = peak(wanted);
      CHECK(before <= now);
      before = now;
    }
  }
}

TEST_CASE("a longer sequence never takes less memory") {
  // Flash attention splits the keys of short sequences, and the embedding's backward sorts from
  // 3,073 tokens on; from 512 to 2,560 tokens in eager attention neither changes.
  for (const char* type : kTypes) {
    json wanted = scenario(type, 2);
    wanted["attn_implementation"] = "eager";
    double before = 0;
    for (int length = 512; length <= 2560; length += 512) {
      wanted["training"]["max_length"] = length;
      const double now = peak(wanted);
      CHECK(before <= now);
      before = now;
    }
  }
}

TEST_CASE(
    "the seven parts add up to the peak, their lines to the parts, the timeline to its total") {
  json wanted = scenario("qwen3", 3);
  for (const char* optim : {"adamw_torch_fused", "adamw_torch", "sgd"}) {
    for (const bool checkpointing : {false, true}) {
      wanted["training"]["optim"] = optim;
      wanted["training"]["gradient_checkpointing"] = checkpointing;
      wanted["training"]["bf16"] = checkpointing;
      wanted["dtype"] = checkpointing ? "float32" : "bfloat16";
      wanted["at_event"] = 1500;
      const json report = report_of(wanted);
      for (const json* ledger : {&report.at("parts"), &report.at("moment").at("parts")}) {
        double sum = 0;
        CHECK(ledger->size() == 7);
        for (const json& part : *ledger) {
          double lines = 0;
          for (const json& line : part.at("lines")) lines += line.at("bytes").get<double>();
          CHECK(lines == part.at("bytes").get<double>());
          sum += lines;
        }
        const json& whole = ledger == &report.at("parts") ? report.at("peak") : report.at("moment");
        CHECK(sum == whole.at("allocated_bytes").get<double>());
      }
      const json& timeline = report.at("timeline");
      for (std::size_t i = 0; i < timeline.at("event").size(); ++i) {
        double sum = 0;
        for (const auto& [id, column] : timeline.at("parts").items())
          sum += column.at(i).get<double>();
        CHECK(sum == timeline.at("allocated").at(i).get<double>());
      }
    }
  }
}

TEST_CASE("no phase's peak is lost in the timeline, and none above it is drawn") {
  const json report = report_of(scenario("llama", 4));
  const json& timeline = report.at("timeline");
  const auto& events = timeline.at("event");
  double highest = 0;
  for (const json& bytes : timeline.at("allocated"))
    highest = std::max(highest, bytes.get<double>());
  CHECK(highest == report.at("peak").at("allocated_bytes").get<double>());
  for (const json& phase : report.at("phases")) {
    const auto at = std::find(events.begin(), events.end(), phase.at("peak_event"));
    REQUIRE(at != events.end());
    CHECK(timeline.at("allocated").at(static_cast<std::size_t>(at - events.begin())) ==
          phase.at("peak_bytes"));
  }
  CHECK(events.size() <= 800);
}

TEST_CASE("the order of keys does not change a byte of the report") {
  const std::string one =
      R"({"model":"Qwen/Qwen3-0.6B","dtype":"float32","training":{"max_length":64,"bf16":true}})";
  const std::string two =
      R"({"training":{"bf16":true,"max_length":64},"dtype":"float32","model":"Qwen/Qwen3-0.6B"})";
  CHECK(estimate(one) == estimate(two));
}

TEST_CASE("a report's scenario gives the same report again") {
  const std::string first = estimate(
      R"({"model":"HuggingFaceTB/SmolLM2-135M","training":{"max_length":32},"card":"RTX 4090"})");
  const json report = json::parse(first);
  CHECK(estimate(report.at("scenario").dump()) == first);
}

TEST_CASE(
    "a run fits a card that holds it, and the verdict names what fails on one that does not") {
  json wanted = scenario("llama", 4);
  wanted["device"] = {{"total_bytes", 8e9}};
  CHECK(report_of(wanted).at("verdict").at("fits") == "yes");
  const double reserved = report_of(wanted).at("peak").at("reserved_bytes");
  wanted["device"]["total_bytes"] =
      reserved + 1073741824;  // between the smallest context and the largest
  CHECK(report_of(wanted).at("verdict").at("fits") == "close");
  wanted["device"]["total_bytes"] = reserved / 2;
  const json verdict = report_of(wanted).at("verdict");
  CHECK(verdict.at("fits") == "no");
  CHECK(verdict.at("first_failure").at("tried_bytes").get<double>() > 0);
  CHECK(verdict.at("spare_bytes").at("high").get<double>() < 0);
}

}  // namespace ledger
