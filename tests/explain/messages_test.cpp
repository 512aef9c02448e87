// What a pasted text is taken for.
#include <doctest/doctest.h>

#include <chrono>

#include "core/report.hpp"
#include "tests/explain/rows.hpp"

namespace ledger {
namespace {

using nlohmann::json;
using oom::explained;
using oom::number;

constexpr double kMiB = 1048576, kGiB = 1073741824;
constexpr std::size_t kMaxBytes = 8u << 20;  // docs/contract.md

double bytes(const json& explanation, const std::string& id) {
  const json entry = number(explanation, id);
  return entry.is_null() ? -1 : entry.at("bytes").at("value").get<double>();
}

const std::string kModern =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 3 has a total "
    "capacity of 39.56 GiB of which 1.80 GiB is free. Including non-PyTorch memory, this process "
    "has 37.75 GiB memory in use. Of the allocated memory 36.10 GiB is allocated by PyTorch, and "
    "1.15 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large "
    "try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.";

std::string wrapped(const std::string& text, std::size_t width, const std::string& with) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += width) out += text.substr(i, width) + with;
  return out;
}

}  // namespace

TEST_CASE("a message is the same however its lines are wrapped, whatever its case and prefix") {
  const json plain = explained(kModern);
  CHECK(plain.at("producer").at("id") == "torch_cuda");
  CHECK(plain.at("producer").at("versions") == "2.2 to 2.8");
  CHECK(plain.at("diagnosis").at("id") == "program");
  std::string upper = kModern;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (std::size_t width : {31, 47, 80, 83, 101}) {
    for (const std::string& text :
         {wrapped(kModern, width, "\n"), "[rank3]: " + wrapped(kModern, width, "\r\n"),
          wrapped(kModern, width, "\\n"), "\x1b[31m" + kModern + "\x1b[0m", upper}) {
      const json answer = explained(text);
      for (const char* id :
           {"tried", "total", "free", "this_process", "allocated", "unallocated"}) {
        CHECK_MESSAGE(bytes(answer, id) == bytes(plain, id), id << " of " << text);
      }
    }
  }
}

TEST_CASE("clauses are read in any order and beside others") {
  const json answer = explained(
      "CUDA out of memory. GPU 0 has a total capacity of 10.00 GiB; 3.00 GiB allowed; 1.00 GiB is "
      "reserved by PyTorch but unallocated; Process 77 has 2.50 GiB memory in use; with 46.00 MiB "
      "allocated in private pools (e.g., CUDA Graphs); 4.00 GiB is free; tried to allocate 512.00 "
      "MiB; 2.00 GiB is allocated by PyTorch; 7.50 GiB of something else");
  CHECK(bytes(answer, "limit") == 3 * kGiB);
  CHECK(bytes(answer, "unallocated") == kGiB);
  CHECK(bytes(answer, "process") == 2.5 * kGiB);
  CHECK(bytes(answer, "private_pools") == 46 * kMiB);
  CHECK(bytes(answer, "tried") == 512 * kMiB);
  CHECK(number(answer, "unrecognised").at("printed") == "7.50 GiB");
  CHECK(answer.at("diagnosis").at("id") == "limit");
}

TEST_CASE("the segment that is printed gives the range of the request") {
  const auto request = [](const std::string& size) {
    return explained("CUDA out of memory. Tried to allocate " + size).at("request");
  };
  CHECK(request("2.00 MiB").at("identifies") == false);
  CHECK(request("2.00 MiB").at("high") == kMiB);
  CHECK(request("20.00 MiB").at("identifies") == false);
  CHECK(request("20.00 MiB").at("low") == kMiB + 1);
  CHECK(request("20.00 MiB").at("or").at("low") == 18 * kMiB + 1);
  CHECK(request("258.00 MiB").at("low") == 256 * kMiB + 1);
  CHECK(request("258.00 MiB").at("high") == 258 * kMiB);
  CHECK(request("1024.00 MiB").at("high") == kGiB);
  // 1.395 to 1.405 GiB hold the multiples of 2 MiB from 1430 to 1438 MiB.
  CHECK(request("1.40 GiB").at("low") == 1428 * kMiB + 1);
  CHECK(request("1.40 GiB").at("high") == 1438 * kMiB);
  CHECK(request("12.50 MiB").at("low") == 12.5 * kMiB - 131072 + 1);  // 1.0
}

TEST_CASE("the cause follows from the figures") {
  const auto cause = [](const std::string& text) {
    return explained(text).at("diagnosis").at("id").get<std::string>();
  };
  const std::string head = "CUDA out of memory. Tried to allocate ";
  CHECK(cause(head +
              "1.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 300.00 MiB is free. "
              "Including non-PyTorch memory, this process has 23.34 GiB memory in use. Of the "
              "allocated memory 19.00 GiB is allocated by PyTorch, and 3.90 GiB is reserved "
              "by PyTorch but unallocated.") == "fragmentation");
  CHECK(cause(head +
              "1.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 300.00 MiB is free. "
              "Process 4711 has 18.00 GiB memory in use. Including non-PyTorch memory, this "
              "process has 5.34 GiB memory in use. Of the allocated memory 4.70 GiB is "
              "allocated by PyTorch, and 110.00 MiB is reserved by PyTorch but unallocated.") ==
        "other_process");
  CHECK(cause(head +
              "100.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 20.00 GiB is free.") ==
        "too_large");
  CHECK(cause(head + "more than 1EB memory.") == "corrupt_size");
  CHECK(cause("RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not "
              "enough memory: you tried to allocate 1073741824 bytes.") == "host_memory");
  CHECK(cause("slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch.") == "host_memory");
  CHECK(cause("ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size "
              "137438953504") == "host_memory");
  CHECK(cause("torch.AcceleratorError: CUDA error: out of memory") == "outside_allocator");
}

TEST_CASE("the process that a container's message numbers is the program's own") {
  const json answer = explained(
      "CUDA out of memory. Tried to allocate 6.48 GiB. GPU 0 has a total capacty of 21.99 GiB of "
      "which 6.47 GiB is free. Process 4242 has 15.51 GiB memory in use. Of the allocated memory "
      "13.89 GiB is allocated by PyTorch, and 1.31 GiB is reserved by PyTorch but unallocated.");
  CHECK(answer.at("producer").at("versions") == "2.1");
  CHECK(answer.at("diagnosis").at("id") == "program");
  CHECK(answer.at("diagnosis").at("notes").at(0).at("id") == "process_is_yours");
}

TEST_CASE("a warning is not taken for a failure") {
  for (const char* text :
       {"Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.10GiB with freed_by_count=0. "
        "The caller indicates that this is not a failure",
        "Can't reduce memory use below 2.58GiB by rematerialization; only reduced to 31.49GiB",
        "UserWarning: Failed to clone() tensor with name lm_head.weight. Error: CUDA out of "
        "memory. "
        "Tried to allocate 502.00 MiB (GPU 1; 39.59 GiB total capacity)"}) {
    const json answer = explained(text);
    CHECK(answer.at("severity") == "warning");
    CHECK(answer.at("diagnosis").at("id") == "not_an_error");
  }
}

TEST_CASE("the first failure of a log is explained, equal ones of ranks are put together") {
  std::string log = "step 10 loss 2.1 memory: 57.66GiB(60.70%)\n";
  for (int rank = 0; rank < 8; ++rank) {
    log += "[rank" + std::to_string(rank) +
           "]: torch.OutOfMemoryError: CUDA out of memory. Tried to "
           "allocate 1." +
           std::to_string(rank) + "0 GiB. GPU " + std::to_string(rank) +
           " has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n";
  }
  log += "exitcode: -9\n";
  const json answer = explained(log);
  CHECK(answer.at("severity") == "error");
  CHECK(bytes(answer, "tried") == doctest::Approx(1.0 * kGiB));
  const json& group = answer.at("messages").at(1);
  CHECK(group.at("count") == 8);
  CHECK(group.at("ranks").size() == 8);
  CHECK(group.at("explained") == true);
  CHECK(group.at("tried").at("high").get<double>() == doctest::Approx(1.705 * kGiB).epsilon(0.001));
}

TEST_CASE("units that lie are read as they are meant") {
  CHECK(bytes(explained("Memory used: 16.52 GB"), "peak_allocated") == 16.52e9);  // litgpt alone
  CHECK(bytes(explained("RuntimeError: MPS backend out of memory (MPS allocated: 17.36 GB, other "
                        "allocations: 613.56 MB, max allowed: 18.13 GB). Tried to allocate 192.00 "
                        "MB on private pool."),
              "tried") == 192 * kMiB);
  CHECK(bytes(explained("KV Cache is allocated. #tokens: 100, K size: 20.00 GB, V size: 20.00 GB"),
              "cache") == 20 * kGiB);
  const json elements =
      explained("AssertionError: More elements 131072000 than buffer size 100,000,000");
  CHECK(number(elements, "elements").at("unit") == "elements");
  CHECK(number(elements, "elements").at("bytes").is_null());
}

TEST_CASE("what is no message about memory is said to be unknown") {
  for (const char* text :
       {"", "hello", "ValueError: not enough values to unpack (expected 3, got 2)",
        "KeyError: 'lm_head'", "\x01\x02\xff\xfe"}) {
    const json answer = explained(text);
    CHECK(answer.at("known") == false);
    CHECK(answer.at("severity") == "unknown");
    CHECK(answer.at("candidates").empty());
  }
}

TEST_CASE("a text of any kind is answered within the second, one that is too long refused") {
  std::string text;
  while (text.size() + kModern.size() + 20 < kMaxBytes) text += "[rank1]: " + kModern + "\n";
  const auto begin = std::chrono::steady_clock::now();
  const json answer = explained(text);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(answer.at("known") == true);
  CHECK(answer.at("messages_left_out").get<int>() > 0);
  WARN(took.count() < 1);
  CHECK(took.count() < 10);  // sanitizers included
  text.resize(kMaxBytes + 1, 'x');
  CHECK(explained(text).at("problems").at(0).at("path") == "text");
}

TEST_CASE("a scenario names the tensor, and the changes that it takes") {
  const json scenario = {{"model", "Qwen/Qwen3-0.6B"},
                         {"training", {{"per_device_train_batch_size", 2}, {"max_length", 2048}}}};
  const json answer = explained(
      "CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of 11.00 GiB of "
      "which 1.00 GiB is free.",
      scenario);
  // 2 · 2,048 · 151,936 · 4 bytes = 2.318 GiB
  CHECK(answer.at("candidates").at(0).at("kind") == "logits");
  CHECK(answer.at("candidates").at(0).at("found") == "replay");
  CHECK(answer.at("problems").empty());
  bool batch = false;
  for (const json& change : answer.at("changes")) {
    if (change.at("id") != "micro_batch") continue;
    batch = true;
    CHECK(change.at("of_tensor") == true);
    CHECK(change.at("patch").at("training").at("per_device_train_batch_size") == 1);
    CHECK(change.at("patch").at("training").at("gradient_accumulation_steps") == 2);
  }
  CHECK(batch);
}

TEST_CASE("the message in which a replay ends finds the tensor at which it ended") {
  struct Run {
    const char* scenario;
    double gigabytes;
  };
  for (
      const Run& run :
      {Run{R"({"model":"Qwen/Qwen3-0.6B","training":{"per_device_train_batch_size":2,"max_length":2048}})",
           11},
       Run{R"({"model":"openai-community/gpt2-large","dtype":"float32","training":{"optim":"adamw_torch"}})",
           12},
       Run{R"({"model":"Qwen/Qwen2.5-1.5B","peft":{"peft_type":"LORA","r":16,"target_modules":"all-linear"},"training":{"max_length":4096}})",
           9}}) {
    json scenario = json::parse(run.scenario);
    json on_device = scenario;
    on_device["device"] = {{"total_bytes", run.gigabytes * 1e9}};
    const json failure = json::parse(estimate(on_device.dump())).at("verdict").at("first_failure");
    REQUIRE(!failure.is_null());
    const json answer = explained(failure.at("message"), scenario);
    const json& first = answer.at("candidates").at(0);
    // "forward pass, loss: logits in 32 bit" ends with the tensor's name.
    const std::string what = failure.at("what"), name = first.at("what");
    CHECK_MESSAGE(what.size() >= name.size(), what << " and " << name);
    CHECK_MESSAGE(what.substr(what.size() - name.size()) == name, what << " and " << first.dump());
    CHECK(first.at("fails_there") == true);
  }
}

TEST_CASE("beside a tensor of the scenario's tokens none is named that needs more of them") {
  const json answer =
      explained("CUDA out of memory. Tried to allocate 1.16 GiB",
                {{"model", "Qwen/Qwen3-0.6B"},
                 {"training", {{"per_device_train_batch_size", 4}, {"max_length", 2048}}}});
  // 2,048 · 151,936 · 4 bytes = 1.159 GiB: one of the four sequences
  CHECK(answer.at("candidates").at(0).at("kind") == "logits");
  for (const json& candidate : answer.at("candidates")) {
    CHECK(candidate.at("why").get<std::string>().find("more than") == std::string::npos);
  }
}

TEST_CASE("a model that the text names is tried without a scenario") {
  // The embedding of Llama 3.1 8B in 32 bit: 128,256 · 4,096 · 4 bytes = 1.957 GiB.
  const json answer = explained(
      "Loading checkpoint shards of meta-llama/Llama-3.1-8B\ntorch.OutOfMemoryError: CUDA out of "
      "memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of 14.75 GiB of which 1.00 "
      "GiB "
      "is free.");
  CHECK(answer.at("scenarios").at(0).at("model") == "meta-llama/Llama-3.1-8B");
  CHECK(answer.at("scenarios").at(0).at("recognised") == true);
  CHECK(answer.at("candidates").at(0).at("kind") == "weight");
}

TEST_CASE("problems of the scenario are told, and its letters used") {
  const json answer = explained("CUDA out of memory. Tried to allocate 118.00 MiB",
                                {{"model", {{"model_type", "nobody"}, {"vocab_size", 60000}}},
                                 {"training", {{"max_length", 512}}},
                                 {"dtype", "float32"}});
  CHECK(!answer.at("problems").empty());
  CHECK(answer.at("problems").at(0).at("path").get<std::string>().rfind("scenario", 0) == 0);
  // 1 · 512 · 60,000 · 4 bytes = 117.19 MiB
  CHECK(answer.at("candidates").at(0).at("kind") == "logits");
}

}  // namespace ledger
