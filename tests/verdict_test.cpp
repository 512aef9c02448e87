// What a report says of a card: the verdict with its reason, ranges, and the message of the first
// allocation that fails.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/report.hpp"

namespace ledger {
namespace {

using nlohmann::json;

constexpr double kMiB = 1048576, kGiB = 1073741824;

json small(double total_bytes) {
  return json{{"model",
               {{"model_type", "llama"},
                {"hidden_size", 512},
                {"intermediate_size", 1408},
                {"num_hidden_layers", 8},
                {"num_attention_heads", 8},
                {"num_key_value_heads", 4},
                {"vocab_size", 32000}}},
              {"training", {{"max_length", 1024}, {"per_device_train_batch_size", 4}}},
              {"device", {{"total_bytes", total_bytes}}}};
}

json report_of(const json& wanted) {
  json report = json::parse(estimate(wanted.dump()));
  CAPTURE(report.at("problems").dump());
  REQUIRE(report.at("problems").empty());
  return report;
}

json verdict_of(const json& wanted) { return report_of(wanted).at("verdict"); }

double low(const json& range) { return range.at("low"); }
double high(const json& range) { return range.at("high"); }

}  // namespace

TEST_CASE("a run fits if the headroom stays free at the upper ends of all ranges") {
  const double needed = high(verdict_of(small(1e12)).at("needed_bytes"));
  json wanted = small(std::ceil(needed / 0.95));
  json verdict = verdict_of(wanted);
  CHECK(verdict.at("fits") == "close");
  CHECK(verdict.at("reason") == "headroom");
  CHECK(low(verdict.at("spare_bytes")) > 0);
  wanted["device"]["headroom"] = 0.04;
  verdict = verdict_of(wanted);
  CHECK(verdict.at("fits") == "yes");
  CHECK(verdict.at("reason") == "room");
  wanted["device"]["headroom"] = 0;
  wanted["device"]["total_bytes"] = needed;
  CHECK(verdict_of(wanted).at("fits") == "yes");
  wanted["device"]["total_bytes"] = needed - 1;
  verdict = verdict_of(wanted);
  CHECK(verdict.at("fits") == "close");
  CHECK(verdict.at("reason") == "reserved");
}

TEST_CASE("between the contexts that were seen it is close, below them it does not fit") {
  const json roomy = report_of(small(1e12));
  const double reserved = roomy.at("peak").at("reserved_bytes");
  const json& context = roomy.at("context");
  json wanted = small(std::floor(reserved + (low(context) + high(context)) / 2));
  json verdict = verdict_of(wanted);
  CHECK(verdict.at("fits") == "close");
  CHECK((verdict.at("reason") == "outside" || verdict.at("reason") == "cache"));
  const double allocated = roomy.at("peak").at("allocated_bytes");
  wanted = small(std::floor(allocated + low(context) - 1));
  verdict = verdict_of(wanted);
  CHECK(verdict.at("fits") == "no");
  CHECK(verdict.at("reason") == "tensors");
  CHECK(verdict.at("first_failure").at("tried_bytes").get<double>() > 0);
}

TEST_CASE("the first allocation that fails is named, with the message that PyTorch prints") {
  json wanted = small(1024 * kMiB);
  const json failure = verdict_of(wanted).at("first_failure");
  CHECK(failure.at("tensor").get<std::string>().size() > 2);
  CHECK(failure.at("requested_bytes") <= failure.at("tried_bytes"));
  const std::string message = failure.at("message");
  CHECK(message.find("CUDA out of memory. Tried to allocate ") == 0);
  CHECK(message.find(" GPU 0 has a total capacity of 1024.00 MiB of which ") != message.npos);
  CHECK(message.find(" allowed; ") == message.npos);
  CHECK(message.find("expandable_segments:True to avoid fragmentation") != message.npos);
  // Context of compute capability 8.0: 437 MiB and 0.1 GiB.
  const double context = 437 * kMiB + std::floor(0.1 * kGiB);
  CHECK(failure.at("outside_bytes") == context);
  const double in_use = context + failure.at("allocated_bytes").get<double>() +
                        failure.at("unallocated_bytes").get<double>();
  CHECK(failure.at("free_bytes") == 1024 * kMiB - in_use);

  wanted["allocator"] = "expandable_segments:True,per_process_memory_fraction:0.25";
  const std::string other = verdict_of(wanted).at("first_failure").at("message");
  CHECK(other.find(" 256.00 MiB allowed; Of the allocated memory ") != other.npos);
  CHECK(other.find("fragmentation") == other.npos);
  CHECK(other.ends_with(" is reserved by PyTorch but unallocated."));
}

TEST_CASE("others' memory is not in the message's memory of this process") {
  json wanted = small(2048 * kMiB);
  wanted["device"]["other_bytes"] = 1200 * kMiB;
  const json failure = verdict_of(wanted).at("first_failure");
  const double in_use = failure.at("outside_bytes").get<double>() +
                        failure.at("allocated_bytes").get<double>() +
                        failure.at("unallocated_bytes").get<double>();
  CHECK(failure.at("free_bytes") == 848 * kMiB - in_use);
}

TEST_CASE("what fails while the model is loaded is said to be so") {
  const json failure = verdict_of(small(600 * kMiB)).at("first_failure");
  CHECK(failure.at("step") == 0);
  CHECK(failure.at("phase") == "load");
  CHECK(failure.at("what").get<std::string>().find("loading, ") == 0);
}

TEST_CASE("a memory fraction limits what fits") {
  json wanted = small(100 * kGiB);
  CHECK(verdict_of(wanted).at("fits") == "yes");
  wanted["allocator"]["per_process_memory_fraction"] = 0.005;  // 512 MiB
  const json verdict = verdict_of(wanted);
  CHECK(verdict.at("fits") == "no");
  CHECK(high(verdict.at("spare_bytes")) < 0);
}

TEST_CASE("the context follows the compute capability, where one was seen") {
  const auto context = [](const char* capability) {
    json wanted = small(1e12);
    wanted["device"]["compute_capability"] = capability;
    wanted["device"]["multiprocessors"] = 80;
    return report_of(wanted).at("context");
  };
  CHECK(low(context("8.9")) == 384 * kMiB + std::floor(0.1 * kGiB));
  CHECK(high(context("8.9")) == 426 * kMiB + std::floor(0.7 * kGiB));
  CHECK(low(context("7.5")) == std::floor(0.3 * kGiB));
  CHECK(high(context("7.5")) == std::floor(1.5 * kGiB));
  CHECK(context("10.0") == context("10.3"));
  const json hopper = context("9.0");
  double sum = 0;
  for (const json& part : hopper.at("parts")) {
    CHECK(part.at("source").get<std::string>().size() > 10);
    sum += high(part);
  }
  CHECK(sum == high(hopper));
}

TEST_CASE("Windows shows the whole card and takes its part of it") {
  json wanted = small(0);
  wanted.erase("device");
  wanted["card"] = "RTX 4090";
  const json linux_verdict = verdict_of(wanted);
  wanted["device"]["os"] = "windows";
  const json report = report_of(wanted);
  const json& verdict = report.at("verdict");
  CHECK(verdict.at("usable_bytes") == std::floor(23.988 * kGiB));
  CHECK(linux_verdict.at("usable_bytes") == std::floor(23.51 * kGiB));
  CHECK(linux_verdict.at("system").is_null());
  CHECK(low(verdict.at("needed_bytes")) ==
        low(linux_verdict.at("needed_bytes")) + std::floor(1.0 * kGiB));
  CHECK(high(verdict.at("needed_bytes")) ==
        high(linux_verdict.at("needed_bytes")) + std::floor(3.3 * kGiB));
  CHECK(high(report.at("measured").at("nvidia_smi")) == high(verdict.at("needed_bytes")));
  CHECK(estimate(report.at("scenario").dump()) == estimate(wanted.dump()));
}

TEST_CASE("on unified memory free is measured, nvidia-smi shows nothing") {
  json wanted = small(0);
  wanted.erase("device");
  wanted["card"] = "gb10";
  const json report = report_of(wanted);
  CHECK(report.at("measured").at("nvidia_smi").is_null());
  CHECK(report.at("measured").at("free") == report.at("peak").at("process_bytes"));
  wanted["card"] = "RTX 4090";
  CHECK(report_of(wanted).at("measured").at("free").is_null());
}

TEST_CASE("reserved memory on a card is a range that never goes below what is allocated") {
  json wanted = small(1e12);
  json report = report_of(wanted);
  const double replayed = report.at("reserved").at("peak_bytes");
  CHECK(replayed == report.at("peak").at("reserved_bytes"));
  // The T4's 11,880 MiB where the replay has 11,222.
  CHECK(high(report.at("reserved").at("on_card")) == std::ceil(11880.0 / 11222 * replayed));
  CHECK(low(report.at("reserved").at("on_card")) >= report.at("peak").at("allocated_bytes"));
  CHECK(report.at("measured").at("max_memory_reserved").at("high") ==
        high(report.at("reserved").at("on_card")));
  CHECK(report.at("reserved").at("varied_lengths").at("counted") == false);
  wanted["attention_mask"] = true;
  report = report_of(wanted);
  CHECK(report.at("reserved").at("varied_lengths").at("counted") == true);
  CHECK(high(report.at("reserved").at("on_card")) ==
        high(report.at("reserved").at("varied_lengths")));
}

TEST_CASE("at the peak of reserved memory, what is free adds up") {
  for (const char* options : {"", "expandable_segments:True", "max_split_size_mb:64"}) {
    CAPTURE(options);
    json wanted = small(1e12);
    wanted["allocator"] = options;
    const json reserved = report_of(wanted).at("reserved");
    CHECK(reserved.at("stranded_bytes") <= reserved.at("peak_bytes"));
    CHECK(reserved.at("largest_free_bytes") <= reserved.at("peak_bytes"));
    const bool expandable = std::string(options).starts_with("expandable");
    CHECK((reserved.at("segments") == 0) == expandable);
  }
}

}  // namespace ledger
