// Tensors and their lifetimes, the recording of the backward graph, and the record of events.
#include "core/tape.hpp"

#include <algorithm>
#include <span>

#include "core/tape_internal.hpp"

namespace ledger {

TensorData* Tensor::kept(TensorData* data) {
  if (data) ++data->refs;
  return data;
}
void Tensor::let_go(TensorData* data) {
  if (data && --data->refs == 0) data->tape->release(data);
}
bool Tensor::wants_grad(const TensorData* data) { return data && data->requires_grad; }

Tape::Tape(Workings& workings, const Device& device) : workings_(workings), device_(device) {
  record_.places.push_back("");
  record_.storages.reserve(1 << 15);
  record_.events.reserve(1 << 17);
  live_.reserve(1 << 15);
}

Tape::~Tape() {
  cast_cache_.clear();
  for (Tensor& workspace : workspaces_) workspace.reset();
}

// ---- memory

Tensor Tape::wrap(std::uint32_t storage, Shape shape, Dtype dtype) {
  TensorData* data = tensors_.take();
  data->storage = storage;
  data->shape = shape;
  data->dtype = dtype;
  data->tape = this;
  if (storage != kNoStorage) ++live_[storage].tensors;
  return Tensor(data);
}

Tensor Tape::make(Shape shape, Dtype dtype, const char* what, Role role) {
  // Nothing is allocated for no elements, nor once a replayed region has all it needs.
  if (stopped_ || shape.elements().value() == 0) return wrap(kNoStorage, shape, dtype);
  const auto id = static_cast<std::uint32_t>(record_.storages.size());
  StorageRecord made;
  made.bytes = shape.bytes(dtype);
  made.what = what;
  made.place = place_;
  made.layer = layer_;
  made.role = role;
  made.stream = stream_;
  made.maker = rule_;
  record_.storages.push_back(made);
  live_.push_back({});
  log(Event::Kind::kAllocate, id);
  return wrap(id, shape, dtype);
}

Tensor Tape::output(Shape shape, Dtype dtype, const char* what, bool swapped) {
  if (next_name_) what = next_name_;
  next_name_ = nullptr;
  Tensor made = make(shape, dtype, what, in_backward_rule_ ? Role::kGradient : Role::kActivation);
  made->swapped = swapped;
  return made;
}

Tensor Tape::scratch(Shape shape, Dtype dtype, const char* what) {
  return make(shape, dtype, what, Role::kScratch);
}

Tensor Tape::cast_copy(Shape shape, Dtype dtype, bool swapped) {
  const std::size_t before = record_.storages.size();
  Tensor made = output(shape, dtype, "copy in another type", swapped);
  if (record_.storages.size() > before) record_.storages.back().cast = true;
  return made;
}

Tensor Tape::view(const Tensor& t, Shape shape, bool swapped, bool is_view) {
  Tensor made = wrap(t->storage, shape, t.dtype());
  made->swapped = swapped;
  made->columns_first = t->columns_first;
  made->view = is_view;
  return made;
}

Tensor Tape::parameter(Shape shape, Dtype dtype, const char* what, bool trainable) {
  Tensor made = make(shape, dtype, what, Role::kWeight);
  made->leaf = true;
  made->requires_grad = trainable;
  if (trainable) made->node = accumulating_node(made.get());
  return made;
}

void Tape::make_parameter(const Tensor& t, const char* what, bool trainable) {
  StorageRecord& storage = record_.storages[t->storage];
  storage.what = what;
  storage.role = Role::kWeight;
  storage.maker = nullptr;
  t->leaf = true;
  if (trainable) train(t);
}

void Tape::make_leaf(Tensor& t) {
  if (t->node) release(t->node);
  t->leaf = true;
  t->requires_grad = true;
  // A second tensor stands for the first in the graph: it keeps storage and gradient alive.
  Tensor kept = wrap(t->storage, t.shape(), t.dtype());
  t->node = accumulating_node(kept.get());
  t->node->kept = kept.release();
}

void Tape::freeze(const Tensor& parameter) {
  if (parameter->node) release(parameter->node);
  parameter->node = nullptr;
  parameter->requires_grad = false;
}

void Tape::train(const Tensor& parameter) {
  if (parameter->requires_grad) return;
  parameter->requires_grad = true;
  const StorageRecord& owner = record_.storages[parameter->storage];
  const Within here(*this, owner.place, owner.layer);
  parameter->node = accumulating_node(parameter.get());
}

void Tape::replace_data(const Tensor& parameter, Dtype dtype) {
  const StorageRecord& owner = record_.storages[parameter->storage];
  const Within here(*this, owner.place, owner.layer);
  Tensor made = make(parameter.shape(), dtype, owner.what, owner.role);
  std::swap(parameter->storage, made->storage);
  std::swap(parameter->dtype, made->dtype);
}

void Tape::give_up_data(const Tensor& parameter, Dtype dtype) {
  Tensor nothing = wrap(kNoStorage, parameter.shape(), dtype);
  std::swap(parameter->storage, nothing->storage);
  parameter->dtype = dtype;
}

void Tape::share_data(const Tensor& parameter, const Tensor& owner) {
  Tensor part = wrap(owner->storage, parameter.shape(), parameter.dtype());
  std::swap(parameter->storage, part->storage);
}

void Tape::set_gradient(TensorData* parameter, const Tensor& gradient) {
  Tensor given = gradient;
  detach_gradient(parameter);
  log(Event::Kind::kAccumulate, given->storage);
  parameter->grad = given.release();
}

Node* Tape::accumulating_node(TensorData* parameter) {
  Node* node = nodes_.take();
  node->refs = 1;
  node->sequence = kLastSequence;
  node->rule = &kAccumulateGrad;
  node->parameter = parameter;
  node->place = place_;
  node->layer = layer_;
  return node;
}

void Tape::matrix_product_done() {
  Tensor& workspace = workspaces_[backward_thread_ ? 1 : 0];
  if (workspace || stopped_) return;
  // 4096 KiB twice and 16 KiB eight times; 32 MiB from compute capability 9.0 on.
  const double bytes = device_.compute_major >= 9 ? 33554432 : 8519680;
  Within nowhere(*this, 0, -1);
  workspace = make(shape({Count(bytes, workings_.figure(bytes))}), Dtype::kUint8,
                   backward_thread_ ? "cuBLAS workspace of the backward thread"
                                    : "cuBLAS workspace of the forward thread",
                   Role::kWorkspace);
}

// Frees between two allocations change nothing by their order, but compilers differ in the order in
// which they destroy arguments: records are to be equal everywhere.
void Tape::settle_ends() {
  auto& events = record_.events;
  const auto first = events.begin() + static_cast<std::ptrdiff_t>(settled_);
  std::sort(first, events.end(), [](const Event& a, const Event& b) {
    if (a.id != b.id) return a.id < b.id;
    return a.kind == Event::Kind::kUnsave && b.kind == Event::Kind::kFree;
  });
}

Record Tape::take_record() {
  if (record_.events.size() > settled_ + 1) settle_ends();
  return std::move(record_);
}

// ---- labels and borders

std::uint32_t Tape::place(const char* text, std::size_t length) {
  const std::string_view path(text, length);
  for (std::size_t i = 0; i < record_.places.size(); ++i) {
    if (record_.places[i] == path) return static_cast<std::uint32_t>(i);
  }
  record_.places.emplace_back(path);
  return static_cast<std::uint32_t>(record_.places.size() - 1);
}

void Tape::enter(std::uint32_t place, std::int16_t layer) {
  places_.push_back({place_, layer_});
  place_ = place;
  layer_ = layer;
}

void Tape::leave() {
  place_ = places_.back().place;
  layer_ = places_.back().layer;
  places_.pop_back();
}

Shape Tape::shape(int rank, Count a, Count b, Count c, Count d) {
  const std::array dims = {a, b, c, d};
  return workings_.shape(dims.data(), rank);
}

void Tape::mark(Mark::Kind kind, int step, int micro_batch) {
  log(Event::Kind::kMark, static_cast<std::uint32_t>(record_.marks.size()));
  record_.marks.push_back({kind, step, micro_batch});
}

void Tape::empty_cache() { log(Event::Kind::kEmptyCache, 0); }

// ---- lifetimes

void Tape::release(TensorData* data) {
  if (data->storage != kNoStorage) {
    Live& live = live_[data->storage];
    if (data->saved && --live.savers == 0) log(Event::Kind::kUnsave, data->storage);
    if (--live.tensors == 0) log(Event::Kind::kFree, data->storage);
  }
  Node* node = data->node;
  TensorData* grad = data->grad;
  tensors_.give_back(data);
  if (grad && --grad->refs == 0) release(grad);
  if (node) release(node);
}

// Graphs are thousands of nodes deep, so nodes are released by a loop, not by recursion.
void Tape::release(Node* node) {
  if (--node->refs > 0) return;
  dead_nodes_.push_back(node);
  if (!draining_) drain();
}

void Tape::drain() {
  draining_ = true;
  while (!dead_nodes_.empty()) {
    Node* node = dead_nodes_.back();
    dead_nodes_.pop_back();
    clear_saved(*node);
    if (node->captured) release(node->captured);
    if (node->kept && --node->kept->refs == 0) release(node->kept);
    for (std::size_t i = 0; i < node->edge_count; ++i) {
      if (node->edges[i].node) release(node->edges[i].node);
    }
    nodes_.give_back(node);
  }
  draining_ = false;
}

void Tape::release(Frame* frame) {
  if (--frame->refs > 0) return;
  frame->arguments.clear();
  frame->values.clear();
  frame->dropped.clear();
  frames_.give_back(frame);
}

void Tape::clear_saved(Node& node) {
  for (std::size_t i = 0; i < node.saved_count; ++i) {
    Saved& saved = node.saved[i];
    if (saved.tensor && --saved.tensor->refs == 0) release(saved.tensor);
    if (saved.frame) {
      if (!saved.frame->done) saved.frame->dropped[saved.number] = true;
      release(saved.frame);
    }
    saved = Saved{};
  }
  node.saved_count = 0;
}

void Tape::detach_gradient(TensorData* parameter) {
  TensorData* grad = parameter->grad;
  parameter->grad = nullptr;
  if (grad && --grad->refs == 0) release(grad);
}

// ---- recording

Node* Tape::begin(const Rule& rule, std::uint8_t count, TensorData* a, TensorData* b, TensorData* c,
                  TensorData* d) {
  rules_.push_back(rule_);
  rule_ = &rule;
  if (!grad_enabled_) return nullptr;
  const std::array operands = {a, b, c, d};
  const auto inputs = std::span(operands).first(count);
  bool wanted = false;
  for (const TensorData* input : inputs) wanted = wanted || (input && input->requires_grad);
  if (!wanted) return nullptr;
  Node* node = nodes_.take();
  node->refs = 1;
  node->sequence = ++sequence_;
  node->rule = &rule;
  node->place = place_;
  node->layer = layer_;
  for (const TensorData* input : inputs) {
    Edge& edge = node->edges[node->edge_count++];
    if (!input || !input->requires_grad) continue;
    edge.node = input->node;
    ++edge.node->refs;
    edge.slot = input->slot;
    edge.shape = input->shape;
    edge.dtype = input->dtype;
    edge.distributed = input->distributed;
  }
  return node;
}

void Tape::end(Node* node) {
  rule_ = rules_.back();
  rules_.pop_back();
  if (node) release(node);
}

void Tape::keep(Node* node, TensorData* tensor) {
  if (node && !stopped_) save_into(*node, *tensor);
}

void Tape::hold(Node* node, TensorData* tensor) {
  if (node && !stopped_) node->kept = save_copy(*tensor, *node->rule).release();
}

void Tape::put_out(Node* node, std::uint8_t count, TensorData* a, TensorData* b, TensorData* c,
                   TensorData* d) {
  if (!node) return;
  const std::array tensors = {a, b, c, d};
  std::uint8_t slot = 0;
  for (TensorData* data : std::span(tensors).first(count)) put_out(node, slot++, data);
  node->outputs = slot;
}

void Tape::put_out(Node* node, std::uint8_t slot, TensorData* data) {
  if (data->node) release(data->node);
  data->node = node;
  ++node->refs;
  data->slot = slot;
  data->requires_grad = true;
}

void Recording::outputs_of(const std::vector<Tensor>& out) {
  if (!node_) return;
  node_->outputs = 0;
  for (const Tensor& tensor : out) tape_.put_out(node_, node_->outputs++, tensor.get());
}

// A second tensor on the same storage, without a history, as autograd's saved variables are.
Tensor Tape::save_copy(const TensorData& t, const Rule& rule) {
  Tensor copy = wrap(t.storage, t.shape, t.dtype);
  copy->swapped = t.swapped;
  copy->sliced = t.sliced;
  copy->broadcast = t.broadcast;
  if (t.storage != kNoStorage) {
    copy->saved = true;
    if (live_[t.storage].savers++ == 0) {
      log(Event::Kind::kSave, t.storage);
      if (!record_.storages[t.storage].saved_for) record_.storages[t.storage].saved_for = &rule;
    }
  }
  return copy;
}

void Tape::save_into(Node& node, const TensorData& t) {
  Saved& saved = node.saved[node.saved_count++];
  if (!replaying_.empty()) {
    Frame& frame = *replaying_.back();
    Tensor copy = save_copy(t, *node.rule);
    const bool dropped = frame.dropped[frame.values.size()];
    frame.values.push_back(dropped ? Tensor() : copy);
    if (frame.values.size() == frame.count) stopped_ = true;
    // A dropped value is held by the replay's own node only, for as long as that lives.
    if (dropped) {
      saved.tensor = copy.release();
    } else {
      --node.saved_count;
    }
    return;
  }
  if (!recording_.empty()) {
    saved.frame = recording_.back();
    ++saved.frame->refs;
    saved.number = saved.frame->count++;
    saved.frame->dropped.push_back(false);
    return;
  }
  saved.tensor = save_copy(t, *node.rule).release();
}

}  // namespace ledger
