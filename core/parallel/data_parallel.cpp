// The reducer's buckets, statement by statement.
// Source: torch/nn/parallel/distributed.py, torch/csrc/distributed/c10d/reducer.cpp.
#include "core/parallel/data_parallel.hpp"

#include <algorithm>
#include <utility>

namespace ledger::parallel {
namespace {

constexpr double kMiB = 1048576;
constexpr double kNoLimit = 1e300;
constexpr double kFirstBucket = kMiB;  // dist._DEFAULT_FIRST_BUCKET_BYTES

constexpr Rule kReducer{"reduction of gradients", "torch/csrc/distributed/c10d/reducer.cpp"};
// Gradients go through it as they are.
void of_sink(BackwardCall& call) {
  for (std::size_t i = 0; i < call.node.edge_count; ++i) {
    call.results[i] = std::move(call.grads[i]);
  }
}
constexpr Rule kSink{"copy of the outputs", "torch/nn/parallel/distributed.py: _DDPSink", of_sink};

}  // namespace

DataParallel::DataParallel(Tape& t, const Parallel& options, std::vector<Tensor> states,
                           std::vector<Tensor> buffers, std::vector<Tensor> trainable)
    : t_(t),
      options_(options),
      buffers_(std::move(buffers)),
      trainable_(std::move(trainable)),
      bucket_of_(trainable_.size()) {
  for (const Tensor& buffer : buffers_) states.push_back(buffer);
  broadcast_coalesced(t_, states);
  for (std::size_t i = 0; i < trainable_.size(); ++i) numbers_.emplace_back(trainable_[i].get(), i);
  std::sort(numbers_.begin(), numbers_.end());
  // One bucket for all, unless gradients may be missing: those that come are only known later.
  const bool all = options_.static_graph || !options_.find_unused_parameters;
  const double limit = options_.bucket_cap_mb.value_or(25) * kMiB;
  const double first = options_.bucket_cap_mb ? limit : kFirstBucket;
  std::vector<Indices> assigned =
      assign_buckets(trainable_, all_of(trainable_.size()), all ? kNoLimit : first, limit, false);
  std::reverse(assigned.begin(), assigned.end());
  make_buckets(assigned);
  if (options_.static_graph || options_.find_unused_parameters) {
    const Within here(t_, t_.place("reducer"), -1);
    used_ = t_.make(t_.shape({Count(static_cast<double>(trainable_.size()))}), Dtype::kInt32,
                    "which parameters were used", Role::kBucket);
  }
  t_.on_gradient(gradient_ready, this);
  t_.on_backward_end(backward_over, this);
}

DataParallel::~DataParallel() {
  t_.on_gradient(nullptr, nullptr);
  t_.on_backward_end(nullptr, nullptr);
}

void DataParallel::make_buckets(const std::vector<Indices>& assigned) {
  const Within here(t_, t_.place("reducer"), -1);
  const Recording recording(t_, kReducer, {});
  buckets_.clear();
  for (const Indices& chosen : assigned) {
    const Shape flat = t_.shape({elements_of(trainable_, chosen)});
    for (const std::size_t i : chosen) bucket_of_[i] = buckets_.size();
    buckets_.push_back(
        t_.make(flat, trainable_[chosen.front()].dtype(), "bucket of gradients", Role::kBucket));
    // Gradients that are views move with their buckets.
    for (const std::size_t i : chosen) {
      if (options_.gradient_as_bucket_view && trainable_[i]->grad) into_bucket(i);
    }
  }
}

// Buckets are reduced in their order, each when all its gradients are there.
void DataParallel::count_down(std::size_t parameter) {
  std::size_t& missing = missing_[bucket_of_[parameter]];
  if (missing > 0) --missing;
  for (; next_ < buckets_.size() && missing_[next_] == 0; ++next_) compress(buckets_[next_]);
}

// Source: torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, _compress_hook.
void DataParallel::compress(const Tensor& bucket) {
  if (!options_.comm_hook || *options_.comm_hook == bucket.dtype()) return;
  const Within here(t_, t_.place("reducer"), -1);
  const Recording recording(t_, kReducer, {});
  Tensor narrow = t_.scratch(bucket.shape(), *options_.comm_hook, "bucket in 16 bit");
}

// What all ranks must agree on goes over the device.
void DataParallel::rebuild_buckets() {
  const double limit = options_.bucket_cap_mb.value_or(25) * kMiB;
  const double first = options_.bucket_cap_mb ? limit : kFirstBucket;
  const std::vector<Indices> assigned = assign_buckets(trainable_, ready_, first, limit, true);
  {
    const Within here(t_, t_.place("reducer"), -1);
    const Recording recording(t_, kReducer, {});
    const auto integers = [&](std::size_t count, const char* what) {
      return t_.scratch(t_.shape({Count(static_cast<double>(count))}), Dtype::kInt32, what);
    };
    Tensor indices = integers(trainable_.size() + 1, "parameters in the order of buckets");
    Tensor sizes = integers(assigned.size(), "sizes of buckets");
  }
  make_buckets(assigned);
  rebuilt_ = true;
  ready_.clear();
}

void DataParallel::begin_forward() {
  ++forwards_;
  // A static graph is counted in the first pass, so that the order is known after the second.
  const int known = options_.static_graph ? 3 : 2;
  const bool rebuilds = options_.static_graph || !options_.find_unused_parameters;
  if (rebuilds && !rebuilt_ && forwards_ == known) rebuild_buckets();
  broadcast_coalesced(t_, buffers_);
  missing_.assign(buckets_.size(), 0);
  for (const std::size_t bucket : bucket_of_) ++missing_[bucket];
  next_ = 0;
}

void DataParallel::end_forward(models::Output& output) {
  if (!delays() && (!options_.find_unused_parameters || options_.static_graph)) return;
  Recording recording(t_, kSink, {&output.loss, &output.logits});
  Tensor loss = t_.output(output.loss.shape(), output.loss.dtype(), "copy of the loss");
  Tensor logits;  // there are none where the loss is computed with the head
  if (output.logits) {
    logits = t_.output(output.logits.shape(), output.logits.dtype(), "copy of the logits");
    recording.outputs({&loss, &logits});
  } else {
    recording.outputs({&loss});
  }
  output.loss = std::move(loss);
  output.logits = std::move(logits);
}

void DataParallel::into_bucket(std::size_t parameter) {
  const Tensor& p = trainable_[parameter];
  if (!options_.gradient_as_bucket_view || !p->grad) return;
  const Tensor& bucket = buckets_[bucket_of_[parameter]];
  if (p->grad->storage == bucket->storage) return;
  t_.set_gradient(p.get(), t_.view(bucket, p.shape(), false));
}

void DataParallel::gradient_ready(void* self, TensorData* parameter) {
  DataParallel& ddp = *static_cast<DataParallel*>(self);
  const auto at = std::lower_bound(ddp.numbers_.begin(), ddp.numbers_.end(),
                                   std::pair<const TensorData*, std::size_t>(parameter, 0));
  if (at == ddp.numbers_.end() || at->first != parameter || ddp.delays()) return;
  if (!ddp.rebuilt_) ddp.ready_.push_back(at->second);
  ddp.into_bucket(at->second);
  ddp.count_down(at->second);
}

void DataParallel::backward_over(void* self) {
  DataParallel& ddp = *static_cast<DataParallel*>(self);
  if (!ddp.delays()) return;
  for (std::size_t i = 0; i < ddp.trainable_.size(); ++i) {
    ddp.into_bucket(i);
    ddp.count_down(i);
  }
}

}  // namespace ledger::parallel
