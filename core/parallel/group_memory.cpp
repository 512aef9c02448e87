// The memory of a group: what is gathered and let go, and what its gradients are reduced in.
// Source: torch/distributed/fsdp/_fully_shard: _fsdp_param_group.py, _fsdp_collectives.py,
// _fsdp_param.py.
#include <algorithm>
#include <utility>

#include "core/parallel/copies.hpp"
#include "core/parallel/fully_shard.hpp"

namespace ledger::parallel {
namespace {

// Streams, whose pools of memory the allocator keeps apart.
constexpr std::uint8_t kCopyInStream = 1, kReduceStream = 2, kAllReduceStream = 3;

constexpr Rule kGather{"all-gather of weights",
                       "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py"};
constexpr Rule kReduce{"reduce-scatter of gradients",
                       "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py"};

}  // namespace

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

// post_backward(): gradients are put one after the other, in parts for each rank; what comes back
// is this rank's part of all of them.
void FullyShard::reduce(Group& group) {
  group.state = State::kAfterBackward;
  std::vector<ShardedParameter*> with_gradient;
  std::vector<Tensor> gradients;
  for (ShardedParameter& p : group.parameters) {
    if (!p.whole->grad) continue;
    with_gradient.push_back(&p);
    Tensor gradient(p.whole->grad);
    t_.detach_gradient(p.whole.get());
    if (tensor_parallel_) {
      gradient = tensor_parallel_->as_parameter(t_, p.whole.get(), std::move(gradient));
    }
    gradients.push_back(std::move(gradient));
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

}  // namespace ledger::parallel
