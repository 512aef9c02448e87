// Loading against PyTorch's own allocator: rows whose settings stand in `case`, turned into
// scenarios.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/report.hpp"
#include "tests/rows.hpp"

namespace ledger {
namespace {

using rows::json;

// The scenario of a case, or nothing where it is outside the contract.
std::optional<json> scenario_of(const json& c) {
  // What is loaded depends on the file: it stores a head that the model ties.
  if (c.value("stored_head", false)) return {};
  // Those that train do so under autocast.
  json scenario = {{"model", c.at("model")},
                   {"dtype", c.value("load", "bf16") == "fp32" ? "float32" : "bfloat16"},
                   {"moments", {"load", "train"}},
                   {"training",
                    {{"max_length", c.value("seq", 16)},
                     {"per_device_train_batch_size", c.value("batch", 1)},
                     {"bf16", true}}}};
  if (!c.contains("quant")) return scenario;
  const std::string quant = c.at("quant");
  scenario["peft"] = {{"r", 16}, {"target_modules", "all-linear"}};
  if (quant == "int8") {
    scenario["quantization"] = {{"load_in_8bit", true}};
  } else {
    scenario["quantization"] = {{"load_in_4bit", true},
                                {"bnb_4bit_quant_type", quant},
                                {"bnb_4bit_use_double_quant", c.value("double", quant == "nf4")},
                                {"bnb_4bit_compute_dtype", "bfloat16"}};
  }
  return scenario;
}

}  // namespace

TEST_CASE("loading peaks where PyTorch's allocator says, and ends there") {
  std::vector<double> errors;
  std::size_t outside = 0;
  for (const json& row : rows::read("load.jsonl.gz")) {
    const auto scenario = scenario_of(row.at("case"));
    if (!scenario) {
      ++outside;
      continue;
    }
    CAPTURE(row.at("id").get<std::string>());
    const json report = json::parse(estimate(scenario->dump()));
    REQUIRE(report.contains("load"));
    const json& wanted = row.at("phases").at("load");
    const auto differs = [&](const char* replayed, const char* measured) {
      const double bytes = wanted.at(measured);
      return std::abs(report["load"][replayed].get<double>() - bytes) / bytes;
    };
    errors.push_back(differs("peak_bytes", "peak"));
    CHECK(errors.back() <= 0.03);
    CHECK(differs("end_bytes", "end") == 0);
    // Segments differ where the model is made on the host first, and "auto" warms up by a count of
    // its own.
    if (row.at("case").value("device_map", "") == "cuda0") {
      CHECK(differs("reserved_bytes", "reserved") == 0);
    }
    if (!row.at("phases").contains("backward1")) continue;
    const double peak = row.at("peak");
    CHECK(std::abs(report["peak"]["allocated_bytes"].get<double>() - peak) / peak <= 0.01);
  }
  CHECK(outside == 2);
  std::sort(errors.begin(), errors.end());
  REQUIRE(errors.size() == 15);
  CHECK(errors[errors.size() / 2] <= 0.001);
}

}  // namespace ledger
