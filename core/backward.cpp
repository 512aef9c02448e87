// The backward pass: which node runs when, and what becomes of gradients on their way.
#include <algorithm>
#include <span>

#include "core/reduction.hpp"
#include "core/tape.hpp"
#include "core/tape_internal.hpp"

namespace ledger {

const Rule kAccumulateGrad{"accumulation into .grad",
                           "torch/csrc/autograd/functions/accumulate_grad.h"};
constexpr Rule kSeed{"start of the backward pass", "torch/autograd/__init__.py: _make_grads"};
constexpr Rule kGradientSum{"sum of two gradients", "torch/csrc/autograd/input_buffer.cpp"};

// One call of the engine: nodes that wait for gradients, and the gradients they have.
struct Engine {
  struct Pending {
    Node* node;
    std::uint32_t first_grad;   // index into `grads` of its first output's gradient
    std::uint32_t missing = 0;  // consumers that have not run yet
    std::uint32_t task_before = 0, index_before = 0;  // of the surrounding call, to put back
  };
  // Nodes that are ready; the one created last runs first, parameters at once.
  struct Ready {
    std::uint32_t sequence, order, pending;
    bool operator<(const Ready& other) const {
      return sequence != other.sequence ? sequence < other.sequence : order > other.order;
    }
  };

  Tape& tape;
  std::uint32_t task;
  std::vector<Pending> pending{};
  std::vector<Tensor> grads{};  // of every pending node's outputs, one node after the other
  std::vector<Ready> ready{};
  std::uint32_t order = 0;
  // Of the node that runs. Empty between two nodes: one calls no other of the same engine.
  std::array<Tensor, kMaxSaved> saved{};
  std::array<Tensor, kMaxEdges> results{};

  std::uint32_t find(Node* node) {
    if (node->task == task) return node->task_index;
    pending.push_back(
        {node, static_cast<std::uint32_t>(grads.size()), 0, node->task, node->task_index});
    grads.resize(grads.size() + node->outputs);
    node->task = task;
    node->task_index = static_cast<std::uint32_t>(pending.size() - 1);
    ++node->refs;
    return node->task_index;
  }

  Tensor& gradient(const Node& node, std::uint8_t slot) {
    return grads[pending[node.task_index].first_grad + slot];
  }

  void count_consumers(const std::vector<Root>& roots) {
    for (const Root& root : roots) find(root.node);
    for (std::size_t i = 0; i < pending.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows
      Node* node = pending[i].node;
      for (std::size_t k = 0; k < node->edge_count; ++k) {
        if (Node* next = node->edges[k].node) {
          const std::uint32_t at = find(next);
          ++pending[at].missing;
        }
      }
    }
  }

  void push(std::uint32_t at) {
    ready.push_back({pending[at].node->sequence, order++, at});
    std::push_heap(ready.begin(), ready.end());
  }

  void run(std::vector<Root> roots) {
    count_consumers(roots);
    for (Root& root : roots) {
      add(gradient(*root.node, root.slot), std::move(root.seed));
      if (pending[root.node->task_index].missing == 0) push(root.node->task_index);
    }
    while (!ready.empty()) {
      std::pop_heap(ready.begin(), ready.end());
      const std::uint32_t at = ready.back().pending;
      ready.pop_back();
      run_node(at);
    }
    for (Pending& p : pending) {
      p.node->task = p.task_before;
      p.node->task_index = p.index_before;
      tape.release(p.node);
    }
  }

  void run_node(std::uint32_t at) {
    Node& node = *pending[at].node;
    const Within here(tape, node.place, node.layer);
    if (node.parameter) return accumulate_parameter(node, std::move(gradient(node, 0)));
    if (!node.rule->backward) {  // a leaf outside the model: nothing keeps its gradient
      for (std::uint8_t i = 0; i < node.outputs; ++i) gradient(node, i).reset();
      return;
    }

    call(node);
    tape.clear_saved(node);
    // addmm hands on the gradients of bias, weight and input in this order, mm of input and weight.
    const bool reversed = node.rule->hands_on_backwards && node.flag;
    for (std::size_t k = 0; k < node.edge_count; ++k) {
      const std::size_t i = reversed ? node.edge_count - 1 - k : k;
      const Edge& edge = node.edges[i];
      if (!edge.node) continue;
      const std::uint32_t next = edge.node->task_index;
      if (results[i]) {
        add(gradient(*edge.node, edge.slot), std::move(results[i]), !edge.distributed);
      }
      if (--pending[next].missing > 0) continue;
      if (edge.node->parameter) {
        run_node(next);  // parameters take their gradient at once
      } else {
        push(next);
      }
    }
  }

  void call(Node& node) {
    const std::span<Tensor> of_outputs(&gradient(node, 0), node.outputs);
    for (std::size_t i = 0; i < node.saved_count; ++i) saved[i] = tape.unpack(node.saved[i]);
    const Rule* rule_before = tape.rule_;
    const bool in_rule_before = tape.in_backward_rule_;
    tape.rule_ = node.rule;
    tape.in_backward_rule_ = true;
    BackwardCall call{tape, node, of_outputs, saved, results};
    // A node without gradients only passes the word on.
    const auto there = [](const Tensor& t) { return static_cast<bool>(t); };
    if (std::any_of(of_outputs.begin(), of_outputs.end(), there)) node.rule->backward(call);
    // Recomputed values are handed out once; saved ones stay with the node until gradients fit.
    for (std::size_t i = 0; i < node.saved_count; ++i) {
      if (node.saved[i].frame) saved[i].reset();
    }
    for (std::size_t i = 0; i < node.edge_count; ++i) fit(node.edges[i], results[i]);
    tape.rule_ = rule_before;
    tape.in_backward_rule_ = in_rule_before;
    for (Tensor& t : of_outputs) t.reset();
    for (std::size_t i = 0; i < node.saved_count; ++i) saved[i].reset();
  }

  // A gradient must have its input's shape and type: broadcast dimensions are summed, types cast.
  void fit(const Edge& edge, Tensor& grad) {
    if (!edge.node) return grad.reset();
    if (!grad) return;
    if (grad.shape().elements().value() != edge.shape.elements().value() ||
        grad.shape().rank() > edge.shape.rank()) {
      const bool drops_dimensions = grad.shape().rank() > edge.shape.rank();
      Tensor large = std::move(grad);
      grad = sum_to(tape, std::move(large), edge.shape);
      grad->view = drops_dimensions;  // summed with all dimensions, then seen without
    }
    if (grad.dtype() != edge.dtype) {
      Tensor other = std::move(grad);
      grad = tape.cast_copy(other.shape(), edge.dtype, other->swapped);
      grad->columns_first = other->columns_first;
    }
  }

  // In place only into a tensor that nobody else refers to and that is no view.
  void add(Tensor& held, Tensor grad, bool in_place = true) {
    if (!held) {
      held = std::move(grad);
      return;
    }
    if (held->storage == kNoStorage) return;
    if (in_place && !held->view && held->refs == 1 && tape.live_[held->storage].tensors == 1)
      return;
    const Rule* rule_before = tape.rule_;
    const bool in_rule_before = tape.in_backward_rule_;
    tape.rule_ = &kGradientSum;
    tape.in_backward_rule_ = true;
    Tensor sum = tape.output(held.shape(), held.dtype(), "sum of gradients", held->swapped);
    tape.rule_ = rule_before;
    tape.in_backward_rule_ = in_rule_before;
    held = std::move(sum);
  }

  // The first gradient is taken over as it is; later ones are added to it in place.
  void accumulate_parameter(Node& node, Tensor grad) {
    TensorData* parameter = node.parameter;
    if (!grad) return;
    // One whose data another holds for it is a parameter.
    const bool of_model = parameter->storage == kNoStorage ||
                          tape.record_.storages[parameter->storage].role == Role::kWeight;
    if (!parameter->grad) {
      if (of_model) tape.log(Event::Kind::kAccumulate, grad->storage);
      parameter->grad = grad.release();
    }
    if (of_model && tape.gradient_hook_) tape.gradient_hook_(tape.hook_context_, parameter);
  }
};

void Tape::backward(Tensor loss) {
  const bool grad_before = grad_enabled_;
  backward_thread_ = true;
  grad_enabled_ = false;
  {
    const Rule* rule_before = rule_;
    rule_ = &kSeed;
    in_backward_rule_ = true;
    Tensor seed = output(loss.shape(), loss.dtype(), "gradient of the loss");
    in_backward_rule_ = false;
    rule_ = rule_before;
    Engine engine{*this, ++tasks_};
    // The seed lives until backward() returns: the caller's list holds it.
    engine.run({{loss->node, loss->slot, seed}});
    if (end_hook_) end_hook_(end_context_);
  }
  backward_thread_ = false;
  grad_enabled_ = grad_before;
}

void Tape::backward_within(std::vector<Root> roots) {
  const bool grad_before = grad_enabled_;
  grad_enabled_ = false;
  Engine engine{*this, ++tasks_};
  engine.run(std::move(roots));
  grad_enabled_ = grad_before;
}

}  // namespace ledger
