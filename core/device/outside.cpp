// The figures that were seen, by compute capability and system.
#include "core/device/outside.hpp"

#include <cmath>

namespace ledger::device {
namespace {

constexpr double kMiB = 1048576, kGiB = 1073741824;

// What is whole bytes only by accident is written so.
constexpr Range mib(double low, double high) { return {low * kMiB, high * kMiB}; }
Range gib(double low, double high) { return {std::floor(low * kGiB), std::floor(high * kGiB)}; }

// The context alone. Where one figure was seen it is the lower end, and the upper one is the
// largest of any card, 0.71 GiB.
constexpr double kLargestContext = 727;  // MiB

struct ContextRow {
  int major, minor;  // minor -1: any
  Range bytes;
  const char* source;
};
constexpr ContextRow kContexts[] = {
    {8, 0, mib(437, kLargestContext),
     "A100 80GB with a bare kernel: 437 MiB (stas00/ml-engineering, "
     "compute/accelerator/nvidia/debug.md); upper end: the largest of any card"},
    {8,
     6,
     {256 * kMiB, 400e6},
     "RTX 3090: 256 MiB with PyTorch 2.7 (invoke-ai/InvokeAI#9413) to 400 MB before vLLM's weights "
     "(Sandermage/genesis-vllm-patches#24)"},
    {8, 9, mib(384, 426),
     "RTX 4090: 384 MiB (vllm-project/vllm#12059, second-hand); RTX 6000 Ada: 426 MiB with PyTorch "
     "2.10 (unslothai/unsloth-zoo#1053)"},
    {9, 0, mib(520, kLargestContext),
     "H100: 520 MiB (vllm-project/vllm#12059, second-hand); upper end: 0.71 GiB after "
     "initialisation, a card unnamed near H200 (stas00/ml-engineering, debug/pytorch.md)"},
    {10, -1, mib(618, kLargestContext),
     "B300: 618 MiB for each worker (a public log); upper end: 0.71 GiB after initialisation, a "
     "card unnamed near B200 (stas00/ml-engineering, debug/pytorch.md)"},
    {12, 0, mib(314, 334), "RTX 5060 Ti: 314 to 334 MiB beside a small model (a public log)"},
};

constexpr const char* kLibraries =
    "0.1 to 0.7 GiB of kernels and handles (cuBLAS, cuBLASLt, cuDNN) in training processes; their "
    "workspaces are PyTorch's own and counted as allocated";

constexpr const char* kSeenAnywhere =
    "measured on cards from compute capability 7.5 to 10.3: 0.25 to 0.7 GiB of CUDA context, "
    "0.1 to 0.7 GiB of kernels and library handles loaded when first used";

}  // namespace

std::vector<OutsidePart> process_parts(const Scenario& scenario) {
  const Device& device = scenario.device;
  const double communicators = scenario.parallel ? scenario.parallel->communicators() : 0;
  std::vector<OutsidePart> parts;
  for (const ContextRow& row : kContexts) {
    const bool same =
        row.major == device.compute_major && (row.minor < 0 || row.minor == device.compute_minor);
    if (!same || !device.cuda || !parts.empty()) continue;
    parts.push_back({"CUDA context", row.bytes, row.source});
    parts.push_back({"kernels and library handles", gib(0.1, 0.7), kLibraries});
  }
  if (parts.empty()) {
    parts.push_back({"context, kernels and library handles", gib(0.3, 1.5), kSeenAnywhere});
  }
  if (communicators > 0) {
    const Range one = gib(0.2, 0.7);
    parts.push_back({"NCCL",
                     {one.low * communicators, one.high * communicators},
                     "0.2 GiB for a communicator over PCIe (noonghunna/club-3090) to 0.7 over "
                     "NVLink (NVIDIA/nccl#964)"});
  }
  return parts;
}

OutsidePart system_part(const Device& device) {
  if (device.os == "windows") {
    return {"Windows and its desktop", gib(1.0, 3.3),
            "1.2 GiB taken on an RTX 3080 (a public log), 1.4 on an RTX 4060 Ti (ollama, a test's "
            "log), 3.3 on an RTX 4080 SUPER with programs (a public log)"};
  }
  if (device.os == "wsl") {
    return {"Windows around WSL", gib(0.3, 1.3),
            "up to 1.31 GiB that nvidia-smi does not show (noonghunna/club-3090, "
            "docs/HARDWARE.md)"};
  }
  return {"", {}, ""};
}

Range sum(const std::vector<OutsidePart>& parts) {
  Range total;
  for (const OutsidePart& part : parts) {
    total.low += part.bytes.low;
    total.high += part.bytes.high;
  }
  return total;
}

}  // namespace ledger::device
