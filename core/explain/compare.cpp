// Holds what a person measured against the estimate: the difference of each tier, what explains
// it, the room that is left, and whether one size up would fit.
#include "core/explain/compare.hpp"

#include <cmath>

#include "core/explain/advice.hpp"
#include "core/explain/comparison.hpp"
#include "core/explain/labels.hpp"
#include "core/json_writer.hpp"

namespace ledger::message {
namespace {

using json::Value;
using json::Writer;

constexpr std::string_view kTotal = "total";

// A number of bytes, or a size as it was printed.
std::optional<Measured> read_measured(const Value& given) {
  if (given.is(Value::Kind::kNumber) && given.number >= 0 && given.number < 1e17)
    return Measured{given.number, {given.number, given.number}, {}};
  if (!given.is(Value::Kind::kText) || given.text.size() > 60) return {};
  const Squeezed s = squeeze(given.text);
  const std::vector<Figure> figures = figures_of(s, 0, s.size(), 2);
  if (figures.size() != 1) return {};
  Figure figure = figures.front();
  figure.of_name = false;
  if (figure.unit == Unit::kNone) figure.unit = Unit::kBytes;
  const Reading r = read_figure(s, figure);
  if (!is_size(r.figure.unit) || r.bytes < 0 || r.bytes > 1e17) return {};
  return Measured{std::floor(r.bytes + 0.5), {r.low, r.high}, given.text};
}

void write_range(Writer& w, Range range) {
  w.begin_object().key("low").number(range.low).key("high").number(range.high).end_object();
}

void write_explanations(Writer& w, const std::vector<Explanation>& list) {
  w.key("explains").begin_list();
  for (const Explanation& e : list) {
    w.begin_object().key("id").text(e.id).key("sentence").text(e.sentence).key("bytes");
    write_range(w, e.bytes);
    w.end_object();
  }
  w.end_list();
}

void write_tiers(Writer& w, const Comparison& c) {
  w.key("tiers").begin_list();
  for (std::size_t n = 0; n < kTiers.size(); ++n) {
    const auto tier = static_cast<Tier>(n);
    const std::optional<Measured>& m = c.measured[n];
    if (tier == Tier::kFree && !c.total) continue;
    const Range estimated = c.estimated(tier);
    w.begin_object().key("id").text(kTiers[n].id).key("what").text(kTiers[n].what);
    w.key("estimate");
    write_range(w, estimated);
    w.key("measured");
    if (!m) {
      w.null()
          .key("difference")
          .null()
          .key("agrees")
          .null()
          .key("explains")
          .begin_list()
          .end_list();
      w.end_object();
      continue;
    }
    const Range difference = {m->range.low - estimated.high, m->range.high - estimated.low};
    w.begin_object().key("value").number(m->value).key("low").number(m->range.low);
    w.key("high").number(m->range.high).end_object().key("difference");
    write_range(w, difference);
    w.key("agrees").flag(difference.low <= 0 && difference.high >= 0);
    switch (tier) {
      case Tier::kAllocated: write_explanations(w, explain_allocated(c, difference)); break;
      case Tier::kReserved: write_explanations(w, explain_reserved(c)); break;
      case Tier::kNvidiaSmi: write_explanations(w, explain_device(c, m->range)); break;
      case Tier::kFree:
        write_explanations(w,
                           explain_device(c, {*c.total - m->range.high, *c.total - m->range.low}));
        break;
    }
    w.end_object();
  }
  w.end_list();
}

// "yes", "close" or "no" with so much more in use.
std::string_view fits(const Comparison& c, double added) {
  if (!c.total) return "unknown";
  const Range used = c.used();
  if (used.high + added <= *c.total) return "yes";
  return used.low + added <= *c.total ? "close" : "no";
}

void write_room(Writer& w, const Comparison& c) {
  w.key("room");
  if (!c.total) {
    w.null();
    return;
  }
  const Range used = c.used();
  w.begin_object().key("total_bytes").number(*c.total).key("used_bytes");
  write_range(w, used);
  w.key("left_bytes");
  write_range(w, {*c.total - used.high, *c.total - used.low});
  w.key("measured").flag(c.of(Tier::kNvidiaSmi) || c.of(Tier::kFree) || c.of(Tier::kReserved));
  w.end_object();
}

void write_one_up(Writer& w, const Comparison& c) {
  w.key("one_up").begin_list();
  const Training& t = c.scenario.training;
  double longer = 1;
  while (longer <= t.max_length) longer *= 2;
  struct Step {
    std::string_view id, key;
    double value;
  };
  for (const Step& step :
       {Step{"micro_batch", "per_device_train_batch_size", t.per_device_train_batch_size + 1},
        Step{"sequence", "max_length", longer}}) {
    Value training = Value::object();
    training.add_number(step.key, step.value);
    Value patch = Value::object();
    patch.add("training", training);
    const Result<Scenario> up = read_scenario(json::write(merged(c.given, patch)));
    w.begin_object().key("id").text(step.id).key("value").number(step.value);
    w.key("patch").raw(json::write(patch));
    if (up.ok()) {
      const Estimated more = estimate_of(up.value());
      const double added = more.reserved - c.estimate.reserved;
      w.key("allocated_bytes").number(more.allocated).key("reserved_bytes").number(more.reserved);
      w.key("adds_bytes").number(added).key("fits").text(fits(c, added));
      w.key("why").text(added >= 0 ? "what is in use now, and what the estimate adds"
                                   : "the estimate takes less: segments fall otherwise");
    } else {
      w.key("allocated_bytes").null().key("reserved_bytes").null().key("adds_bytes").null();
      w.key("fits").text("unknown").key("why").text(up.problems().front().message);
    }
    w.end_object();
  }
  w.end_list();
}

class Refusals {
 public:
  void add(std::string_view path, std::string_view sentence) {
    w_.begin_object().key("path").text(path).key("message").text(sentence).end_object();
    any_ = true;
  }
  void add(const Problems& problems) {
    for (const Problem& p : problems)
      add("scenario" + (p.path.empty() ? std::string() : "." + p.path), p.message);
  }
  bool any() const { return any_; }
  std::string take() { return "{\"problems\":" + w_.end_list().take() + "}"; }
  Refusals() { w_.begin_list(); }

 private:
  Writer w_;
  bool any_ = false;
};

std::string compared(std::string_view text) {
  Refusals refusals;
  const json::Parsed parsed = json::parse(text);
  const Value* scenario_json = parsed.value.find("scenario");
  const Value* measured_json = parsed.value.find("measured");
  if (!parsed.error.empty()) refusals.add("", "This is not JSON: " + parsed.error + ".");
  if (parsed.error.empty() && !scenario_json) refusals.add("scenario", "A scenario is needed.");
  if (parsed.error.empty() && (!measured_json || !measured_json->is(Value::Kind::kObject)))
    refusals.add("measured",
                 "An object is needed, with any of max_memory_allocated, max_memory_reserved, "
                 "nvidia_smi, free and total, in bytes or as printed (\"12.3 GiB\").");
  if (refusals.any()) return refusals.take();
  const Result<Scenario> scenario = read_scenario(json::write(*scenario_json));
  if (!scenario.ok()) refusals.add(scenario.problems());
  std::array<std::optional<Measured>, kTiers.size()> measured;
  std::optional<double> total;
  for (const json::Member& member : measured_json->members) {
    if (member.value.is_null()) continue;
    bool known = member.key == kTotal;
    const std::optional<Measured> read = read_measured(member.value);
    for (std::size_t n = 0; n < kTiers.size(); ++n) {
      if (member.key != kTiers[n].key) continue;
      known = true;
      measured[n] = read;
    }
    if (member.key == kTotal && read) total = read->value;
    const std::string path = "measured." + json::shortened(member.key, 60);
    if (!known)
      refusals.add(path,
                   "This is not one of max_memory_allocated, max_memory_reserved, "
                   "nvidia_smi, free and total.");
    if (known && !read)
      refusals.add(path, "This is no size: bytes as a number, or a text like \"12.3 GiB\".");
  }
  if (refusals.any()) return refusals.take();
  const Scenario& s = scenario.value();
  if (!total) total = s.device.total_bytes;
  if (measured[static_cast<std::size_t>(Tier::kFree)] && !total)
    refusals.add("measured.total",
                 "With `free` the size of the memory is needed: here, as "
                 "device.total_bytes, or by a card.");
  if (refusals.any()) return refusals.take();

  const Comparison c{s, *scenario_json, estimate_of(s), measured, total};
  Writer w;
  w.begin_object().key("scenario").raw(s.normalised);
  write_tiers(w, c);
  write_room(w, c);
  write_one_up(w, c);
  w.key("problems").begin_list().end_list();
  return w.end_object().take();
}

}  // namespace
}  // namespace ledger::message

namespace ledger {

std::string compare(std::string_view text) { return message::compared(text); }

}  // namespace ledger
