// Runs a scenario and writes the report of docs/contract.md, key by key.
#include "core/report.hpp"

#include <algorithm>

#include "core/assumptions.hpp"
#include "core/json_writer.hpp"
#include "core/ledger.hpp"
#include "core/models/decoder.hpp"
#include "core/problems.hpp"
#include "core/report_device.hpp"
#include "core/serving/report.hpp"
#include "core/simulation.hpp"
#include "core/timeline.hpp"
#include "core/training/loading.hpp"
#include "core/training/optimizers.hpp"

namespace ledger {
namespace {

using json::Writer;

// All that a report is written from.
struct Estimate {
  const Scenario& scenario;
  Workings workings;
  models::DecoderConfig config;
  Simulation simulation;
  const training::Run& run;
  const Record& record;
  const device::Replay& replay;
  LedgerSources sources;

  explicit Estimate(const Scenario& s)
      : scenario(s),
        config(models::find_architecture(s.model.model_type)->configure(s.model, workings)),
        simulation(simulate(s, workings)),
        run(simulation.run),
        record(run.record),
        replay(simulation.replay) {
    sources.weights =
        "transformers: models/" + s.model.model_type + "/modeling_" + s.model.model_type + ".py";
    sources.optimizer = std::string(training::optimizer_of(s.training).source);
    sources.loop = "the training loop";
  }

  const device::PhaseFigures& peak() const { return replay.phases[replay.peak_phase]; }

  DeviceReport device_report() const { return {scenario, record, replay}; }

  // The phase that an event lies in; the last one that began before it.
  const device::PhaseFigures& phase_at(std::uint32_t event) const {
    const device::PhaseFigures* found = &replay.phases.front();
    for (const device::PhaseFigures& p : replay.phases) {
      if (p.first_event <= event) found = &p;
    }
    return *found;
  }
};

void write_line(Writer& w, const LedgerLine& line, const Estimate& e) {
  const Expression& working = *line.bytes.working();
  const std::string symbols = to_text(working, Notation::kSymbols);
  const std::string figures = to_text(working, Notation::kFigures);
  w.begin_object().key("what").text(line.what).key("where").text(line.where);
  w.key("count").number(line.count).key("symbols").text(symbols).key("figures").text(figures);
  w.key("mathml").text("<math>" + to_mathml(working, Notation::kSymbols) + "</math>");
  w.key("mathml_figures").text("<math>" + to_mathml(working, Notation::kFigures) + "</math>");
  w.key("latex").text(to_latex(working, Notation::kSymbols) + " = " +
                      to_latex(working, Notation::kFigures));
  w.key("bytes").number(line.bytes.value()).key("why").text(line.why);
  w.key("source").text(line.source).key("born_event").number(line.born);
  w.key("dies_event");
  if (line.dies < e.replay.allocated.size()) {
    w.number(line.dies);
  } else {
    w.null();
  }
  w.end_object();
}

void write_parts(Writer& w, const Ledger& ledger, const Estimate& e) {
  w.key("parts").begin_list();
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    w.begin_object().key("id").text(kParts[i].id).key("bytes").number(ledger.bytes[i]);
    w.key("lines").begin_list();
    for (const LedgerLine& line : ledger.lines[i]) write_line(w, line, e);
    w.end_list().end_object();
  }
  w.end_list();
}

void write_model(Writer& w, const Estimate& e) {
  const ModelConfig& model = e.scenario.model;
  const models::DecoderConfig& c = e.config;
  w.key("model").begin_object().key("id");
  if (model.id.empty()) {
    w.null();
  } else {
    w.text(model.id);
  }
  w.key("model_type").text(model.model_type).key("source").text(model.source);
  w.key("letters").begin_object();
  auto letter = [&](Letter l, double value) { w.key(legend(l).symbol).number(value); };
  letter(Letter::B, e.scenario.training.per_device_train_batch_size);
  letter(Letter::T, e.scenario.training.max_length);
  letter(Letter::d, c.hidden.value());
  letter(Letter::L, c.layers.value());
  letter(Letter::H, c.heads.value());
  letter(Letter::H_kv, c.key_value_heads.value());
  letter(Letter::d_h, c.head_width.value());
  letter(Letter::f, c.feed_forward.value());
  letter(Letter::V, c.vocabulary.value());
  letter(Letter::P, e.run.parameters);
  letter(Letter::P_t, e.run.trainable);
  letter(Letter::A, e.scenario.training.gradient_accumulation_steps);
  if (e.scenario.parallel) letter(Letter::W, e.scenario.parallel->shard_size());
  letter(Letter::S, e.scenario.device.multiprocessors);
  if (c.window.value() > 0) letter(Letter::w, c.window.value());
  w.end_object().end_object();
  w.key("parameters").begin_object().key("total").number(e.run.parameters);
  w.key("trainable").number(e.run.trainable).end_object();
}

void write_peak(Writer& w, const Estimate& e, const Ledger& ledger) {
  const device::PhaseFigures& p = e.peak();
  w.key("peak").begin_object().key("step").number(p.step);
  w.key("phase").text(device::kPhaseNames[static_cast<std::size_t>(p.phase)]);
  w.key("event").number(p.peak_event).key("allocated_bytes").whole(p.peak_bytes);
  w.key("rounded_bytes").number(ledger.rounded).key("reserved_bytes").whole(e.replay.reserved_peak);
  w.key("process_bytes");
  write_process(w, e.device_report());
  w.key("moment").text(moment_of(e.record, p, p.peak_event)).end_object();
}

void write_phases(Writer& w, const Estimate& e) {
  w.key("phases").begin_list();
  for (const device::PhaseFigures& p : e.replay.phases) {
    w.begin_object().key("step").number(p.step);
    w.key("phase").text(device::kPhaseNames[static_cast<std::size_t>(p.phase)]);
    w.key("start_bytes").whole(p.start_bytes).key("peak_bytes").whole(p.peak_bytes);
    w.key("end_bytes").whole(p.end_bytes).key("reserved_bytes").whole(p.reserved_bytes);
    w.key("first_event").number(p.first_event).key("peak_event").number(p.peak_event);
    w.key("last_event").number(p.last_event);
    if (p.clip_peak_bytes > 0) w.key("clip_peak_bytes").whole(p.clip_peak_bytes);
    w.end_object();
  }
  w.end_list();
}

// The loading is a program of its own, with an allocator of its own; null unless it is asked for.
void write_load(Writer& w, const Estimate& e) {
  if (!e.scenario.load) {
    w.key("load").null();
    return;
  }
  Workings workings;
  const Record record = training::load(e.scenario, workings);
  const device::Replay replay = device::replay(record, e.scenario.allocator);
  std::uint64_t peak = 0;
  for (const std::uint64_t bytes : replay.allocated) peak = std::max(peak, bytes);
  w.key("load").begin_object().key("start_bytes").whole(0).key("peak_bytes").whole(peak);
  w.key("end_bytes").whole(replay.allocated.back());
  w.key("reserved_bytes").whole(replay.reserved.back()).end_object();
}

// What follows the steps, on the same device; null unless it is asked for.
void write_after(Writer& w, const Estimate& e, device::Phase which) {
  w.key(device::kPhaseNames[static_cast<std::size_t>(which)]);
  for (const device::PhaseFigures& p : e.replay.phases) {
    if (p.phase != which) continue;
    w.begin_object().key("start_bytes").whole(p.start_bytes).key("peak_bytes").whole(p.peak_bytes);
    w.key("end_bytes").whole(p.end_bytes).key("reserved_bytes").whole(p.reserved_bytes);
    w.end_object();
    return;
  }
  w.null();
}

void write_timeline(Writer& w, const Estimate& e) {
  const Timeline timeline = timeline_of(e.record, e.replay);
  auto column = [&](std::string_view name, auto value) {
    w.key(name).begin_list();
    for (const TimelinePoint& p : timeline.points) w.number(value(p));
    w.end_list();
  };
  w.key("timeline").begin_object();
  column("event", [](const TimelinePoint& p) { return static_cast<double>(p.event); });
  column("allocated", [](const TimelinePoint& p) { return p.allocated; });
  column("reserved", [](const TimelinePoint& p) { return p.reserved; });
  w.key("parts").begin_object();
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    column(kParts[i].id, [i](const TimelinePoint& p) { return p.parts[i]; });
  }
  w.end_object();
  column("place", [](const TimelinePoint& p) { return static_cast<double>(p.place); });
  w.key("places").begin_list();
  for (const std::string& place : timeline.places) w.text(place);
  w.end_list().key("events_total").number(static_cast<double>(e.replay.allocated.size()));
  w.key("marks").begin_list();
  for (const device::PhaseFigures& p : e.replay.phases) {
    w.begin_object().key("event").number(p.first_event).key("step").number(p.step);
    w.key("phase").text(device::kPhaseNames[static_cast<std::size_t>(p.phase)]).end_object();
  }
  w.end_list().end_object();
}

void write_moment(Writer& w, const Estimate& e) {
  w.key("moment");
  if (!e.scenario.at_event) {
    w.null();
    return;
  }
  const double last = static_cast<double>(e.replay.allocated.size()) - 1;
  const auto event = static_cast<std::uint32_t>(std::min(*e.scenario.at_event, last));
  const device::PhaseFigures& phase = e.phase_at(event);
  w.begin_object().key("event").number(event).key("step").number(phase.step);
  w.key("phase").text(device::kPhaseNames[static_cast<std::size_t>(phase.phase)]);
  w.key("moment").text(moment_of(e.record, phase, event));
  w.key("allocated_bytes").whole(e.replay.allocated[event]);
  w.key("reserved_bytes").whole(e.replay.reserved[event]);
  write_parts(w, ledger_at(e.record, e.replay, event, e.config.layers, e.sources), e);
  w.end_object();
}

// Beside the device's memory, where something is offloaded.
void write_host(Writer& w, const Estimate& e) {
  const parallel::Host& host = e.run.host;
  w.key("host");
  if (host.weights + host.managed == 0) {
    w.null();
    return;
  }
  w.begin_object().key("weights_bytes").number(host.weights);
  w.key("gradients_bytes").number(host.gradients);
  w.key("optimizer_bytes").number(host.optimizer);
  w.key("managed_bytes").number(host.managed);
  w.key("figures").text(host.figures).key("source").text(host.source).end_object();
}

// What is served, after the training or beside it, on the same device.
void write_serving(Writer& w, const Estimate& e) {
  if (!e.scenario.serving) {
    w.key("serving").null();
    return;
  }
  serving::Trained trained;
  trained.parameters = e.run.parameters - (e.scenario.peft ? e.run.trainable : 0);
  trained.while_training = process_of(e.device_report());
  // Between steps a trainer holds what it holds at the start of one; at most all its segments.
  double held = 0;
  for (const device::PhaseFigures& p : e.replay.phases) {
    const auto start = static_cast<double>(p.start_bytes);
    if (p.step == training::kSteps && (held == 0 || start < held)) held = start;
  }
  const device::Range context = sum(device::process_parts(e.scenario));
  trained.between = {held + context.low, trained.while_training.high};
  serving::write_serving(w, e.scenario, trained);
}

std::string write_report(const Estimate& e) {
  const std::uint32_t at_peak = e.peak().peak_event;
  const Ledger ledger = ledger_at(e.record, e.replay, at_peak, e.config.layers, e.sources);
  Writer w;
  w.begin_object().key("scenario").raw(e.scenario.normalised);
  write_model(w, e);
  write_peak(w, e, ledger);
  write_reserved(w, e.device_report());
  write_measured(w, e.device_report());
  write_phases(w, e);
  write_load(w, e);
  write_after(w, e, device::Phase::kEvaluate);
  write_after(w, e, device::Phase::kSave);
  write_parts(w, ledger, e);
  write_timeline(w, e);
  write_moment(w, e);
  write_verdict(w, e.device_report());
  write_host(w, e);
  write_serving(w, e);
  write_context(w, e.scenario);
  w.key("assumptions").begin_list();
  for (const std::string& a : assumptions_of(e.scenario, e.config, e.simulation)) w.text(a);
  w.end_list();
  write_problems(w, {});
  return w.end_object().take();
}

}  // namespace

std::string estimate(std::string_view scenario_json) {
  const Result<Scenario> scenario = read_scenario(scenario_json);
  if (!scenario.ok()) {
    Writer w;
    w.begin_object();
    for (const Problem& p : scenario.problems()) {
      if (p.parameters == 0) continue;
      w.key("parameters").begin_object().key("total").number(p.parameters).end_object();
      break;
    }
    write_problems(w, scenario.problems());
    return w.end_object().take();
  }
  return write_report(Estimate(scenario.value()));
}

}  // namespace ledger
