// from_pretrained with a device_map: one allocation as large as the model warms the allocator up
// and goes, then tensor by tensor comes from the file, in the order of names, and is packed where
// it is. Source: transformers 5.18.0 modeling_utils.py caching_allocator_warmup,
// get_total_byte_count, core_model_loading.py convert_and_load_state_dict_in_model,
// integrations/bitsandbytes.py.
#include "core/training/loading.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/training/adapters.hpp"
#include "core/training/targets.hpp"

namespace ledger::training {
namespace {

// A tensor of the file.
struct Stored {
  std::string before, after;  // the path around the layer's number
  double layer = -1;
  const StorageRecord* record = nullptr;
  Shape shape;
  Dtype dtype = Dtype::kFloat32;
  bool packs = false;

  // Numbers are compared as numbers, other parts of a path as texts.
  bool operator<(const Stored& other) const {
    if (before != other.before) return before < other.before;
    if (layer != other.layer) return layer < other.layer;
    return after < other.after;
  }
};

// Of the module that holds the model's body.
std::string_view body_of(std::string_view model_type) {
  if (model_type == "gpt_neox") return "gpt_neox.";
  const bool transformer = model_type == "gpt2" || model_type == "bloom" || model_type == "falcon";
  return transformer ? "transformer." : "model.";
}

Stored stored_of(const Record& record, const Tensor& p, std::string_view body) {
  Stored out;
  out.record = &record.storages[p->storage];
  out.shape = p.shape();
  out.dtype = p.dtype();
  const std::string& place = record.places[out.record->place];
  const std::string path = (place == "lm_head" ? "" : std::string(body)) + place + "." +
                           (std::string_view(out.record->what) == "bias" ? "bias" : "weight");
  const std::size_t star = path.find('*');
  out.before = path.substr(0, star);
  if (star != path.npos) {
    out.layer = out.record->layer;
    out.after = path.substr(star + 1);
  }
  return out;
}

}  // namespace

Record load(const Scenario& scenario, Workings& workings) {
  Tape plan(workings, scenario.device);  // on no device: what there is to load
  models::Decoder model;
  model.config =
      models::find_architecture(scenario.model.model_type)->configure(scenario.model, workings);
  models::build(plan, model, scenario.dtype);
  const auto& q = scenario.quantization;

  std::vector<const TensorData*> packed;
  for (const ops::Linear* linear : model.linears) {
    const bool packs = q && linear->kind != ops::Linear::Kind::kConv1D &&
                       !is_skipped(plan.record().places[linear->place], *q);
    if (packs) packed.push_back(linear->weight.get());
  }
  std::sort(packed.begin(), packed.end(), std::less<>());

  std::vector<Stored> file;
  Count bytes = 0;
  const std::string_view body = body_of(scenario.model.model_type);
  for (const Tensor& p : model.parameters) {
    Stored stored = stored_of(plan.record(), p, body);
    stored.packs = std::binary_search(packed.begin(), packed.end(), p.get(), std::less<>());
    const double each = !stored.packs ? bytes_of(stored.dtype) : q->load_in_8bit ? 1 : 0.5;
    bytes = bytes + Count(each) * stored.shape.elements();
    file.push_back(std::move(stored));
  }
  for (const Tensor& buffer : model.buffers) {
    bytes = bytes + Count(bytes_of(buffer.dtype())) * buffer.shape().elements();
  }
  std::sort(file.begin(), file.end());

  Tape t(workings, scenario.device);
  std::vector<Tensor> held;
  Tensor shared_code;
  { Tensor whole = t.bytes(bytes, "the whole model, to warm the allocator up"); }
  for (const Stored& stored : file) {
    const Within here(t, t.place(plan.record().places[stored.record->place]), stored.record->layer);
    Tensor value = t.make(stored.shape, stored.dtype, stored.record->what, Role::kWeight);
    if (!stored.packs) {
      held.push_back(std::move(value));
      continue;
    }
    ops::Packed made = packed_weight(t, shared_code, stored.shape, stored.dtype, *q);
    for (Tensor& tensor : made.tensors) held.push_back(std::move(tensor));
  }
  for (const Tensor& buffer : model.buffers) {
    held.push_back(t.make(buffer.shape(), buffer.dtype(), "buffer", Role::kBuffer));
  }
  return t.take_record();
}

}  // namespace ledger::training
