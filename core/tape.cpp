// Tensors and their lifetimes, the recording of the backward graph, and the record of events.
#include "core/tape.hpp"

#include <algorithm>

#include "core/tape_internal.hpp"

namespace ledger {

Tensor::Tensor(TensorData* data) : data_(data) {
  if (data_) ++data_->refs;
}
Tensor::Tensor(const Tensor& other) : data_(other.data_) {
  if (data_) ++data_->refs;
}
Tensor& Tensor::operator=(Tensor other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}
void Tensor::reset() {
  TensorData* data = data_;
  data_ = nullptr;
  if (data && --data->refs == 0) data->tape->release(data);
}
TensorData* Tensor::release() {
  TensorData* data = data_;
  data_ = nullptr;
  return data;
}

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

void Tape::make_leaf(Tensor& t) {
  if (t->node) release(t->node);
  t->leaf = true;
  t->requires_grad = true;
  // A second tensor stands for the first in the graph: it keeps storage and gradient alive.
  Tensor kept = wrap(t->storage, t.shape(), t.dtype());
  t->node = accumulating_node(kept.get());
  t->node->leaf = kept.release();
}

void Tape::freeze(const Tensor& parameter) {
  if (parameter->node) release(parameter->node);
  parameter->node = nullptr;
  parameter->requires_grad = false;
}

void Tape::replace_data(const Tensor& parameter, Dtype dtype) {
  const StorageRecord& owner = record_.storages[parameter->storage];
  const Within here(*this, owner.place, owner.layer);
  Tensor made = make(parameter.shape(), dtype, owner.what, owner.role);
  std::swap(parameter->storage, made->storage);
  std::swap(parameter->dtype, made->dtype);
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

std::uint32_t Tape::place(std::string_view path) {
  for (std::size_t i = 0; i < record_.places.size(); ++i) {
    if (record_.places[i] == path) return static_cast<std::uint32_t>(i);
  }
  record_.places.emplace_back(path);
  return static_cast<std::uint32_t>(record_.places.size() - 1);
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
    if (node->leaf && --node->leaf->refs == 0) release(node->leaf);
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

Recording::Recording(Tape& tape, const Rule& rule, std::initializer_list<const Tensor*> inputs)
    : tape_(tape), node_(nullptr), rule_before_(tape.rule_) {
  tape_.rule_ = &rule;
  if (!tape_.grad_enabled_) return;
  bool wanted = false;
  for (const Tensor* input : inputs) wanted = wanted || input->needs_grad();
  if (!wanted) return;
  node_ = tape_.nodes_.take();
  node_->refs = 1;
  node_->sequence = ++tape_.sequence_;
  node_->rule = &rule;
  node_->place = tape_.place_;
  node_->layer = tape_.layer_;
  for (const Tensor* input : inputs) {
    Edge& edge = node_->edges[node_->edge_count++];
    if (!input->needs_grad()) continue;
    edge.node = (*input)->node;
    ++edge.node->refs;
    edge.slot = (*input)->slot;
    edge.shape = input->shape();
    edge.dtype = input->dtype();
  }
}

Recording::~Recording() {
  tape_.rule_ = rule_before_;
  if (node_) tape_.release(node_);
}

void Recording::save(const Tensor& t) {
  if (node_ && !tape_.stopped_) tape_.save_into(*node_, t);
}

void Recording::outputs(std::initializer_list<Tensor*> tensors) {
  if (!node_) return;
  std::uint8_t slot = 0;
  for (Tensor* t : tensors) {
    TensorData* data = t->get();
    if (data->node) tape_.release(data->node);
    data->node = node_;
    ++node_->refs;
    data->slot = slot++;
    data->requires_grad = true;
  }
  node_->outputs = slot;
}

// A second tensor on the same storage, without a history, as autograd's saved variables are.
Tensor Tape::save_copy(const Tensor& t, const Rule& rule) {
  Tensor copy = wrap(t->storage, t.shape(), t.dtype());
  copy->swapped = t->swapped;
  copy->sliced = t->sliced;
  copy->broadcast = t->broadcast;
  if (t->storage != kNoStorage) {
    copy->saved = true;
    if (live_[t->storage].savers++ == 0) {
      log(Event::Kind::kSave, t->storage);
      if (!record_.storages[t->storage].saved_for) record_.storages[t->storage].saved_for = &rule;
    }
  }
  return copy;
}

void Tape::save_into(Node& node, const Tensor& t) {
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
