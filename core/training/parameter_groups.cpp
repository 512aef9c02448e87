// Which parameters an optimizer gets in which order.
// Source: transformers 5.18.0 trainer.py: get_decay_parameter_names, create_optimizer.
#include <algorithm>
#include <string>
#include <utility>

#include "core/training/optimizers.hpp"

namespace ledger::training {
namespace {

bool ends_with_or_goes_on(const std::string& name, std::string_view word) {
  for (std::size_t at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (end == name.size() || name[end] == '.') return true;
  }
  return false;
}

// Names with "bias", "layernorm" or "rmsnorm" in them, modules called norm or ..._norm, and the
// parameters of torch.nn.LayerNorm, which architectures call ln_...
bool without_decay(const Tape& t, const Tensor& parameter) {
  const StorageRecord& record = t.record().storages[parameter->storage];
  std::string name = t.record().places[record.place] + "." + record.what;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto contains = [&](std::string_view word) { return name.find(word) != name.npos; };
  return contains("bias") || contains("layernorm") || contains("rmsnorm") || contains("ln_") ||
         ends_with_or_goes_on(name, ".norm") || ends_with_or_goes_on(name, "_norm") ||
         name.starts_with("norm.");
}

}  // namespace

ParameterGroups one_group(std::vector<Tensor> parameters) {
  ParameterGroups out;
  out.first_group = parameters.size();
  out.parameters = std::move(parameters);
  return out;
}

ParameterGroups trainer_groups(const Tape& t, const models::Decoder& model,
                               const std::vector<Tensor>& parameters) {
  ParameterGroups out;
  out.counters_on_device = true;
  for (const bool second : {false, true}) {
    for (const Tensor& p : parameters) {
      if (without_decay(t, p) == second) out.parameters.push_back(p);
    }
    if (!second) out.first_group = out.parameters.size();
  }
  for (const Tensor& p : out.parameters) {
    const bool embeds =
        p.get() == model.embed_tokens.get() || p.get() == model.embed_positions.get();
    out.in_full_bits.push_back(embeds);
  }
  return out;
}

}  // namespace ledger::training
