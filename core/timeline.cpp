// Chooses the moments worth drawing and adds up what lives at each of them.
#include "core/timeline.hpp"

#include <algorithm>

namespace ledger {
namespace {

constexpr std::uint32_t kStretches = 360;  // each gives at most two points

bool has_storage(const Event& event) {
  return event.kind != Event::Kind::kMark && event.kind != Event::Kind::kEmptyCache;
}

std::uint32_t first_event(const Record& record) {
  for (std::uint32_t i = 0; i < record.events.size(); ++i) {
    const Event& e = record.events[i];
    if (e.kind == Event::Kind::kMark && record.marks[e.id].kind == Mark::Kind::kLoaded) return i;
  }
  return 0;
}

// Numbers of places from 1, each layer's apart; 0 for a place that was not met yet.
class Places {
 public:
  explicit Places(const Record& record) : record_(record) {
    for (const StorageRecord& s : record.storages) layers_ = std::max(layers_, s.layer + 1);
    numbers_.resize(record.places.size() * static_cast<std::size_t>(layers_ + 1));
  }
  std::uint32_t& number_at(std::uint32_t event) {
    const Event& e = record_.events[event];
    if (!has_storage(e)) return numbers_[0];  // of the nameless place
    const StorageRecord& s = record_.storages[e.id];
    const bool of_layer = s.layer >= 0 && record_.places[s.place].find('*') != std::string::npos;
    const std::size_t layer = of_layer ? static_cast<std::size_t>(s.layer) + 1 : 0;
    return numbers_[s.place * static_cast<std::size_t>(layers_ + 1) + layer];
  }

 private:
  const Record& record_;
  int layers_ = 0;
  std::vector<std::uint32_t> numbers_;
};

std::vector<std::uint32_t> chosen_events(const Record& record, const device::Replay& replay) {
  const auto end = static_cast<std::uint32_t>(replay.allocated.size());
  const std::uint32_t begin = first_event(record);
  const std::uint32_t width = std::max(1u, (end - begin) / kStretches);
  std::vector<std::uint32_t> chosen = {begin};
  for (const device::PhaseFigures& p : replay.phases) {
    chosen.insert(chosen.end(), {p.first_event, p.peak_event, p.last_event});
  }
  for (std::uint32_t from = begin; from < end; from += width) {
    const std::uint32_t to = std::min(end, from + width);
    std::uint32_t highest = from;
    for (std::uint32_t i = from; i < to; ++i) {
      if (replay.allocated[i] > replay.allocated[highest]) highest = i;
    }
    chosen.insert(chosen.end(), {highest, to - 1});
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace

std::string place_of(const Record& record, std::uint32_t event) {
  const Event& e = record.events[event];
  if (!has_storage(e)) return {};
  const StorageRecord& s = record.storages[e.id];
  std::string place = record.places[s.place];
  const std::size_t star = place.find('*');
  if (star != std::string::npos && s.layer >= 0) place.replace(star, 1, std::to_string(s.layer));
  return place;
}

std::string moment_of(const Record& record, const device::PhaseFigures& phase,
                      std::uint32_t event) {
  static constexpr std::array<const char*, device::kPhaseNames.size()> kNames = {
      "generation",     "log-probabilities", "forward pass", "backward pass",
      "optimizer step", "evaluation",        "saving"};
  std::string text = kNames[static_cast<std::size_t>(phase.phase)];
  const std::string place = place_of(record, event);
  if (!place.empty()) text += ", " + place;
  const Event& e = record.events[event];
  if (has_storage(e)) text += std::string(": ") + record.storages[e.id].what;
  return text;
}

Timeline timeline_of(const Record& record, const device::Replay& replay) {
  Timeline out;
  Places places(record);
  std::array<double, kParts.size()> parts{};
  std::vector<Status> statuses(record.storages.size());
  std::uint32_t next = 0;
  for (const std::uint32_t event : chosen_events(record, replay)) {
    for (; next <= event; ++next) {
      const Event& e = record.events[next];
      if (!has_storage(e)) continue;
      const StorageRecord& s = record.storages[e.id];
      Status& status = statuses[e.id];
      if (status.live) parts[static_cast<std::size_t>(part_of(s, status))] -= s.bytes.value();
      switch (e.kind) {
        case Event::Kind::kAllocate: status.live = true; break;
        case Event::Kind::kFree: status.live = false; break;
        case Event::Kind::kSave: status.saved = true; break;
        case Event::Kind::kUnsave: status.saved = false; break;
        case Event::Kind::kAccumulate: status.accumulated = true; break;
        case Event::Kind::kMark:
        case Event::Kind::kEmptyCache: break;
      }
      if (status.live) parts[static_cast<std::size_t>(part_of(s, status))] += s.bytes.value();
    }
    TimelinePoint point;
    point.event = event;
    point.allocated = static_cast<double>(replay.allocated[event]);
    point.reserved = static_cast<double>(replay.reserved[event]);
    point.parts = parts;
    double sum = 0;
    for (const double bytes : parts) sum += bytes;
    point.parts[static_cast<std::size_t>(Part::kRuntime)] += point.allocated - sum;
    std::uint32_t& place = places.number_at(event);
    if (place == 0) {
      out.places.push_back(place_of(record, event));
      place = static_cast<std::uint32_t>(out.places.size());
    }
    point.place = place - 1;
    out.points.push_back(point);
  }
  return out;
}

}  // namespace ledger
