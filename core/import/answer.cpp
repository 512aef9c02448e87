// Writes what settings became, key by key, and the list of formats.
#include "core/import/answer.hpp"

#include <algorithm>

#include "core/json_writer.hpp"
#include "core/problems.hpp"

namespace ledger::pasted {
namespace {

using json::Writer;

std::string_view name_of(Status status) {
  switch (status) {
    case Status::kBecame: return "became";
    case Status::kIgnored: return "ignored";
    case Status::kUnsupported: return "unsupported";
    default: return "unknown";
  }
}

void write_keys(Writer& w, const Sheets& sheets) {
  w.key("keys").begin_list();
  for (std::size_t i = 0; i < sheets.keys.size(); ++i) {
    const Key& key = sheets.keys[i];
    w.begin_object().key("file").text(key.file).key("path").text(key.path);
    w.key("given").text(key.given).key("status").text(name_of(key.status));
    w.key("became").begin_list();
    for (const Setting& setting : sheets.settings) {
      if (setting.key != i || key.status != Status::kBecame) continue;
      w.begin_object().key("path").text(setting.path);
      w.key("value").text(as_written(setting.value)).end_object();
    }
    w.end_list();
    w.key("why").text(key.why);
    if (!key.nearest.empty()) w.key("nearest").text(key.nearest);
    w.end_object();
  }
  w.end_list();
}

// What the formats imply and the scenario has.
void write_implied(Writer& w, const Sheets& sheets, const Value& scenario) {
  w.key("implied").begin_list();
  std::vector<std::string_view> told;
  for (const Setting::Rank rank : {Setting::kImplied, Setting::kCheckpoint}) {
    for (const Setting& setting : sheets.settings) {
      if (setting.rank != rank) continue;
      const Value* taken = get_path(scenario, setting.path);
      if (!taken || json::write(*taken) != json::write(setting.value)) continue;
      const bool given =
          std::any_of(sheets.settings.begin(), sheets.settings.end(), [&](const Setting& other) {
            return other.path == setting.path && other.rank == Setting::kGiven;
          });
      if (given || std::find(told.begin(), told.end(), setting.path) != told.end()) continue;
      told.push_back(setting.path);
      w.begin_object().key("path").text(setting.path);
      w.key("value").text(as_written(setting.value)).key("why").text(setting.why).end_object();
    }
  }
  w.end_list();
}

std::string_view name_of(Act act) {
  switch (act) {
    case Act::kIgnored: return "ignored";
    case Act::kUnsupported: return "unsupported";
    case Act::kNested: return "another format";
    case Act::kOther: return "together with others";
    default: return "became";
  }
}

}  // namespace

std::string answer(Reading& reading, const Value& keep, const Value& with) {
  Settled settled;
  if (!reading.formats.empty()) settled = settle(reading.sheets, keep, with);
  if (reading.yaml.empty() || !settled.problems.empty()) {
    for (const Problem& p : settled.problems) reading.problems.push_back(p);
  }
  Writer w;
  w.begin_object().key("scenario");
  if (reading.formats.empty()) {
    w.null();
  } else {
    w.raw(json::write(settled.scenario));
  }
  w.key("whole").flag(settled.whole && reading.problems.empty() && reading.yaml.empty());
  w.key("yaml").begin_list();
  for (const std::string& file : reading.yaml) w.text(file);
  w.end_list();
  w.key("formats").begin_list();
  for (const Recognised& one : reading.formats) {
    w.begin_object().key("file").text(one.file).key("id").text(one.format);
    w.key("name").text(one.name).key("versions").text(one.versions);
    w.key("sureness").text(one.sureness).end_object();
  }
  w.end_list();
  w.key("known").begin_list();
  for (const Format& format : formats()) {
    if (format.id == "deepspeed_plugin") continue;
    w.begin_object().key("id").text(format.id).key("name").text(format.name).end_object();
  }
  w.end_list();
  write_keys(w, reading.sheets);
  write_implied(w, reading.sheets, settled.scenario);
  w.key("near").begin_list();
  for (const std::string& id : settled.near) w.text(id);
  w.end_list();
  w.key("notes").begin_list();
  for (const std::string& note : reading.sheets.notes) w.text(note);
  w.end_list();
  write_problems(w, reading.problems);
  return w.end_object().take();
}

std::string format_list() {
  Writer w;
  w.begin_list();
  for (const Format& format : formats()) {
    w.begin_object().key("id").text(format.id).key("name").text(format.name);
    w.key("versions").text(format.versions).key("keys").begin_list();
    for (const KeyRow& row : format.keys) {
      w.begin_object().key("key").text(row.key).key("act").text(name_of(row.act));
      w.key("to").text(row.to).key("why").text(row.why).end_object();
    }
    w.end_list().end_object();
  }
  return w.end_list().take();
}

}  // namespace ledger::pasted
