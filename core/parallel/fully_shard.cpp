// The gathers and reductions of fully_shard, statement by statement.
// Source: torch/distributed/fsdp/_fully_shard: _fsdp_state.py, _fsdp_param_group.py,
// _fsdp_collectives.py, _fsdp_param.py.
#include "core/parallel/fully_shard.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/parallel/copies.hpp"

namespace ledger::parallel {
namespace {

// Streams, whose pools of memory the allocator keeps apart.
constexpr std::uint8_t kCopyInStream = 1, kReduceStream = 2, kAllReduceStream = 3;

constexpr Rule kGather{"all-gather of weights",
                       "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py"};
constexpr Rule kReduce{"reduce-scatter of gradients",
                       "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py"};

}  // namespace

const Rule FullyShard::kBefore{"use of gathered weights",
                               "torch/distributed/fsdp/_fully_shard/_fsdp_state.py",
                               before_backward};
const Rule FullyShard::kAfter{"end of a group's backward pass",
                              "torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py",
                              after_backward};

FullyShard::FullyShard(Tape& t, const Parallel& options, models::Decoder& model,
                       std::vector<Tensor> parameters)
    : t_(t), options_(options), model_(model) {
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

// The shards as they are sent: as they are, or copied side by side into another type. From the host
// one by one, first in their own type.
std::vector<Tensor> FullyShard::copies(const Group& group) {
  std::vector<Tensor> made;
  std::vector<Count> cast;
  Dtype type = Dtype::kFloat32;  // into which they are cast
  for (const ShardedParameter& p : group.parameters) {
    const Shape part = p.shard.shape();
    if (options_.offload_params) {
      Tensor own = t_.scratch(part, p.shard.dtype(), "shard from the host");
      made.push_back(p.cast ? t_.scratch(part, p.dtype, "shard in another type") : own);
    } else if (p.cast) {
      cast.push_back(part.elements());
      type = p.dtype;
    }
  }
  if (!cast.empty()) {
    const Shape all = t_.shape({sum_of(cast)});
    made.push_back(t_.scratch(all, type, "shards in another type"));
  }
  return made;
}

// unshard(): what is gathered is one tensor.
void FullyShard::gather(Group& group) {
  if (group.result || group.whole) return;
  const Within here(t_, t_.place("gathered weights"), group.layer);
  const Recording recording(t_, kGather, {});
  const OnStream stream(t_, kCopyInStream);
  const std::vector<Tensor> sent = copies(group);
  // Of several types: bytes.
  const Dtype dtype = group.parameters.front().dtype;
  const bool mixed = std::any_of(group.parameters.begin(), group.parameters.end(),
                                 [dtype](const ShardedParameter& p) { return p.dtype != dtype; });
  std::vector<Count> all;
  for (const ShardedParameter& p : group.parameters) {
    const Count elements = p.padded.elements();
    all.push_back(mixed ? elements * Count(bytes_of(p.dtype)) : elements);
  }
  group.result =
      t_.scratch(t_.shape({sum_of(all)}), mixed ? Dtype::kUint8 : dtype, "all shards of a group");
}

// wait_for_unshard(): each weight gets memory of its own. In the forward pass what was gathered is
// held until the next group has done the same.
void FullyShard::copy_out(Group& group) {
  if (!group.result) return;
  const Recording recording(t_, kGather, {});
  std::vector<double> parts;
  for (ShardedParameter& p : group.parameters) {
    const Within here(t_, p.place, p.layer);
    p.gathered = t_.scratch(p.padded, p.dtype, "gathered weight");
    parts.push_back(p.shard.shape().bytes(p.dtype).value());
  }
  {
    const Within here(t_, t_.place("gathered weights"), group.layer);
    Tensor pointers = t_.bytes(Count(split_bytes(t_.device(), parts, options_.shard_size())),
                               "addresses of the parts");
  }
  group.whole = true;
  Tensor before = std::move(gathered_before_);
  if (group.state == State::kForward) gathered_before_ = group.result;
  group.result.reset();
}

void FullyShard::let_go(Group& group) {
  for (ShardedParameter& p : group.parameters) p.gathered.reset();
  group.whole = false;
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

// post_backward(): gradients are put one after the other, in parts for each rank; what comes back
// is this rank's part of all of them.
void FullyShard::reduce(Group& group) {
  group.state = State::kAfterBackward;
  std::vector<ShardedParameter*> with_gradient;
  std::vector<Tensor> gradients;
  for (ShardedParameter& p : group.parameters) {
    if (!p.whole->grad) continue;
    with_gradient.push_back(&p);
    gradients.emplace_back(p.whole->grad);
    t_.detach_gradient(p.whole.get());
  }
  let_go(group);
  reduce_inputs_.clear();
  if (with_gradient.empty()) return;
  const Recording recording(t_, kReduce, {});
  const Dtype given = gradients.front().dtype();
  const Dtype dtype = options_.reduce_dtype.value_or(given);
  const Dtype kept = with_gradient.front()->shard.dtype();
  std::vector<Count> whole, own;
  std::vector<double> parts;
  for (const ShardedParameter* p : with_gradient) {
    whole.push_back(p->padded.elements());
    own.push_back(p->shard.shape().elements());
    parts.push_back(p->shard.shape().bytes(dtype).value());
  }
  const Shape part = t_.shape({sum_of(own)});
  const Within here(t_, t_.place("gradients of a group"), group.layer);
  Tensor input =
      t_.scratch(t_.shape({sum_of(whole)}), dtype, "gradients of a group, in parts for each rank");
  Tensor pointers = t_.bytes(Count(chunk_bytes(parts)), "addresses of the gradients");
  pointers.reset();
  Tensor last = std::move(gradients.back());  // held by the loop's variable until all is done
  gradients.clear();
  const bool replicated = options_.dp_replicate_size > 1;
  Tensor output;
  {
    const OnStream stream(t_, kReduceStream);
    output = t_.make(part, dtype, "gradient", Role::kGradient);
  }
  if (replicated) group.reduced.push_back(output);
  if (dtype != kept) {
    const OnStream stream(t_, replicated ? kAllReduceStream : kReduceStream);
    output = t_.make(part, kept, "gradient", Role::kGradient);
  }
  for (ShardedParameter* p : with_gradient) {
    if (p->shard->grad || options_.offload_params) continue;  // added in place, or on the host
    t_.set_gradient(p->shard.get(), t_.view(output, p->shard.shape(), false));
  }
  reduce_inputs_.push_back(std::move(input));
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
