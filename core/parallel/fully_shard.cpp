// What fully_shard does around modules and passes; group_memory.cpp has what a group allocates.
// Source: torch/distributed/fsdp/_fully_shard: _fsdp_state.py, _fsdp_param_group.py,
// _fsdp_param.py.
#include "core/parallel/fully_shard.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace ledger::parallel {

const Rule FullyShard::kBefore{"use of gathered weights",
                               "torch/distributed/fsdp/_fully_shard/_fsdp_state.py",
                               before_backward};
const Rule FullyShard::kAfter{"end of a group's backward pass",
                              "torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py",
                              after_backward};

FullyShard::FullyShard(Tape& t, const Parallel& options, models::Decoder& model,
                       std::vector<Tensor> parameters, const TensorParallel* tensor_parallel)
    : t_(t), options_(options), model_(model), tensor_parallel_(tensor_parallel) {
  layers_ = options.wraps_layers ? model.layers.size() : 0;
  groups_.resize(layers_ + (options.wraps_ends ? 3 : 1));
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].home = this;
    groups_[i].layer = static_cast<std::int16_t>(i < layers_ ? static_cast<int>(i) : -1);
    groups_[i].reshards = options.reshard_after_forward.value_or(true);
  }
  // The root is used again at once, unless the user says otherwise.
  root().reshards = options.reshard_after_forward.value_or(false);
  for (Tensor& p : parameters) {
    const std::int16_t layer = t.record().storages[p->storage].layer;
    Group* group = &root();
    if (layer >= 0 && options.wraps_layers) {
      group = group_of(layer);
    } else if (options.wraps_ends) {
      const bool embeds = p.get() == model.embed_tokens.get();
      group = group_of(embeds ? models::Wrapping::kEmbedding : models::Wrapping::kHead);
    }
    if (p.needs_grad()) trained_.push_back(p);
    group->parameters.push_back({std::move(p)});
  }
  for (Group& group : groups_) shard(group);
  if (options.wraps_layers)
    model_.wrapping = models::Wrapping{this, enter, leave, options.param_dtype};
  t_.on_backward_end(backward_over, this);
}

// Null where it is no group of its own.
FullyShard::Group* FullyShard::group_of(std::int16_t layer) {
  if (layer >= 0) return &groups_[static_cast<std::size_t>(layer)];
  if (!options_.wraps_ends) return nullptr;
  return &groups_[layers_ + (layer == models::Wrapping::kEmbedding ? 0 : 1)];
}

FullyShard::~FullyShard() {
  model_.wrapping.reset();
  t_.on_backward_end(nullptr, nullptr);
}

// Parts of equal size along the first dimension; the last ones are padded.
void FullyShard::shard(Group& group) {
  const Count ranks = t_.workings().letter(Letter::W, options_.shard_size());
  for (ShardedParameter& p : group.parameters) {
    const StorageRecord owner = t_.record().storages[p.whole->storage];
    p.place = owner.place;
    p.layer = owner.layer;
    const Within here(t_, p.place, p.layer);
    const Shape shape = p.whole.shape();
    const bool even = std::fmod(shape[0].value(), ranks.value()) == 0;
    const Count rows = even ? shape[0] / ranks : ceil_div(shape[0], ranks);
    std::array<Count, kMaxRank> dims{};
    for (int i = 0; i < shape.rank(); ++i) dims[static_cast<std::size_t>(i)] = shape[i];
    dims[0] = rows;
    const Shape part = t_.workings().shape(dims.data(), shape.rank());
    dims[0] = even ? shape[0] : rows * ranks;
    p.padded = t_.workings().shape(dims.data(), shape.rank());
    p.shard = t_.parameter(part, p.whole.dtype(), owner.what, p.whole.needs_grad());
    p.dtype = options_.param_dtype.value_or(p.whole.dtype());
    p.cast = p.dtype != p.whole.dtype();
    if (options_.offload_params) t_.give_up_data(p.shard, p.shard.dtype());  // moved to the host
  }
  // The whole ones go when the call returns.
  for (ShardedParameter& p : group.parameters) t_.give_up_data(p.whole, p.dtype);
}

Host FullyShard::on_host() const {
  Host host;
  if (!options_.offload_params) return host;
  for (const Group& group : groups_) {
    for (const ShardedParameter& p : group.parameters) {
      const double bytes = p.shard.shape().bytes(p.shard.dtype()).value();
      host.weights += bytes;
      if (!p.whole.needs_grad()) continue;
      host.gradients += bytes;
      host.optimizer += 2 * bytes + 4;  // two moments and a counter
    }
  }
  return host;
}

std::vector<Tensor> FullyShard::trainable() const {
  std::vector<Tensor> out;
  for (const Tensor& whole : trained_) {
    for (const Group& group : groups_) {
      for (const ShardedParameter& p : group.parameters) {
        if (p.whole.get() == whole.get()) out.push_back(p.shard);
      }
    }
  }
  return out;
}

// An operator that only says when it is reached on the way back.
void FullyShard::announce(Group& group, const Rule& rule, Tensor& t) {
  if (!t.needs_grad()) return;
  Tensor same = t_.view(t, t.shape(), t->swapped, t->view);
  Recording recording(t_, rule, {&t});
  if (recording) recording->context = &group;
  recording.outputs({&same});
  t = std::move(same);
}

void FullyShard::begin(Group& group) {
  group.state = State::kForward;
  gather(group);
  copy_out(group);
}

void FullyShard::end(Group& group) {
  if (group.reshards) let_go(group);
  group.passes.push_back(static_cast<int>(used_.size()));
  used_.push_back(&group);
  group.state = State::kIdle;
}

// A layer that is computed again on the way back finds its weights gathered.
void FullyShard::enter(void* self, std::int16_t layer, Tensor& hidden) {
  FullyShard& home = *static_cast<FullyShard*>(self);
  Group* group = home.group_of(layer);
  if (!group || group->state == State::kBeforeBackward) return;
  home.begin(*group);
  home.announce(*group, kAfter, hidden);
}

void FullyShard::leave(void* self, std::int16_t layer, Tensor& hidden) {
  FullyShard& home = *static_cast<FullyShard*>(self);
  Group* group = home.group_of(layer);
  if (!group || group->state == State::kBeforeBackward) return;
  home.end(*group);
  home.announce(*group, kBefore, hidden);
}

void FullyShard::begin_forward() {
  if (!root().parameters.empty()) begin(root());
}

void FullyShard::end_forward(models::Output& output) {
  if (!root().parameters.empty()) {
    end(root());
    announce(root(), kBefore, output.loss);
  }
  gathered_before_.reset();
}

// The group's weights are gathered, and those of the group before it are asked for.
void FullyShard::before_backward(BackwardCall& call) {
  Group& group = *static_cast<Group*>(const_cast<void*>(call.node.context));
  FullyShard& home = *group.home;
  if (group.state != State::kBeforeBackward) {
    group.state = State::kBeforeBackward;
    home.gather(group);
    home.copy_out(group);
    if (!group.passes.empty()) {
      const int pass = group.passes.back();
      group.passes.pop_back();
      if (pass > 0) home.gather(*home.used_[static_cast<std::size_t>(pass - 1)]);
    }
  }
  call.results[0] = std::move(call.grads[0]);
}

void FullyShard::after_backward(BackwardCall& call) {
  Group& group = *static_cast<Group*>(const_cast<void*>(call.node.context));
  group.home->reduce(group);
  call.results[0] = std::move(call.grads[0]);
}

void FullyShard::backward_over(void* self) {
  FullyShard& home = *static_cast<FullyShard*>(self);
  const auto finish = [&](Group& group) {
    if (group.parameters.empty()) return;
    if (group.state != State::kAfterBackward) home.reduce(group);
    group.state = State::kIdle;
    group.reduced.clear();
    group.result.reset();
    group.passes.clear();
  };
  // As modules come: the root, the embedding, layers, norm and head.
  finish(home.root());
  if (home.options_.wraps_ends) finish(home.groups_[home.layers_]);
  for (std::size_t i = 0; i < home.layers_; ++i) finish(home.groups_[i]);
  if (home.options_.wraps_ends) finish(home.groups_[home.layers_ + 1]);
  home.used_.clear();
  home.reduce_inputs_.clear();
}

}  // namespace ledger::parallel
