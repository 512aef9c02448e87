// What a report says of the device: reserved memory, what would be measured, whether it fits.
#pragma once

#include "core/device/outside.hpp"
#include "core/device/replay.hpp"
#include "core/json_writer.hpp"
#include "core/scenario.hpp"

namespace ledger {

// Of a run that was replayed, all that these parts of a report are written from.
struct DeviceReport {
  const Scenario& scenario;
  const Record& record;
  const device::Replay& replay;
};

// A key and its value each, in this order of the report.
void write_reserved(json::Writer& w, const DeviceReport& r);
void write_measured(json::Writer& w, const DeviceReport& r);
void write_verdict(json::Writer& w, const DeviceReport& r);
void write_context(json::Writer& w, const Scenario& scenario);

// Reserved memory and the context of the process, low and high.
device::Range process_of(const DeviceReport& r);
void write_process(json::Writer& w, const DeviceReport& r);

}  // namespace ledger
