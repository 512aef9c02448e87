// Adds up the figures of a message and names the cause that they show.
#include "core/explain/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/device/allocator.hpp"
#include "core/quantity.hpp"

namespace ledger::message {
namespace {

constexpr double kMiB = 1048576, kGiB = 1073741824;
constexpr double kExa = 1152921504606846976;  // 2^60: PyTorch refuses from here

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

// What a process has on a device outside of the allocator, in public messages: up to 0.6 GiB alone,
// 0.8 to 3.4 GiB with NCCL and several devices.
constexpr double kContextMost = 2.5 * kGiB, kOwnMost = 3.5 * kGiB;

bool is_torch_device(Producer p) {
  return p == Producer::kCuda || p == Producer::kHip || p == Producer::kXpu ||
         p == Producer::kNpu || p == Producer::kFork || p == Producer::kIpex ||
         p == Producer::kMallocAsync || p == Producer::kWords;
}

double value(const Message& m, Label label) {
  const Reading* r = m.find(label);
  return r ? r->bytes : 0;
}

double down(double bytes, double step) { return std::floor(bytes / step) * step; }
double up(double bytes, double step) { return std::ceil(bytes / step) * step; }

// "a + b = c" with sizes.
std::string sum_text(std::initializer_list<double> parts, double sum) {
  std::string out;
  for (const double part : parts) {
    out += (out.empty() ? "" : " + ") + size_text(part);
  }
  return out + " = " + size_text(sum);
}

void torch(const Message& m, Diagnosis& d) {
  const Reading* tried = m.find(Label::kTried);
  const Reading* total = m.find(Label::kTotal);
  const Reading* free = m.find(Label::kFree);
  const Reading* allocated = m.find(Label::kAllocated);
  const double t = tried ? tried->bytes : 0;
  const double c = total ? total->bytes : 0;
  const double f = free ? free->bytes : 0;
  const double a = allocated ? allocated->bytes : 0;
  double u = value(m, Label::kUnallocated);
  const Reading* reserved = m.find(Label::kReserved);
  if (m.find(Label::kSlack)) {
    u = value(m, Label::kSlack);
    d.notes.push_back({"cached_is_slack",
                       "\"cached\" of PyTorch 1.0 to 1.3 is only what is held beyond live tensors, "
                       "not a total."});
  } else if (reserved) {
    u = std::max(0.0, reserved->bytes - a);
    if (m.find(Label::kUnallocated) == nullptr)
      d.arithmetic.push_back("reserved includes allocated: " + size_text(reserved->bytes) + " - " +
                             size_text(a) + " = " + size_text(u) + " held, but not in tensors");
  }
  d.capacity = c;
  if (allocated) {
    d.allocated = a;
    d.allocated_slack = (allocated->high - allocated->low) / 2;
  }

  // The processes: one of those that are named may be this one, seen under the host's number.
  double others = 0, own = 0;
  bool blind = false, own_by_number = false;
  if (const Reading* self = m.find(Label::kThisProcess)) {
    blind = self->bytes == 0 || self->bytes > 1e6 * kGiB;
    own = blind ? 0 : self->bytes;
    if (blind)
      d.notes.push_back({"nvml_blind",
                         "The figure for this process is not one: inside a container the driver "
                         "does not say it. It is left out of the sums."});
  }
  for (const Reading& r : m.readings) {
    if (r.label != Label::kOtherProcess) continue;
    const double beyond = r.bytes - a - u;
    // It is this one where it is only a context larger than what the allocator holds, or where
    // both together would be more than is in use.
    const bool both = total && free && r.bytes + a + u <= c - f + 0.05 * kGiB;
    if (own == 0 && allocated && beyond > -0.02 * kGiB && (beyond < kContextMost || !both)) {
      own = r.bytes;
      own_by_number = true;
      d.arithmetic.push_back(sum_text({a, u, beyond}, r.bytes) +
                             ": allocated, held beyond it, and the rest outside of PyTorch");
    } else {
      others += r.bytes;
    }
  }
  if (own_by_number)
    d.notes.push_back({"process_is_yours",
                       "The numbered process is your own: in containers the number that the driver "
                       "knows differs from the program's. Its figure is this message's allocated "
                       "and held memory plus a context."});
  double hidden = 0;
  if (total && free && allocated) {
    const double known = own > 0 ? own : a + u;
    hidden = c - f - known - others;
    d.outside = std::max(0.0, c - f - a - u);
    d.arithmetic.push_back(size_text(c) + " of the device - " + size_text(f) + " free - " +
                           size_text(a + u) + " of PyTorch's allocator = " + size_text(d.outside) +
                           " outside of it");
  }

  const Reading* limit = m.find(Label::kLimit);
  if (total && tried && t > c) {
    d.cause = Cause::kTooLarge;
    d.why = "The request alone, " + size_text(t) + ", is larger than the device's " + size_text(c) +
            ": no cache or other process matters, only the tensor itself.";
    return;
  }
  if (limit && tried && (a + u + t > limit->bytes || m.producer == Producer::kMallocAsync) &&
      (!free || f >= t || limit->bytes < 0.995 * c)) {
    d.cause = Cause::kLimit;
    d.arithmetic.push_back(sum_text({a, u, t}, a + u + t) + " against the limit of " +
                           size_text(limit->bytes));
    d.why = "A memory fraction allows " + size_text(limit->bytes) +
            ", and this request goes beyond it; what is free on the device does not matter.";
    return;
  }
  if (tried && free && tried->high <= free->low && f >= t) {
    d.cause = Cause::kLimit;
    d.arithmetic.push_back(size_text(f) + " free, " + size_text(t) + " asked");
    d.why =
        "More is free than was asked for. So it is a limit (of the process, of pinned or host "
        "memory, of WSL2), or another process that took memory for a moment and gave it back.";
    return;
  }
  if (tried && u >= t && u > 0 && (!free || f < t)) {
    d.cause = Cause::kFragmentation;
    d.arithmetic.push_back(size_text(u) + " held but not in tensors, " + size_text(t) +
                           " asked: enough, but not in one piece");
    d.why = "The allocator holds " + size_text(u) + " that no tensor uses, more than the " +
            size_text(t) + " that were asked for, but no single piece is large enough.";
    return;
  }
  const double lack = t - f;
  constexpr double kNoticeable = 1 * kGiB;
  const double foreign = others + std::max(0.0, hidden > kOwnMost || own > 0 ? hidden : 0.0);
  if (total && free && allocated && foreign > kNoticeable && foreign >= lack) {
    d.cause = Cause::kOtherProcess;
    d.arithmetic.push_back(size_text(foreign) + " belong to others; " +
                           size_text(std::max(lack, 0.0)) + " are lacking");
    d.why = others > kNoticeable
                ? "Another process has " + size_text(others) +
                      " of the device; without it the request would be served."
                : size_text(hidden) +
                      " of the device belong to nothing that the message names: another container, "
                      "a process of another user, or a part of the card that is not yours.";
    return;
  }
  if (!tried && !allocated && !total) return;
  d.cause = Cause::kProgram;
  if (total && allocated && a > 0) {
    d.why = "Live tensors take " + size_text(a) + " of " + size_text(c) + "; what is free" +
            (free ? " (" + size_text(f) + ")" : std::string()) + " does not suffice for " +
            size_text(t) +
            ". Nothing is lost to pieces or to others: the program needs less, or a larger card.";
  } else {
    d.why =
        "The message shows neither pieces nor other processes; as far as it goes, the program "
        "itself needs more than there is.";
  }
}

struct Fixed {
  Producer producer;
  Cause cause;
  const char* why;
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

std::string size_text(double bytes) {
  const auto two = [](double v) { return with_separators(std::floor(v * 100 + 0.5) / 100); };
  if (bytes < 0) return "-" + size_text(-bytes);
  if (bytes > 1024 * kGiB * 1024) return two(bytes / (1024 * 1024 * kGiB)) + " PiB";
  if (bytes >= kGiB) return two(bytes / kGiB) + " GiB";
  if (bytes >= kMiB) return two(bytes / kMiB) + " MiB";
  if (bytes >= 1024) return two(bytes / 1024) + " KiB";
  return with_separators(bytes) + (bytes == 1 ? " byte" : " bytes");
}

Request request_of(const Message& m) {
  Request out;
  const Reading* tried = m.find(Label::kTried);
  if (!tried) tried = m.find(Label::kCacheNeeded);
  if (m.shape && !m.shape->sizes.empty()) {
    double bytes = m.shape->width;
    for (const double size : m.shape->sizes) bytes *= size;
    out = {true,
           bytes,
           bytes,
           0,
           0,
           true,
           "The shape is printed: its elements times the bytes of its type."};
    return out;
  }
  if (!tried) return out;
  out.known = true;
  out.low = tried->low;
  out.high = tried->high;
  Rounding rounding = row_of(m.producer).rounding;
  if (tried->label == Label::kCacheNeeded) rounding = Rounding::kNone;
  // Of several figures of the same request the one in bytes is exact.
  for (const Reading& r : m.readings) {
    if (r.label == Label::kTried && r.exact && r.bytes > 0 &&
        std::fabs(r.bytes - tried->bytes) <= tried->bytes / 50) {
      out.low = out.high = r.bytes;
      rounding = Rounding::kExact;
    }
  }
  if (tried->bytes >= kExa) {
    out.why = "No memory has such a size.";
    return out;
  }
  if (rounding != Rounding::kSegment) {
    if (rounding == Rounding::kBlock512 && out.high > 512) out.low = std::max(1.0, out.low - 511);
    out.identifies = out.high - out.low <= std::max(16 * kMiB, out.high / 50) && out.high >= 4096;
    out.why = rounding == Rounding::kBlock512
                  ? "The request goes up to 512 bytes only, before the rounding of "
                    "the digits printed."
              : out.low == out.high ? "The size is printed to the byte."
                                    : "The size is rounded to the digits printed.";
    return out;
  }
  const auto small = static_cast<double>(device::kSmall);
  const auto step = static_cast<double>(device::kRoundLarge);
  const auto first = static_cast<double>(device::kMinLarge);
  const bool in_mib = tried->figure.unit == Unit::kMega;
  if (in_mib && std::fmod(tried->bytes, step) != 0) {
    constexpr double kOldStep = 131072;  // PyTorch 1.0
    if (std::fmod(tried->bytes, kOldStep) == 0) {
      out.low = tried->bytes - kOldStep + 1;
      out.high = tried->bytes;
      out.identifies = tried->bytes >= first;
      out.why = "Not a multiple of 2 MiB: PyTorch 1.0, which rounded segments to 128 KiB.";
    } else {
      out.identifies = out.high >= 4096;
      out.why =
          "Not a multiple of 2 MiB, so no segment of the caching allocator: read as it is "
          "printed.";
    }
    return out;
  }
  if (tried->bytes == static_cast<double>(device::kSmallSegment)) {
    out.low = 1;
    out.high = small;
    out.why = "2.00 MiB is the segment for every request of up to 1 MiB: it identifies nothing.";
    return out;
  }
  if (tried->bytes == static_cast<double>(device::kLargeSegment)) {
    out.low = small + 1;
    out.high = first - 512;
    out.other_low = tried->bytes - step + 1;
    out.other_high = tried->bytes;
    out.why =
        "20.00 MiB is the segment for every request above 1 and below 10 MiB, and for those of "
        "18 to 20 MiB: it identifies nothing.";
    return out;
  }
  const double most = down(tried->high, step), least = up(tried->low, step);
  if (most < least) {
    out.identifies = true;
    out.why = "No segment prints this figure: read as it is printed.";
    return out;
  }
  out.low = std::max(1.0, least - step + 1);
  out.high = most;
  out.identifies = true;
  out.why = "What is printed is the segment, the request rounded up to a multiple of 2 MiB" +
            std::string(most > least ? ", and then to the digits shown." : ".");
  return out;
}

Diagnosis diagnose(const Message& m) {
  Diagnosis d;
  const Reading* tried = m.find(Label::kTried);
  if (m.severity == Severity::kWarning) {
    d.cause = Cause::kNotAnError;
    d.why = "A warning: " + std::string(m.anchor->why) + ".";
  }
  if (tried && (tried->bytes >= kExa || tried->bytes < 0)) {
    d.cause = Cause::kCorruptSize;
    if (tried->bytes > 0)
      d.arithmetic.push_back(
          size_text(tried->bytes) + " is " + with_separators(std::floor(tried->bytes / kExa)) +
          " times 2^60 bytes and more; near 2^64 it is a negative number read as "
          "a positive one");
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
  const Reading* used = m.find(Label::kHostUsed);
  const Reading* host = m.find(Label::kHostTotal);
  if (used && host && host->bytes > 0) {
    const double share = used->bytes / host->bytes;
    d.arithmetic.push_back(size_text(used->bytes) + " of " + size_text(host->bytes) + " = " +
                           with_separators(std::floor(share * 10000 + 0.5) / 10000));
    if (const Reading* process = m.find(Label::kHostProcess))
      d.arithmetic.push_back("this process has " + size_text(process->bytes) + ", " +
                             size_text(used->bytes - process->bytes) + " are other processes'");
  }
  for (const Reading& r : m.readings) {
    if (r.label == Label::kFraction && r.figure.unit == Unit::kPercent && used && !host &&
        r.figure.value > 0 && r.figure.value <= 100)
      d.arithmetic.push_back(size_text(used->bytes) + " / " + with_separators(r.figure.value) +
                             " % = " + size_text(used->bytes * 100 / r.figure.value) +
                             " in all: the printed unit is a power of 1024");
  }
  if (d.cause != Cause::kUnknown && m.severity != Severity::kWarning) return d;

  if (m.producer == Producer::kMps) {
    const double a = value(m, Label::kAllocated), o = value(m, Label::kOutside),
                 l = value(m, Label::kLimit), t = tried ? tried->bytes : 0;
    d.allocated = a;
    d.cause = l > 0 ? Cause::kLimit : Cause::kProgram;
    d.arithmetic.push_back(sum_text({a, o, t}, a + o + t) +
                           (l > 0 ? " against the limit of " + size_text(l) : std::string()));
    if (l > 0)
      d.arithmetic.push_back(
          size_text(l) + " / 1.7 = " + size_text(l / 1.7) +
          ", the working set that macOS recommends: of machines up to 32 GB about two "
          "thirds of the memory");
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
    d.arithmetic.push_back(size_text(needed->bytes) + " needed, " + size_text(room->bytes) +
                           " left for the KV cache after weights and activations");
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
    d.arithmetic.push_back(size_text(program->bytes) + " - " + size_text(total->bytes) + " = " +
                           size_text(program->bytes - total->bytes) + " too much");
    d.why = "The compiled program needs more than the core has; this is known before it runs.";
    return d;
  }
  const Reading* desired = m.find(Label::kLimit);
  const Reading* free = m.find(Label::kFree);
  if (m.producer == Producer::kVllm && desired && free && desired->bytes > free->bytes) {
    d.cause = Cause::kOtherProcess;
    d.arithmetic.push_back(size_text(desired->bytes) + " wanted, " + size_text(free->bytes) +
                           " free" + (total ? " of " + size_text(total->bytes) : std::string()));
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
    d.arithmetic.push_back(size_text(tried->bytes) + " asked, " + size_text(block->bytes) +
                           " at most in one piece");
    d.why = "A single allocation of this size is refused, however much is free in all.";
    return d;
  }
  if (is_torch_device(m.producer) && m.severity != Severity::kLog) {
    Diagnosis figures = d;
    figures.cause = Cause::kUnknown;
    torch(m, figures);
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
