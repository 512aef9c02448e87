// Adds up the figures of a message and names the cause that they show.
#include "core/explain/diagnosis.hpp"

#include <array>
#include <cmath>

#include "core/explain/torch_cause.hpp"
#include "core/quantity.hpp"

namespace ledger::message {
namespace {

constexpr std::array kCauses = {
    CauseRow{Cause::kUnknown, "unknown", "the message does not say enough"},
    CauseRow{Cause::kFragmentation, "fragmentation", "the allocator holds enough, but in pieces"},
    CauseRow{Cause::kOtherProcess, "other_process", "something else has the memory"},
    CauseRow{Cause::kLimit, "limit", "a limit was met, not the end of the memory"},
    CauseRow{Cause::kHostMemory, "host_memory", "the host's memory ran out, not the GPU's"},
    CauseRow{Cause::kProgram, "program", "the program itself needs more than there is"},
    CauseRow{Cause::kTooLarge, "too_large", "this one request is larger than the device"},
    CauseRow{Cause::kCorruptSize, "corrupt_size", "the size is nonsense: a bug, not a shortage"},
    CauseRow{Cause::kOutsideAllocator, "outside_allocator",
             "a library that allocates outside of PyTorch found nothing left"},
    CauseRow{Cause::kNotAnError, "not_an_error", "this is no failure"},
};

bool is_torch_device(Producer p) {
  return p == Producer::kCuda || p == Producer::kHip || p == Producer::kXpu ||
         p == Producer::kNpu || p == Producer::kFork || p == Producer::kIpex ||
         p == Producer::kMallocAsync || p == Producer::kWords;
}

struct Fixed {
  Producer producer;
  Cause cause;
  const char* why;
};
struct Told {
  const char* words;  // within the message
  Producer producer;
  Cause cause;  // unknown: as it is
  std::string_view id;
  const char* sentence;
};
// What ggml's other lines tell: which memory, and what for.
constexpr std::array kTold = {
    Told{"ggml_aligned_malloc", Producer::kGgml, Cause::kHostMemory, "host",
         "This is the host's memory."},
    Told{"cpu_buffer_type_alloc_buffer", Producer::kGgml, Cause::kHostMemory, "host",
         "This is the host's memory."},
    Told{"host_malloc", Producer::kGgml, Cause::kHostMemory, "host",
         "This is pinned memory of the host."},
    Told{"alloc_tensor_range", Producer::kGgml, Cause::kUnknown, "weights_buffer",
         "The buffer is for all weights that this device is to hold."},
    Told{"buffer for kv cache", Producer::kGgml, Cause::kUnknown, "cache_buffer",
         "The buffer is for the KV cache: its size follows the context."},
    Told{"ggml_gallocr_reserve", Producer::kGgml, Cause::kUnknown, "compute_buffer",
         "The buffer is for the computation: its size follows the batch and the context."},
    Told{"compute buffers", Producer::kGgml, Cause::kUnknown, "compute_buffer",
         "The buffer is for the computation: its size follows the batch and the context."},
    Told{"ggml_allocr_alloc: not enough space", Producer::kGgml, Cause::kUnknown, "planner",
         "The plan of the buffer was too small: a bug of that version, not a shortage."},
};

// Causes that follow from who speaks.
constexpr std::array kFixed = {
    Fixed{Producer::kCpu, Cause::kHostMemory,
          "PyTorch's CPU allocator speaks: the host's memory, or the container's share of it, ran "
          "out. The size is exact to the byte."},
    Fixed{Producer::kRay, Cause::kHostMemory,
          "Ray's monitor ends tasks when the node's memory, not the GPU's, passes its threshold."},
    Fixed{Producer::kKilled, Cause::kHostMemory,
          "Signal 9 comes from outside; almost always the kernel or a container's limit ended the "
          "process because the host's memory ran out."},
    Fixed{Producer::kKernel, Cause::kHostMemory,
          "The kernel ended the process because the host's memory, or its cgroup's, ran out. Read "
          "anon-rss; total-vm is address space."},
    Fixed{Producer::kSlurm, Cause::kHostMemory,
          "The job passed the host memory that it had asked Slurm for."},
    Fixed{Producer::kKubernetes, Cause::kHostMemory,
          "The container passed its limit of host memory."},
    Fixed{Producer::kPython, Cause::kHostMemory,
          "Python asked for the host's memory, and there was not enough of it, or of the "
          "container's share."},
    Fixed{Producer::kTriton, Cause::kLimit,
          "A kernel wants more of a multiprocessor's shared memory than there is: a matter of its "
          "block sizes, not of the card's memory."},
    Fixed{Producer::kNccl, Cause::kOutsideAllocator,
          "NCCL allocates outside of PyTorch's allocator, which holds all the rest. The size says "
          "nothing; leave it room: a lower memory fraction, or fewer cached segments."},
    Fixed{Producer::kBitsandbytes, Cause::kOutsideAllocator,
          "This is managed memory of a paged optimizer, or a kernel of bitsandbytes. It fails when "
          "the driver cannot back it, under WSL2 even with much of the card free. No size is "
          "printed."},
    Fixed{Producer::kRawCuda, Cause::kOutsideAllocator,
          "A CUDA library asked the driver itself, outside of PyTorch's allocator, which holds "
          "all the rest. No size is printed, and the line may be one that ran later."},
};

}  // namespace

const CauseRow& row_of(Cause cause) { return kCauses[static_cast<std::size_t>(cause)]; }

Diagnosis diagnose(const Message& m, const Squeezed* text) {
  Diagnosis d;
  const Reading* tried = m.find(Label::kTried);
  if (m.severity == Severity::kWarning) {
    d.cause = Cause::kNotAnError;
    d.why = "A warning: " + std::string(m.anchor->why) + ".";
  }
  if (tried && (tried->bytes >= kExbibyte || tried->bytes < 0)) {
    d.cause = Cause::kCorruptSize;
    if (tried->bytes > 0)
      d.arithmetic.push_back(with_sizes(
          "% is 2^60 bytes or more; near 2^64 it is a negative number read as a positive one",
          {tried->bytes}));
    d.why =
        "No memory is so large. A length is corrupt: a negative number that wrapped, or a size "
        "that was never sent. More memory does not help.";
    return d;
  }
  for (const Fixed& fixed : kFixed) {
    if (fixed.producer != m.producer || m.severity != Severity::kError) continue;
    d.cause = fixed.cause;
    d.why = fixed.why;
  }
  for (const Told& told : kTold) {
    if (told.producer != m.producer || !text || !stands_within(*text, m.begin, m.end, told.words))
      continue;
    d.notes.push_back({told.id, told.sentence});
    if (told.cause == Cause::kUnknown || d.cause != Cause::kUnknown) continue;
    d.cause = told.cause;
    d.why = "The message shows that the host's memory was asked for, and there was not enough.";
  }
  const Reading* used = m.find(Label::kHostUsed);
  const Reading* host = m.find(Label::kHostTotal);
  if (used && host && host->bytes > 0) {
    const double share = used->bytes / host->bytes;
    d.arithmetic.push_back(with_sizes("% of % = ", {used->bytes, host->bytes}) +
                           with_separators(std::floor(share * 10000 + 0.5) / 10000));
    if (const Reading* process = m.find(Label::kHostProcess))
      d.arithmetic.push_back(with_sizes("this process has %, % are other processes'",
                                        {process->bytes, used->bytes - process->bytes}));
  }
  for (const Reading& r : m.readings) {
    if (r.label == Label::kFraction && r.figure.unit == Unit::kPercent && used && !host &&
        r.figure.value > 0 && r.figure.value <= 100)
      d.arithmetic.push_back(with_sizes("% are ", {used->bytes}) + with_separators(r.figure.value) +
                             " percent" +
                             with_sizes(" of %: the printed unit is a power of 1024",
                                        {used->bytes * 100 / r.figure.value}));
  }
  if (d.cause != Cause::kUnknown && m.severity != Severity::kWarning) return d;

  if (m.producer == Producer::kMps) {
    const double a = value(m, Label::kAllocated), o = value(m, Label::kOutside),
                 l = value(m, Label::kLimit), t = tried ? tried->bytes : 0;
    d.allocated = a;
    d.cause = l > 0 ? Cause::kLimit : Cause::kProgram;
    d.arithmetic.push_back(with_sizes(
        l > 0 ? "% + % + % = % against the limit of %" : "% + % + % = %", {a, o, t, a + o + t, l}));
    if (l > 0)
      d.arithmetic.push_back(with_sizes(
          "% / 1.7 = %, the working set that macOS recommends: of machines up to 32 GB about two "
          "thirds of the memory",
          {l, l / 1.7}));
    d.why =
        l <= 0
            ? "Metal has no more, or refuses a buffer of this size."
            : "MPS stops at its own limit, 1.7 times the recommended working set. That may be more "
              "than the memory there is, so it is not the size of the machine.";
    if (m.severity == Severity::kError) return d;
  }
  const Reading* needed = m.find(Label::kCacheNeeded);
  const Reading* room = m.find(Label::kCacheFree);
  if (needed && room) {
    d.cause = Cause::kProgram;
    d.arithmetic.push_back(
        with_sizes("% needed, % left for the KV cache after weights and activations",
                   {needed->bytes, room->bytes}));
    if (const Reading* tokens = m.find(Label::kTokens);
        tokens && needed->bytes > 0 && tokens->figure.value > 0) {
      d.arithmetic.push_back(
          size_text(needed->bytes) + " / " + with_separators(tokens->figure.value) +
          " tokens = " + with_separators(std::floor(needed->bytes / tokens->figure.value + 0.5)) +
          " bytes a token");
    }
    d.why =
        "One request of the full length does not fit into what is left for the KV cache: a "
        "shorter length, a smaller cache type, or more of the device.";
    return d;
  }
  const Reading* program = m.find(Label::kProgram);
  const Reading* total = m.find(Label::kTotal);
  if (m.producer == Producer::kXlaTpu && program && total) {
    d.cause = Cause::kProgram;
    d.capacity = total->bytes;
    d.arithmetic.push_back(with_sizes(
        "% - % = % too much", {program->bytes, total->bytes, program->bytes - total->bytes}));
    d.why = "The compiled program needs more than the core has; this is known before it runs.";
    return d;
  }
  const Reading* desired = m.find(Label::kLimit);
  const Reading* free = m.find(Label::kFree);
  if (m.producer == Producer::kVllm && desired && free && desired->bytes > free->bytes) {
    d.cause = Cause::kOtherProcess;
    d.arithmetic.push_back(with_sizes("% wanted, % free", {desired->bytes, free->bytes}));
    d.why = "When the engine started, others already had part of the device.";
    return d;
  }
  if (m.severity != Severity::kWarning) {
    switch (m.producer) {
      case Producer::kOllama: d.cause = Cause::kHostMemory; break;
      case Producer::kHpu:
      case Producer::kNeuron:
      case Producer::kXla:
      case Producer::kXlaTpu:
      case Producer::kTensorflow:
      case Producer::kGgml:
      case Producer::kMlx:
      case Producer::kVllm:
      case Producer::kSglang:
      case Producer::kTgi:
      case Producer::kDeepspeed:
      case Producer::kLlmc:
      case Producer::kFramework:
        if (m.severity == Severity::kError) d.cause = Cause::kProgram;
        break;
      default: break;
    }
    if (d.cause == Cause::kHostMemory)
      d.why = "The model needs more of the host's memory than is free.";
    if (d.cause == Cause::kProgram)
      d.why =
          "The message shows no other process and no pieces: as far as it goes, the program needs "
          "more than there is.";
  }
  const std::string_view words(m.anchor->words);
  if (m.producer == Producer::kTensorflow && words.find("on host") != words.npos) {
    d.cause = Cause::kHostMemory;
    d.why = "Pinned memory of the host was asked for, and was not there.";
  }
  if (const Reading* block = m.find(Label::kBlockLimit);
      block && tried && tried->bytes > block->bytes) {
    d.cause = Cause::kLimit;
    d.arithmetic.push_back(
        with_sizes("% asked, % at most in one piece", {tried->bytes, block->bytes}));
    d.why = "A single allocation of this size is refused, however much is free in all.";
    return d;
  }
  if (is_torch_device(m.producer) && m.severity != Severity::kLog) {
    Diagnosis figures = d;
    figures.cause = Cause::kUnknown;
    figures = diagnose_torch(m, std::move(figures));
    if (m.severity == Severity::kWarning) {
      figures.cause = d.cause;
      figures.why = d.why;
    }
    d = figures;
    if (tried && d.capacity > 0 && tried->bytes < d.capacity / 100 &&
        (d.cause == Cause::kProgram || d.cause == Cause::kFragmentation))
      d.notes.push_back(
          {"last_straw",
           "Under one hundredth of the device was asked for: this request is only the last "
           "straw. Explain the total, not the tensor."});
  }
  return d;
}

}  // namespace ledger::message
