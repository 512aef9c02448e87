// The strategies behind one door.
#include "core/parallel/rank.hpp"

#include <algorithm>
#include <utility>

namespace ledger::parallel {

Rank::Rank(Tape& t, const Parallel& options, models::Decoder& model, std::vector<Tensor> all,
           std::vector<Tensor> trainable)
    : t_(t), options_(options), trainable_(std::move(trainable)) {
  if (options.divides_tensors()) tensor_parallel_.emplace(t, options, model);
  if (options.strategy == "ddp") {
    data_parallel_.emplace(t, options, std::move(all), model.buffers, trainable_);
  } else if (options.shards()) {
    fully_shard_.emplace(t, options, model, std::move(all),
                         tensor_parallel_ ? &*tensor_parallel_ : nullptr);
    trainable_ = fully_shard_->trainable();
  } else if (tensor_parallel_) {
    first_group_ = tensor_parallel_->in_order(trainable_);
  }
  if (fully_shard_ || !tensor_parallel_) first_group_ = trainable_.size();
}

std::vector<std::pair<std::size_t, Shape>> Rank::redistributed() const {
  std::vector<std::pair<std::size_t, Shape>> out;
  if (!tensor_parallel_ || fully_shard_) return out;
  for (std::size_t i = 0; i < first_group_; ++i) {
    if (tensor_parallel_->differs(trainable_[i].get())) out.emplace_back(i, trainable_[i].shape());
  }
  return out;
}

void Rank::begin_forward() {
  if (data_parallel_) data_parallel_->begin_forward();
  if (fully_shard_) fully_shard_->begin_forward();
}

void Rank::end_forward(models::Output& output) {
  if (data_parallel_) data_parallel_->end_forward(output);
  if (fully_shard_) fully_shard_->end_forward(output);
}

void Rank::zero_grad() {
  if (!options_.zero_redundancy_optimizer) return;
  for (const Tensor& p : trainable_) t_.detach_gradient(p.get());
}

namespace {

// The largest first, each to the rank that has least.
// Source: torch/distributed/optim/zero_redundancy_optimizer.py, _partition_parameters.
std::vector<std::vector<Tensor>> divided(std::vector<Tensor> parameters, double ranks) {
  std::stable_sort(parameters.begin(), parameters.end(), [](const Tensor& a, const Tensor& b) {
    return a.shape().elements().value() > b.shape().elements().value();
  });
  std::vector<std::vector<Tensor>> parts(static_cast<std::size_t>(ranks));
  std::vector<double> sizes(parts.size());
  for (Tensor& p : parameters) {
    const auto least = std::min_element(sizes.begin(), sizes.end());
    *least += p.shape().elements().value();
    parts[static_cast<std::size_t>(least - sizes.begin())].push_back(std::move(p));
  }
  return parts;
}

// Each rank's parameters move into one tensor, on all ranks.
std::vector<Tensor> move_into_buckets(Tape& t, const std::vector<std::vector<Tensor>>& parts) {
  std::vector<Tensor> buckets;
  const Within here(t, t.place("zero_redundancy_optimizer"), -1);
  for (const std::vector<Tensor>& part : parts) {
    const Count elements = part.empty() ? Count(1) : elements_of(part, all_of(part.size()));
    const Dtype dtype = part.empty() ? Dtype::kFloat32 : part.front().dtype();
    buckets.push_back(t.parameter(t.shape({elements}), dtype, "bucket of weights", false));
    for (const Tensor& p : part) t.share_data(p, buckets.back());
  }
  return buckets;
}

}  // namespace

std::vector<Tensor> Rank::stepped() {
  if (options_.offload_params) return {};  // steps on the host
  if (!options_.zero_redundancy_optimizer) return trainable_;
  const std::vector<std::vector<Tensor>> parts = divided(trainable_, options_.world_size);
  if (options_.parameters_as_bucket_view) buckets_ = move_into_buckets(t_, parts);
  return parts[static_cast<std::size_t>(options_.rank)];
}

}  // namespace ledger::parallel
