// Regions that forget what they compute and compute it again, and autocast's contexts.
#include "core/tape.hpp"
#include "core/tape_internal.hpp"

namespace ledger {
namespace {

// CheckpointFunction.backward: the layer runs again, completely, and a nested backward pass runs
// through it. Its own output lives until that pass is over.
void backward_of_region(BackwardCall& call) { call.results[0] = call.tape.replay_reentrant(call); }

constexpr Rule kCheckpointFunction{
    "re-entrant checkpoint", "torch/utils/checkpoint.py: CheckpointFunction", backward_of_region};
// Stands for the history of a region's arguments, which a replay does not follow.
constexpr Rule kDetached{"argument of a replayed region", "torch/utils/checkpoint.py"};

}  // namespace

RegionOutput Tape::checkpoint(Region region, const void* context, std::vector<Tensor> arguments) {
  Frame* frame = open_frame(region, context, std::move(arguments));
  recording_.push_back(frame);
  RegionOutput result = region(*this, context, frame->arguments);
  recording_.pop_back();
  release(frame);
  return result;
}

Frame* Tape::open_frame(Region region, const void* context, std::vector<Tensor> arguments) {
  Frame* frame = frames_.take();
  frame->refs = 1;
  frame->region = region;
  frame->context = context;
  frame->arguments = std::move(arguments);
  frame->autocast_on = autocast_on_;
  frame->autocast_dtype = autocast_dtype_;
  frame->place = place_;
  frame->layer = layer_;
  return frame;
}

Tensor Tape::unpack(Saved& saved) {
  if (!saved.frame) return Tensor(saved.tensor);  // the node holds it until its rule is done
  if (!saved.frame->done) recompute(*saved.frame);
  return std::move(saved.frame->values[saved.number]);
}

Tensor Tape::detached(const Tensor& t) {
  Tensor copy = wrap(t->storage, t.shape(), t.dtype());
  copy->swapped = t->swapped;
  copy->sliced = t->sliced;
  copy->broadcast = t->broadcast;
  copy->requires_grad = t->requires_grad;
  copy->leaf = t->leaf;  // autocast keeps the cast of a leaf
  return copy;
}

// Stops as soon as the last saved value is there: the operator that saves it never puts anything
// out. What the region does after that makes phantoms.
void Tape::recompute(Frame& frame) {
  const bool in_rule_before = in_backward_rule_;
  const Rule* rule_before = rule_;
  const bool grad_before = grad_enabled_;
  in_backward_rule_ = false;
  rule_ = nullptr;
  grad_enabled_ = true;
  frame.values.reserve(frame.count);
  replaying_.push_back(&frame);
  {
    const Within here(*this, frame.place, frame.layer);
    const Autocast autocast(*this, frame.autocast_on, frame.autocast_dtype);
    std::vector<Tensor> arguments;
    arguments.reserve(frame.arguments.size());
    for (const Tensor& t : frame.arguments) {
      arguments.push_back(t ? detached(t) : Tensor());
      if (t.needs_grad()) arguments.back()->node = leaf_node(kDetached);
    }
    frame.region(*this, frame.context, arguments);
  }
  replaying_.pop_back();
  stopped_ = false;
  frame.done = true;
  in_backward_rule_ = in_rule_before;
  rule_ = rule_before;
  grad_enabled_ = grad_before;
}

Node* Tape::leaf_node(const Rule& rule) {
  Node* node = nodes_.take();
  node->refs = 1;
  node->sequence = kLastSequence;
  node->rule = &rule;
  return node;
}

// ---- the re-entrant kind

RegionOutput Tape::checkpoint_reentrant(Region region, const void* context,
                                        std::vector<Tensor> arguments) {
  Recording recording(*this, kCheckpointFunction, {&arguments[0]});
  recording.save(arguments[0]);
  RegionOutput result;
  {
    const Rule* rule_before = rule_;
    rule_ = nullptr;
    const NoGrad no_grad(*this);
    result = region(*this, context, arguments);
    rule_ = rule_before;
  }
  if (recording) {
    arguments[0].reset();  // the node saves it; the rest is captured for as long as the graph lives
    recording->captured = open_frame(region, context, std::move(arguments));
    if (result.beside) {
      recording->shape = result.beside.shape();
      recording->number = static_cast<std::uint8_t>(result.beside.dtype());
      recording.outputs({&result.result, &result.beside});
    } else {
      recording.outputs({&result.result});
    }
  }
  return result;
}

Tensor Tape::replay_reentrant(BackwardCall& call) {
  Frame& frame = *call.node.captured;
  // A second output has no use in the graph, but its gradient is made all the same: zeros.
  Tensor zeros;
  if (call.node.outputs == 2) {
    zeros = output(call.node.shape, static_cast<Dtype>(call.node.number), "zeros for a gradient");
  }
  std::vector<Tensor> arguments = frame.arguments;
  arguments[0] = detached(call.saved[0]);
  Tensor input = arguments[0];
  input->requires_grad = true;
  input->leaf = true;
  input->node = accumulating_node(input.get());

  const bool in_rule_before = in_backward_rule_;
  const Rule* rule_before = rule_;
  const bool grad_before = grad_enabled_;
  in_backward_rule_ = false;
  rule_ = nullptr;
  grad_enabled_ = true;
  RegionOutput made;
  {
    const Within here(*this, frame.place, frame.layer);
    const Autocast autocast(*this, frame.autocast_on, frame.autocast_dtype);
    made = frame.region(*this, frame.context, arguments);
  }
  std::vector<Root> roots;
  roots.push_back({made.result->node, made.result->slot, call.grads[0]});
  if (zeros) roots.push_back({made.beside->node, made.beside->slot, zeros});
  backward_within(std::move(roots));
  in_backward_rule_ = in_rule_before;
  rule_ = rule_before;
  grad_enabled_ = grad_before;

  Tensor gradient(input->grad);
  detach_gradient(input.get());
  return gradient;
}

// ---- autocast

Autocast::Autocast(Tape& tape, bool on, Dtype dtype)
    : tape_(tape), on_before_(tape.autocast_on_), dtype_before_(tape.autocast_dtype_) {
  tape_.autocast_on_ = on;
  tape_.autocast_dtype_ = dtype;
  ++tape_.autocast_depth_;
}

Autocast::~Autocast() {
  tape_.autocast_on_ = on_before_;
  tape_.autocast_dtype_ = dtype_before_;
  if (--tape_.autocast_depth_ > 0) return;
  for (Tensor& cast : tape_.cast_cache_) {
    cast.reset();
  }
  tape_.cast_cache_.clear();
  ++tape_.cast_epoch_;
}

// A 32-bit leaf that needs a gradient is cast once per context; anything else at each use.
Tensor* Tape::cached_cast(const Tensor& t) {
  if (!t->leaf || !t->requires_grad || t.dtype() != Dtype::kFloat32) return nullptr;
  if (t->cast_epoch != cast_epoch_) {
    t->cast_epoch = cast_epoch_;
    t->cast_slot = static_cast<std::uint32_t>(cast_cache_.size());
    cast_cache_.emplace_back();
  }
  return &cast_cache_[t->cast_slot];
}

}  // namespace ledger
