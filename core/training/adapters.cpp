// LoRA adapters: made in the weights' type, then raised to 32 bit one by one.
// Source: peft/tuners/lora/model.py, peft/tuners/tuners_utils.py cast_adapter_dtype.
#include "core/training/adapters.hpp"

#include <algorithm>
#include <string_view>

#include "core/training/targets.hpp"

namespace ledger::training {
namespace {

using models::ExpertTargets;

bool names_all(const Peft& peft) {
  return !peft.target_modules.empty() && peft.target_modules.front() == "all-linear";
}

bool names(const Peft& peft, std::string_view name) {
  for (const std::string& target : peft.target_modules) {
    if (target == "all-linear" || target == name) return true;
  }
  return false;
}

// The names that mean a mixture's parameters, and no linear module's, where the architecture's
// experts were modules of their own once: router, the two halves of gate_up_proj, down_proj.
struct ExpertNames {
  std::string_view router, gate, up, down;
};

ExpertNames expert_names(ExpertTargets targets) {
  switch (targets) {
    case ExpertTargets::kNone: break;
    case ExpertTargets::kMixtral: return {"gate", "w1", "w3", "w2"};
    case ExpertTargets::kQwen2Moe: return {"gate", "gate_proj", "up_proj", "down_proj"};
  }
  return {};
}

bool is_target(const Tape& t, const models::Decoder& model, const ops::Linear& linear,
               const Peft& peft) {
  const std::string_view name = last_name(t.record().places[linear.place]);
  // "all-linear" leaves the head out, its name does not; what is trained whole has no adapter.
  if (&linear == &model.lm_head && (names_all(peft) || is_saved(peft, name))) {
    return false;
  }
  const ExpertNames experts = expert_names(model.config.mixture.targets);
  if (name == experts.router || name == experts.gate || name == experts.up ||
      name == experts.down) {
    return false;
  }
  return names(peft, name);
}

struct Maker {
  Tape& t;
  const Peft& peft;
  int number;

  void make(std::vector<ops::Adapter>& adapters, Dtype dtype, Count rank, Count in, Count out) {
    const bool trained = number == 0;
    ops::Adapter adapter;
    adapter.a = t.parameter(t.shape({rank, in}), dtype, "lora_A", trained);
    adapter.b = t.parameter(t.shape({out, rank}), dtype, "lora_B", trained);
    adapter.dropout = peft.lora_dropout > 0;
    adapter.number = number;
    adapters.push_back(std::move(adapter));
  }

  void make_dora(ops::Linear& linear) {
    ops::Adapter& adapter = linear.adapters.back();
    adapter.magnitude = ops::dora_magnitude(t, linear, adapter);
    t.make_parameter(adapter.magnitude, "lora_magnitude_vector", number == 0);
  }
};

// peft asks Linear4bit for the type it computes in; eight bits are no type that weights could have.
Dtype type_beside(const ops::Linear& linear) {
  if (linear.weight) return linear.weight.dtype();
  if (linear.packed->by != ops::Packed::By::kBitsandbytes) return linear.packed->dtype;
  return linear.packed->in_8_bit ? Dtype::kFloat32 : linear.packed->compute_dtype;
}

Count rank_of(Tape& t, std::uint32_t place, const Peft& peft) {
  double r = peft.r;
  for (const auto& [name, rank] : peft.rank_pattern) {
    if (!is_named(t.record().places[place], name)) continue;
    r = rank;
    break;
  }
  return t.workings().letter(Letter::r, r);
}

// Only where it is named: "all-linear" does not mean it.
void add_embedding_adapter(Maker& maker, models::Decoder& model, const Peft& peft) {
  Tape& t = maker.t;
  const std::uint32_t place = t.record().storages[model.embed_tokens->storage].place;
  const std::string_view path = t.record().places[place];
  const auto names_it = [&](const std::string& name) { return is_named(path, last_name(name)); };
  if (std::none_of(peft.target_modules.begin(), peft.target_modules.end(), names_it)) return;
  if (is_saved(peft, last_name(path))) return;
  const Within here(t, place, -1);
  const Shape table = model.embed_tokens.shape();
  maker.make(model.embedding_adapters, model.embed_tokens.dtype(), rank_of(t, place, peft),
             table[0], table[1]);
}

// Source: peft tuners/tuners_utils.py _mark_only_adapters_as_trainable.
void train_biases(Tape& t, const models::Decoder& model, std::string_view which) {
  if (which == "all") {
    for (const Tensor& p : model.parameters) {
      if (p && std::string_view(t.record().storages[p->storage].what) == "bias") t.train(p);
    }
  }
  if (which == "lora_only") {
    for (const ops::Linear* linear : model.linears) {
      if (linear->bias && !linear->adapters.empty()) t.train(linear->bias);
    }
  }
}

// In the type of the parameter. The router first or the experts, as they stand in the model.
void add_mixture_adapters(Maker& maker, models::Decoder& model, const Peft& peft, Count rank) {
  Tape& t = maker.t;
  const ExpertNames targets = expert_names(model.config.mixture.targets);
  if (targets.router.empty()) return;
  for (models::Mixture* mixture : model.mixtures) {
    auto router = [&] {
      const Within here(t, mixture->router.place, mixture->router.layer);
      if (!names(peft, targets.router)) return;
      const ops::Linear& r = mixture->router;
      maker.make(mixture->router.adapters, r.weight.dtype(), rank, r.shape[1], r.shape[0]);
    };
    auto stacked = [&](ops::Stacked& s, Count r) {
      const Within here(t, s.place, s.layer);
      maker.make(s.adapters, s.weight.dtype(), r * s.shape[0], s.shape[2], s.shape[1]);
    };
    if (model.config.mixture.router_first) router();
    if (names(peft, targets.gate) && names(peft, targets.up))
      stacked(mixture->gate_up_proj, Count(2) * rank);
    if (names(peft, targets.down)) stacked(mixture->down_proj, rank);
    if (!model.config.mixture.router_first) router();
  }
}

// Parameters of experts by their own names, of rank r each.
void add_parameter_adapters(Maker& maker, models::Decoder& model, const Peft& peft) {
  Tape& t = maker.t;
  const Count rank = t.workings().letter(Letter::r, peft.r);
  const auto named = [&](const ops::Stacked& s) {
    const std::string_view path = t.record().places[s.place];
    return std::any_of(peft.target_parameters.begin(), peft.target_parameters.end(),
                       [&](const std::string& name) { return is_named(path, name); });
  };
  for (models::Mixture* mixture : model.mixtures) {
    for (ops::Stacked* s : {&mixture->gate_up_proj, &mixture->down_proj}) {
      if (!named(*s)) continue;
      const Within here(t, s->place, s->layer);
      maker.make(s->adapters, s->weight.dtype(), rank * s->shape[0], s->shape[2], s->shape[1]);
    }
  }
}

}  // namespace

namespace {

// Raises what was made for this adapter to 32 bit, module by module. Copies of whole modules stay.
void raise_adapter(Tape& t, const models::Decoder& model, int number) {
  const auto raise = [&](const Tensor& p) {
    if (p && p.dtype() != Dtype::kFloat32) t.replace_data(p, Dtype::kFloat32);
  };
  const auto raise_last = [&](const std::vector<ops::Adapter>& adapters) {
    if (adapters.empty() || adapters.back().number != number) return;
    raise(adapters.back().a);
    raise(adapters.back().b);
    raise(adapters.back().magnitude);
  };
  raise_last(model.embedding_adapters);
  if (number == 0 && model.trained_rows) {
    raise(model.trained_rows);
    raise(model.trained_copies.back().original);
  }
  for (const models::AdapterSlot& slot : model.adapted) raise_last(*slot.adapters);
}

}  // namespace

void add_adapters(Tape& t, models::Decoder& model, const Peft& peft, int number) {
  for (const Tensor& p : model.parameters) {
    if (p && number == 0) t.freeze(p);
  }
  Maker maker{t, peft, number};
  add_embedding_adapter(maker, model, peft);
  for (ops::Linear* linear : model.linears) {
    if (!is_target(t, model, *linear, peft)) continue;
    const Within here(t, linear->place, linear->layer);
    const Count rank = rank_of(t, linear->place, peft);
    maker.make(linear->adapters, type_beside(*linear), rank, linear->shape[1], linear->shape[0]);
    if (peft.use_dora) maker.make_dora(*linear);
  }
  add_mixture_adapters(maker, model, peft, t.workings().letter(Letter::r, peft.r));
  add_parameter_adapters(maker, model, peft);
  if (number == 0) train_biases(t, model, peft.bias);
  train_modules(t, model, peft, number == 0);
  if (peft.autocast_adapter_dtype) raise_adapter(t, model, number);
}

void cast_adapters(Tape& t, const models::Decoder& model) {
  for (const models::AdapterSlot& slot : model.adapted) {
    for (const ops::Adapter& adapter : *slot.adapters) {
      for (const Tensor* p : {&adapter.a, &adapter.b, &adapter.magnitude}) {
        if (*p && p->dtype() != Dtype::kBFloat16) t.replace_data(*p, Dtype::kBFloat16);
      }
    }
  }
}

double adapter_elements(const models::Decoder& model) {
  double elements = 0;
  const auto add = [&](const std::vector<ops::Adapter>& adapters) {
    for (const ops::Adapter& adapter : adapters) {
      for (const Tensor* p : {&adapter.a, &adapter.b, &adapter.magnitude}) {
        if (*p) elements += p->shape().elements().value();
      }
    }
  };
  add(model.embedding_adapters);
  for (const models::AdapterSlot& slot : model.adapted) add(*slot.adapters);
  for (const models::TrainedCopy& made : model.trained_copies) {
    elements += made.copy.shape().elements().value();
  }
  return elements;
}

std::vector<Tensor> all_parameters(const models::Decoder& model) {
  std::vector<Tensor> all;
  const auto take = [&](const Tensor& p) {
    if (p) all.push_back(p);
  };
  const auto take_adapters = [&](const std::vector<ops::Adapter>& adapters) {
    for (const ops::Adapter& adapter : adapters) {
      take(adapter.a);
      take(adapter.b);
      take(adapter.magnitude);
    }
  };
  auto slot = model.adapted.begin();
  auto packed = model.linears.begin();
  for (std::size_t i = 0; i <= model.parameters.size(); ++i) {
    const bool last = i == model.parameters.size();  // a tied head has no parameters of its own
    for (; slot != model.adapted.end() && (slot->after <= i || last); ++slot) {
      take_adapters(*slot->adapters);
    }
    for (const models::TrainedCopy& made : model.trained_copies) {
      if (made.after == i) take(made.copy);
    }
    if (last) break;
    if (!model.parameters[i]) {  // the packed weights stand in the order of their linears
      while (packed != model.linears.end() && !(*packed)->packed) ++packed;
      if (packed != model.linears.end()) take((*packed++)->packed->tensors.front());
    }
    take(model.parameters[i]);
    if (i == 0) take_adapters(model.embedding_adapters);
  }
  return all;
}

std::vector<Tensor> trainable_parameters(const models::Decoder& model) {
  std::vector<Tensor> trainable;
  for (Tensor& p : all_parameters(model)) {
    if (p.needs_grad()) trainable.push_back(std::move(p));
  }
  return trainable;
}

}  // namespace ledger::training
