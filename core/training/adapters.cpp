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

bool is_target(const Tape& t, const models::Decoder& model, const ops::Linear& linear,
               const Peft& peft) {
  if (&linear == &model.lm_head) return false;
  const std::string_view name = last_name(t.record().places[linear.place]);
  for (const std::string& target : peft.target_modules) {
    if (target == "all-linear" || target == name) return true;
  }
  return false;
}

}  // namespace

void add_adapters(Tape& t, models::Decoder& model, const Peft& peft) {
  for (const Tensor& p : model.parameters) t.freeze(p);
  const Dtype made_as = model.dtype;
  const Dtype kept_as = peft.autocast_adapter_dtype ? Dtype::kFloat32 : made_as;
  const Count rank = t.workings().letter(Letter::r, peft.r);
  std::vector<ops::Linear*> targets;
  for (ops::Linear* linear : model.linears) {
    if (!is_target(t, model, *linear, peft)) continue;
    targets.push_back(linear);
    const Within here(t, linear->place, linear->layer);
    ops::Adapter adapter;
    adapter.a = t.parameter(t.shape({rank, linear->shape[1]}), made_as, "lora_A");
    adapter.b = t.parameter(t.shape({linear->shape[0], rank}), made_as, "lora_B");
    adapter.dropout = peft.lora_dropout > 0;
    linear->adapters.push_back(std::move(adapter));
  }
  if (kept_as == made_as) return;
  for (const ops::Linear* linear : targets) {
    for (const ops::Adapter& adapter : linear->adapters) {
      t.replace_data(adapter.a, kept_as);
      t.replace_data(adapter.b, kept_as);
    }
  }
}

std::vector<Tensor> trainable_parameters(const models::Decoder& model) {
  std::vector<Tensor> trainable;
  for (const Tensor& p : model.parameters) {
    if (p.needs_grad()) trainable.push_back(p);
  }
  for (const ops::Linear* linear : model.linears) {
    for (const ops::Adapter& adapter : linear->adapters) {
      trainable.push_back(adapter.a);
      trainable.push_back(adapter.b);
    }
  }
  return trainable;
}

}  // namespace ledger::training
