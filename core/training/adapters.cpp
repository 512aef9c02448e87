// LoRA adapters: made in the weights' type, then raised to 32 bit one by one.
// Source: peft/tuners/lora/model.py, peft/tuners/tuners_utils.py cast_adapter_dtype.
#include "core/training/adapters.hpp"

#include <string_view>

namespace ledger::training {
namespace {

// "q_proj" of "layers.*.self_attn.q_proj".
std::string_view last_name(std::string_view place) {
  const std::size_t dot = place.rfind('.');
  return dot == std::string_view::npos ? place : place.substr(dot + 1);
}

using models::ExpertTargets;

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
  if (&linear == &model.lm_head) return false;
  const std::string_view name = last_name(t.record().places[linear.place]);
  const ExpertNames experts = expert_names(model.config.mixture.targets);
  if (name == experts.router || name == experts.gate || name == experts.up ||
      name == experts.down) {
    return false;
  }
  return names(peft, name);
}

struct Maker {
  Tape& t;
  bool dropout;

  void make(std::vector<ops::Adapter>& adapters, Dtype dtype, Count rank, Count in, Count out) {
    ops::Adapter adapter;
    adapter.a = t.parameter(t.shape({rank, in}), dtype, "lora_A");
    adapter.b = t.parameter(t.shape({out, rank}), dtype, "lora_B");
    adapter.dropout = dropout;
    adapters.push_back(std::move(adapter));
  }
};

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

}  // namespace

void add_adapters(Tape& t, models::Decoder& model, const Peft& peft) {
  for (const Tensor& p : model.parameters) t.freeze(p);
  const Count rank = t.workings().letter(Letter::r, peft.r);
  Maker maker{t, peft.lora_dropout > 0};
  for (ops::Linear* linear : model.linears) {
    if (!is_target(t, model, *linear, peft)) continue;
    const Within here(t, linear->place, linear->layer);
    // In the type of the weight beside it; packed weights count as the model's type.
    const Dtype dtype = linear->weight ? linear->weight.dtype() : model.dtype;
    maker.make(linear->adapters, dtype, rank, linear->shape[1], linear->shape[0]);
  }
  add_mixture_adapters(maker, model, peft, rank);
  if (!peft.autocast_adapter_dtype) return;
  for (const std::vector<ops::Adapter>* adapters : model.adapted) {
    for (const ops::Adapter& adapter : *adapters) {
      if (adapter.a.dtype() == Dtype::kFloat32) continue;
      t.replace_data(adapter.a, Dtype::kFloat32);
      t.replace_data(adapter.b, Dtype::kFloat32);
    }
  }
}

void cast_adapters(Tape& t, const models::Decoder& model) {
  for (const std::vector<ops::Adapter>* adapters : model.adapted) {
    for (const ops::Adapter& adapter : *adapters) {
      if (adapter.a.dtype() == Dtype::kBFloat16) continue;
      t.replace_data(adapter.a, Dtype::kBFloat16);
      t.replace_data(adapter.b, Dtype::kBFloat16);
    }
  }
}

std::vector<Tensor> trainable_parameters(const models::Decoder& model) {
  std::vector<Tensor> trainable;
  for (const Tensor& p : model.parameters) {
    if (p.needs_grad()) trainable.push_back(p);
  }
  for (const std::vector<ops::Adapter>* adapters : model.adapted) {
    for (const ops::Adapter& adapter : *adapters) {
      trainable.push_back(adapter.a);
      trainable.push_back(adapter.b);
    }
  }
  return trainable;
}

}  // namespace ledger::training
