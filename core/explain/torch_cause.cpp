// Adds up capacity, free, allocated, held and other processes' memory.
#include "core/explain/torch_cause.hpp"

#include <algorithm>

namespace ledger::message {
namespace {

constexpr double kGiB = 1073741824;

// What a process has on a device outside of the allocator, in public messages: up to 0.6 GiB alone,
// 0.8 to 3.4 GiB with NCCL and several devices.
constexpr double kContextMost = 2.5 * kGiB, kOwnMost = 3.5 * kGiB;

}  // namespace

double value(const Message& m, Label label) {
  const Reading* r = m.find(label);
  return r ? r->bytes : 0;
}

Diagnosis diagnose_torch(const Message& m, Diagnosis d) {
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
      d.arithmetic.push_back(
          with_sizes("reserved includes allocated: % - % = % held, but not in tensors",
                     {reserved->bytes, a, u}));
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
      d.arithmetic.push_back(
          with_sizes("% + % + % = %: allocated, held beyond it, and the rest outside of PyTorch",
                     {a, u, beyond, r.bytes}));
    } else {
      others += r.bytes;
    }
  }
  if (own_by_number)
    d.notes.push_back({"process_is_yours",
                       "The numbered process is your own: in containers the number that the driver "
                       "knows differs from the program's. Its figure is this message's allocated "
                       "and held memory plus a context."});
  if (const Reading* pools = m.find(Label::kPools))
    d.notes.push_back({"private_pools",
                       with_sizes("Of what is called allocated, % are idle blocks of private pools "
                                  "(CUDA graphs, MemPool), which hold no tensor.",
                                  {pools->bytes})});
  double hidden = 0;
  if (total && free && allocated) {
    const double known = own > 0 ? own : a + u;
    hidden = c - f - known - others;
    d.outside = std::max(0.0, c - f - a - u);
    d.arithmetic.push_back(
        with_sizes("% of the device - % free - % of PyTorch's allocator = % outside of it",
                   {c, f, a + u, d.outside}));
  }

  const Reading* limit = m.find(Label::kLimit);
  if (total && tried && t > c) {
    d.cause = Cause::kTooLarge;
    d.why = with_sizes(
        "The request alone, %, is larger than the device's %: no cache or other process matters, "
        "only the tensor itself.",
        {t, c});
    return d;
  }
  if (limit && tried && (a + u + t > limit->bytes || m.producer == Producer::kMallocAsync) &&
      (!free || f >= t || limit->bytes < 0.995 * c)) {
    d.cause = Cause::kLimit;
    d.arithmetic.push_back(
        with_sizes("% + % + % = % against the limit of %", {a, u, t, a + u + t, limit->bytes}));
    d.why = with_sizes(
        "A memory fraction allows %, and this request goes beyond it; what is free on the device "
        "does not matter.",
        {limit->bytes});
    return d;
  }
  if (tried && free && tried->high <= free->low && f >= t) {
    d.cause = Cause::kLimit;
    d.arithmetic.push_back(with_sizes("% free, % asked", {f, t}));
    d.why =
        "More is free than was asked for. So it is a limit (of the process, of pinned or host "
        "memory, of WSL2), or another process that took memory for a moment and gave it back.";
    return d;
  }
  if (tried && u >= t && u > 0 && (!free || f < t)) {
    d.cause = Cause::kFragmentation;
    d.arithmetic.push_back(
        with_sizes("% held but not in tensors, % asked: enough, but not in one piece", {u, t}));
    d.why = with_sizes(
        "The allocator holds % that no tensor uses, more than the % that were asked for, but no "
        "single piece is large enough.",
        {u, t});
    return d;
  }
  const double lack = t - f;
  constexpr double kNoticeable = 1 * kGiB;
  // What cudaMallocAsync's pool holds is not printed.
  if (m.producer == Producer::kMallocAsync) hidden = 0;
  const double foreign = others + std::max(0.0, hidden > kOwnMost || own > 0 ? hidden : 0.0);
  if (total && free && allocated && foreign > kNoticeable && foreign >= lack) {
    d.cause = Cause::kOtherProcess;
    d.arithmetic.push_back(
        with_sizes("% belong to others; % are lacking", {foreign, std::max(lack, 0.0)}));
    d.why = with_sizes(
        others > kNoticeable
            ? "Another process has % of the device; without it the request would be served."
            : "% of the device belong to nothing that the message names: another container, a "
              "process of another user, or a part of the card that is not yours.",
        {others > kNoticeable ? others : hidden});
    return d;
  }
  if (!tried && !allocated && !total) return d;
  d.cause = Cause::kProgram;
  if (total && allocated && a > 0) {
    const char* after =
        " Nothing is lost to pieces or to others: the program must need less, or have a larger "
        "card.";
    d.why = (free ? with_sizes("Live tensors take % of %, and what is free (%) does not suffice "
                               "for %.",
                               {a, c, f, t})
                  : with_sizes("Live tensors take % of %, and % more do not fit.", {a, c, t})) +
            after;
  } else {
    d.why =
        "The message shows neither pieces nor other processes; as far as it goes, the program "
        "itself needs more than there is.";
  }
  return d;
}

}  // namespace ledger::message
