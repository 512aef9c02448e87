// Measured memory beside the estimate.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/explain/compare.hpp"
#include "core/report.hpp"

namespace ledger {
namespace {

using nlohmann::json;

constexpr double kGiB = 1073741824;

json compared(const json& measured, const json& more = json::object()) {
  json scenario = {{"model", "Qwen/Qwen3-0.6B"}, {"training", {{"max_length", 512}}}};
  scenario.update(more);
  return json::parse(compare(json({{"scenario", scenario}, {"measured", measured}}).dump()));
}

json tier(const json& comparison, const std::string& id) {
  for (const json& entry : comparison.at("tiers")) {
    if (entry.at("id") == id) return entry;
  }
  return nullptr;
}

json explanation(const json& tier, const std::string& id) {
  for (const json& entry : tier.at("explains")) {
    if (entry.at("id") == id) return entry;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a measurement equal to the estimate agrees, tier by tier") {
  const json report =
      json::parse(estimate(R"({"model": "Qwen/Qwen3-0.6B", "training": {"max_length": 512}})"));
  const double allocated = report.at("peak").at("allocated_bytes");
  const double reserved = report.at("peak").at("reserved_bytes");
  const json answer = compared({{"max_memory_allocated", allocated},
                                {"max_memory_reserved", reserved},
                                {"nvidia_smi", reserved + 0.6 * kGiB},
                                {"total", 24 * kGiB}});
  CHECK(answer.at("problems").empty());
  for (const char* id : {"allocated", "reserved", "nvidia_smi"}) {
    CHECK(tier(answer, id).at("agrees") == true);
  }
  CHECK(tier(answer, "free").at("measured").is_null());
  CHECK(explanation(tier(answer, "reserved"), "fragmentation").at("bytes").at("low") == 0);
  CHECK(answer.at("room").at("left_bytes").at("low") == 24 * kGiB - reserved - 0.6 * kGiB);
  CHECK(answer.at("room").at("measured") == true);
}

TEST_CASE("sizes are taken as they were printed, with the interval that leaves") {
  const json answer = compared({{"max_memory_allocated", "10.00 GiB"}});
  const json measured = tier(answer, "allocated").at("measured");
  CHECK(measured.at("value") == 10 * kGiB);
  CHECK(measured.at("low").get<double>() == doctest::Approx(9.995 * kGiB));
  CHECK(tier(answer, "allocated").at("agrees") == false);
  CHECK(!explanation(tier(answer, "allocated"), "more_alive").is_null());
  CHECK(answer.at("room").is_null());
  CHECK(answer.at("one_up").at(0).at("fits") == "unknown");
}

TEST_CASE("what is beyond segments and a context belongs to others") {
  const json answer = compared({{"max_memory_reserved", 8 * kGiB}, {"nvidia_smi", 14 * kGiB}});
  const json other = explanation(tier(answer, "nvidia_smi"), "other_processes");
  const json report = json::parse(estimate(R"({"model": "Qwen/Qwen3-0.6B"})"));
  const double context = report.at("context").at("high");
  CHECK(other.at("bytes").at("low") == 6 * kGiB - context);
}

TEST_CASE("one size up fits where what it adds is left") {
  const json answer = compared({{"nvidia_smi", 20 * kGiB}, {"total", 23.5 * kGiB}});
  const json batch = answer.at("one_up").at(0);
  CHECK(batch.at("id") == "micro_batch");
  CHECK(batch.at("value") == 2);
  CHECK(batch.at("adds_bytes").get<double>() > 0);
  CHECK(batch.at("adds_bytes").get<double>() < 3 * kGiB);
  CHECK(batch.at("fits") == "yes");
  CHECK(answer.at("one_up").at(1).at("value") == 1024);
  CHECK(compared({{"nvidia_smi", 23.4 * kGiB}, {"total", 23.5 * kGiB}})
            .at("one_up")
            .at(0)
            .at("fits") == "no");
}

TEST_CASE("free of shared memory needs the size of the memory") {
  CHECK(compared({{"free", "60 GiB"}}).at("problems").at(0).at("path") == "measured.total");
  const json answer = compared({{"free", "60 GiB"}, {"total", "119 GiB"}});
  CHECK(tier(answer, "free").at("measured").at("value") == 60 * kGiB);
  CHECK(answer.at("room").at("used_bytes").at("high").get<double>() ==
        doctest::Approx(59.5 * kGiB));
}

TEST_CASE("everything wrong with a comparison is said at once") {
  const json answer = compared({{"max_memory", 1}, {"nvidia_smi", "much"}}, {{"dtype", "int3"}});
  CHECK(answer.at("problems").size() == 3);
  CHECK(json::parse(compare("nonsense")).at("problems").size() == 1);
  CHECK(json::parse(compare("{}")).at("problems").size() == 2);
}

}  // namespace ledger
