// Writes the keys of docs/contract.md that tell of the device.
#include "core/report_device.hpp"

#include "core/device/cards.hpp"
#include "core/device/message.hpp"
#include "core/device/verdict.hpp"
#include "core/timeline.hpp"

namespace ledger {
namespace {

using json::Writer;

void write_range(Writer& w, device::Range range) {
  w.begin_object().key("low").number(range.low).key("high").number(range.high).end_object();
}

void write_part(Writer& w, const device::OutsidePart& part) {
  w.begin_object().key("what").text(part.what).key("low").number(part.bytes.low);
  w.key("high").number(part.bytes.high).key("source").text(part.source).end_object();
}

// Step, phase and words for an event; what precedes the first phase is the loading, step 0.
void write_when(Writer& w, const DeviceReport& r, std::uint32_t event) {
  const device::PhaseFigures* phase = nullptr;
  for (const device::PhaseFigures& p : r.replay.phases) {
    if (p.first_event <= event) phase = &p;
  }
  w.key("step").number(phase ? phase->step : 0).key("phase");
  w.text(phase ? device::kPhaseNames[static_cast<std::size_t>(phase->phase)] : "load");
  w.key("event").number(event).key("what");
  device::PhaseFigures loading;
  std::string text = moment_of(r.record, phase ? *phase : loading, event);
  if (!phase)
    text.replace(0, text.find(',') < text.size() ? text.find(',') : text.size(), "loading");
  w.text(text);
}

void write_failure(Writer& w, const DeviceReport& r,
                   const std::optional<device::Failure>& failure) {
  w.key("first_failure");
  if (!failure) {
    w.null();
    return;
  }
  const device::OutOfMemory& message = failure->message;
  const StorageRecord& tensor = r.record.storages[r.record.events[failure->event].id];
  w.begin_object();
  write_when(w, r, failure->event);
  w.key("tensor").text(tensor.what).key("where").text(place_of(r.record, failure->event));
  w.key("requested_bytes").number(tensor.bytes.value());
  w.key("symbols").text(to_text(*tensor.bytes.working(), Notation::kSymbols));
  w.key("figures").text(to_text(*tensor.bytes.working(), Notation::kFigures));
  w.key("tried_bytes").whole(message.tried).key("free_bytes").whole(message.free);
  w.key("allocated_bytes").whole(message.allocated);
  w.key("unallocated_bytes").whole(message.unallocated);
  w.key("outside_bytes").whole(message.in_use - message.allocated - message.unallocated);
  w.key("message").text(
      device::out_of_memory_message(message, r.scenario.allocator.expandable_segments));
  w.end_object();
}

std::string source_of_size(const Device& d, const device::Card* card) {
  if (!card) return "typed in";
  const bool windows = d.os != "linux";
  if (windows && d.total_bytes == card->usable_bytes_windows) {
    return "what PyTorch reports on Windows and WSL: all that nvidia-smi shows";
  }
  if (d.total_bytes != card->usable_bytes) return "typed in";
  return card->usable_source + (windows ? "; no figure from Windows is known" : "");
}

}  // namespace

device::Range process_of(const DeviceReport& r) {
  const device::Range context = sum(device::process_parts(r.scenario));
  const device::Range reserved = device::reserved_range(r.scenario, r.replay).on_card;
  return {reserved.low + context.low, reserved.high + context.high};
}

void write_process(Writer& w, const DeviceReport& r) { write_range(w, process_of(r)); }

void write_reserved(Writer& w, const DeviceReport& r) {
  const device::ReservedRange range = device::reserved_range(r.scenario, r.replay);
  const device::FreeSpace& space = r.replay.at_reserved_peak;
  w.key("reserved").begin_object().key("peak_bytes").whole(r.replay.reserved_peak);
  write_when(w, r, r.replay.reserved_event);
  w.key("segments").number(static_cast<double>(space.segments));
  w.key("largest_free_bytes").whole(space.largest).key("stranded_bytes").whole(space.stranded);
  w.key("on_card").begin_object().key("low").number(range.on_card.low);
  w.key("high").number(range.on_card.high).key("source").text(range.source).end_object();
  w.key("varied_lengths").begin_object().key("low").number(range.varied_lengths.low);
  w.key("high").number(range.varied_lengths.high).key("source").text(range.varied_source);
  w.key("counted").flag(range.varies).end_object().end_object();
}

void write_measured(Writer& w, const DeviceReport& r) {
  const Device& d = r.scenario.device;
  device::Range used = process_of(r);
  used.low += d.other_bytes;
  used.high += d.other_bytes;
  if (d.os == "windows") {  // what WSL's Windows takes, nvidia-smi does not show
    const device::Range system = device::system_part(d).bytes;
    used.low += system.low;
    used.high += system.high;
  }
  w.key("measured").begin_object().key("max_memory_allocated");
  w.whole(r.replay.phases[r.replay.peak_phase].peak_bytes).key("max_memory_reserved");
  write_range(w, device::reserved_range(r.scenario, r.replay).on_card);
  for (const bool unified : {false, true}) {
    w.key(unified ? "free" : "nvidia_smi");
    if (unified == d.unified && (unified || d.cuda)) {
      write_range(w, used);
    } else {
      w.null();
    }
  }
  w.end_object();
}

void write_verdict(Writer& w, const DeviceReport& r) {
  const Device& d = r.scenario.device;
  w.key("verdict");
  if (!d.total_bytes) {
    w.null();
    return;
  }
  const device::Verdict v = device::judge(r.scenario, r.record, r.replay);
  const device::CardSearch search = device::find_card(d.card);
  const device::Card* card = !d.card.empty() && search.card ? &*search.card : nullptr;
  w.begin_object().key("fits").text(device::kFitNames[static_cast<std::size_t>(v.fit)]);
  w.key("reason").text(device::kReasonNames[static_cast<std::size_t>(v.reason)]);
  w.key("card");
  if (card) {
    w.text(card->name);
  } else {
    w.null();
  }
  w.key("usable_bytes").number(*d.total_bytes);
  w.key("usable_source").text(source_of_size(d, card));
  w.key("other_bytes").number(d.other_bytes).key("system");
  const device::OutsidePart system = device::system_part(d);
  if (system.bytes.high > 0) {
    write_part(w, system);
  } else {
    w.null();
  }
  w.key("headroom_bytes").number(v.headroom).key("needed_bytes");
  write_range(w, v.needed);
  w.key("spare_bytes");
  write_range(w, v.spare);
  write_failure(w, r, v.failure);
  w.key("why").text(verdict_sentence(v)).end_object();
}

void write_context(Writer& w, const Scenario& scenario) {
  const std::vector<device::OutsidePart> parts = device::process_parts(scenario);
  const device::Range all = sum(parts);
  std::string source;
  for (const device::OutsidePart& part : parts) {
    source += (source.empty() ? "" : "; ") + std::string(part.source);
  }
  w.key("context").begin_object().key("low").number(all.low).key("high").number(all.high);
  w.key("source").text(source).key("parts").begin_list();
  for (const device::OutsidePart& part : parts) write_part(w, part);
  w.end_list().end_object();
}

}  // namespace ledger
