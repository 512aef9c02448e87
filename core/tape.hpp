// The tape: an autograd that knows only sizes. Tensors, their lifetimes, the backward pass.
//
// A Tensor is a counted reference, so C++ scope is Python scope: a tensor dies when its last
// holder, a variable or a node of the backward graph, lets go. Operators (core/ops) take tensors by
// value: pass a copy and the caller goes on holding it, move it in and it dies when the operator
// returns, as a temporary of a Python expression does. Write one operator a statement.
//
// What happens is written down in a Record: every storage with its working and meaning, and every
// event in order. The allocator (core/device) reads that record; the tape knows nothing of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pool.hpp"
#include "core/quantity.hpp"

namespace ledger {

class Tape;
struct Node;
struct Frame;
struct Rule;

// What a storage is for, as its birth says it. The report turns roles into the parts of the page.
enum class Role : std::uint8_t {
  kWeight,      // a parameter
  kBuffer,      // a buffer of the model
  kState,       // optimizer state
  kInput,       // ids, labels and what else the loop hands in
  kWorkspace,   // a library's workspace, kept for ever
  kActivation,  // put out by an operator of the forward pass
  kGradient,    // put out by an operator of the backward pass
  kBucket,      // gradients are reduced in it, over all ranks
  kScratch,     // an operator's own working space
};

// Everything that is known of one storage.
struct StorageRecord {
  Bytes bytes;              // requested, before the allocator rounds
  const char* what = "";    // "query states", "reduction scratch"
  std::uint32_t place = 0;  // index into Record::places: where in the model
  std::int16_t layer = -1;  // index of the layer, or -1
  Role role = Role::kScratch;
  std::uint8_t stream = 0;          // whose pool of the allocator it is taken from
  bool cast = false;                // autocast's copy of an operand
  const Rule* maker = nullptr;      // operator that allocated it; null for parameters and inputs
  const Rule* saved_for = nullptr;  // first operator whose backward keeps it
};

struct Event {
  enum class Kind : std::uint8_t {
    kAllocate,
    kFree,
    kSave,        // a node of the backward graph begins to hold it
    kUnsave,      // no node holds it any more
    kAccumulate,  // it became a parameter's .grad
    kMark,        // id is an index into Record::marks
    kEmptyCache,
  };
  Kind kind;
  std::uint32_t id;
};

// A border of the program: what begins here.
struct Mark {
  enum class Kind : std::uint8_t {
    kLoaded,
    kBegin,
    kGenerate,          // completions are sampled
    kLogProbabilities,  // of the old policy and of the reference
    kForward,
    kBackward,
    kBackwardEnd,
    kClip,
    kStep,
    kZeroGrad,
    kEvaluate,  // between steps
    kSave,
    kEnd
  };
  Kind kind;
  int step;         // 1, 2
  int micro_batch;  // from 0
};

struct Record {
  std::vector<StorageRecord> storages;
  std::vector<Event> events;
  std::vector<Mark> marks;
  std::vector<std::string> places;  // "layers.*.mlp.gate_proj"
};

// One operator's rule: what its backward does, and what people are told of it.
struct BackwardCall;
struct Rule {
  const char* name;    // "matrix product"
  const char* source;  // where the rule was read
  void (*backward)(BackwardCall&) = nullptr;
  bool hands_on_backwards = false;  // gradients go on from the last input to the first, if flagged
};

struct TensorData {
  std::uint32_t refs = 0;
  std::uint32_t storage = 0;  // kNoStorage for a phantom
  Shape shape;
  Dtype dtype = Dtype::kFloat32;
  std::uint8_t slot = 0;       // which output of `node`
  bool swapped = false;        // dense, but dimensions 1 and 2 exchanged in memory
  bool sliced = false;         // a part of each row of a wider tensor: not dense
  bool broadcast = false;      // a view that repeats one head
  bool columns_first = false;  // a gradient that is [B,H,d,T] in memory
  bool view = false;           // shares a storage that was made under another shape
  bool requires_grad = false;
  bool leaf = false;
  bool saved = false;           // held by a node for the backward pass
  bool distributed = false;     // a DTensor: gradients of it are summed into a new tensor
  std::uint32_t cast_slot = 0;  // index into autocast's cache, valid in this epoch only
  std::uint32_t cast_epoch = 0;
  Tape* tape = nullptr;
  Node* node = nullptr;        // counted
  TensorData* grad = nullptr;  // counted
};

// A counted reference to a tensor. Null means absent (no bias, no mask).
//
// It is one pointer, and clang hands it over as one: in a register, destroyed by the function that
// takes it. That halves the code of a statement in WebAssembly. Others (g++) hand over an address
// and destroy it when the statement ends, which is the same as long as there is one operator a
// statement.
class [[clang::trivial_abi]] Tensor {
 public:
  [[gnu::always_inline]] Tensor() {}
  [[gnu::always_inline]] explicit Tensor(TensorData* data) : data_(kept(data)) {}
  [[gnu::always_inline]] Tensor(const Tensor& other) : data_(kept(other.data_)) {}
  [[gnu::always_inline]] Tensor(Tensor&& other) noexcept : data_(other.release()) {}
  [[gnu::always_inline]] Tensor& operator=(Tensor other) noexcept {
    TensorData* before = data_;
    data_ = other.data_;
    other.data_ = before;
    return *this;
  }
  [[gnu::always_inline]] ~Tensor() {
    const bool moved_from = __builtin_constant_p(data_) && !data_;  // as the compiler can see
    if (!moved_from) let_go(data_);
  }
  [[gnu::always_inline]] void reset() { let_go(release()); }
  [[gnu::always_inline]] explicit operator bool() const { return data_ != nullptr; }
  [[gnu::always_inline]] TensorData* operator->() const { return data_; }
  [[gnu::always_inline]] TensorData* get() const { return data_; }
  [[gnu::always_inline]] TensorData* release() {
    TensorData* data = data_;
    data_ = nullptr;
    return data;
  }
  [[gnu::always_inline]] Shape shape() const { return data_->shape; }
  [[gnu::always_inline]] Dtype dtype() const { return data_->dtype; }
  [[gnu::always_inline]] Count dim(int i) const { return data_->shape[i]; }
  [[gnu::always_inline]] bool needs_grad() const { return wants_grad(data_); }

 private:
  // By value and never inline: a call is smaller than what they do.
  [[gnu::noinline]] static TensorData* kept(TensorData* data);
  [[gnu::noinline]] static void let_go(TensorData* data);
  [[gnu::noinline]] static bool wants_grad(const TensorData* data);

  TensorData* data_ = nullptr;
};

constexpr int kMaxEdges = 4;
constexpr int kMaxSaved = 8;

// Where one input's gradient goes. Null node: this input needs none.
struct Edge {
  Node* node = nullptr;  // counted
  Shape shape;
  Dtype dtype = Dtype::kFloat32;
  std::uint8_t slot = 0;
  bool distributed = false;
};

// A value kept for the backward pass, or the promise to compute it again.
struct Saved {
  TensorData* tensor = nullptr;  // counted
  Frame* frame = nullptr;        // counted; set inside a checkpointed region
  std::uint32_t number = 0;      // which of the region's saved values
};

struct Node {
  std::uint32_t refs = 0;
  std::uint32_t sequence = 0;  // creation number; parameters have the highest
  const Rule* rule = nullptr;
  std::uint32_t place = 0;
  std::int16_t layer = -1;
  std::uint8_t edge_count = 0, saved_count = 0, outputs = 1;
  bool swapped = false;  // parameters of the rule
  bool flag = false;
  bool nested = false;
  std::uint8_t number = 0;
  Shape shape;
  const void* context = nullptr;  // what a rule of the training room needs; not owned
  std::array<Edge, kMaxEdges> edges{};
  std::array<Saved, kMaxSaved> saved{};
  TensorData* parameter = nullptr;  // of an accumulating node; not counted
  TensorData* kept = nullptr;       // alive as long as the node is; counted
  Frame* captured = nullptr;        // arguments that live as long as the graph; counted
  std::uint32_t task = 0, task_index = 0;
};

// What a rule's backward function works on.
struct BackwardCall {
  Tape& tape;
  const Node& node;
  std::span<Tensor> grads;                 // by output
  std::array<Tensor, kMaxSaved>& saved;    // as saved
  std::array<Tensor, kMaxEdges>& results;  // by input
  bool needs(int input) const { return node.edges[static_cast<std::size_t>(input)].node; }
};

// Where a backward pass begins, and with what gradient.
struct Root {
  Node* node = nullptr;
  std::uint8_t slot = 0;
  Tensor seed;
};

// A region that forgets and replays: called again with the same arguments. `context` is the layer.
struct RegionOutput {
  Tensor result;
  Tensor beside{};  // the second of a pair: the caller holds it until the next pair comes
};
using Region = RegionOutput (*)(Tape&, const void* context, const std::vector<Tensor>& arguments);

// Begins a node if a gradient is wanted, saves values into it, and hands it to the output.
class Recording {
 public:
  // Up to four tensors by their addresses: {&x, &weight}. Absent ones count.
  struct Operands {
    Operands() = default;
    [[gnu::always_inline]] Operands(const Tensor* first) : count(1), a(first->get()) {}
    [[gnu::always_inline]] Operands(const Tensor* first, const Tensor* second)
        : count(2), a(first->get()), b(second->get()) {}
    [[gnu::always_inline]] Operands(const Tensor* first, const Tensor* second, const Tensor* third)
        : count(3), a(first->get()), b(second->get()), c(third->get()) {}
    [[gnu::always_inline]] Operands(const Tensor* first, const Tensor* second, const Tensor* third,
                                    const Tensor* fourth)
        : count(4), a(first->get()), b(second->get()), c(third->get()), d(fourth->get()) {}

    std::uint8_t count = 0;
    TensorData *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr;
  };
  [[gnu::always_inline]] Recording(Tape& tape, const Rule& rule, const Operands& in);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  [[gnu::always_inline]] ~Recording();
  [[gnu::always_inline]] explicit operator bool() const { return node_ != nullptr; }
  [[gnu::always_inline]] Node* operator->() const { return node_; }
  [[gnu::always_inline]] void save(const Tensor& t);
  // Holds a tensor as an attribute of the node: no checkpoint forgets it, and it dies with the
  // graph, not when the node has run.
  [[gnu::always_inline]] void keep(const Tensor& t);
  [[gnu::always_inline]] void outputs(const Operands& out);
  void outputs_of(const std::vector<Tensor>& out);

 private:
  Tape& tape_;
  Node* node_;
};

class Tape {
 public:
  Tape(Workings& workings, const Device& device);
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  ~Tape();

  Workings& workings() { return workings_; }
  const Device& device() const { return device_; }
  const Record& record() const { return record_; }
  Record take_record();
  [[gnu::always_inline]] Shape shape(std::initializer_list<Count> dims) {
    const Count* d = dims.begin();  // one by one, so that they travel in registers
    const std::size_t rank = dims.size();
    return shape(static_cast<int>(rank), d[0], rank > 1 ? d[1] : Count(), rank > 2 ? d[2] : Count(),
                 rank > 3 ? d[3] : Count());
  }

  // -- memory
  // `what` must be a literal. Tensors made while a replayed region is already stopped are phantoms.
  Tensor make(Shape shape, Dtype dtype, const char* what, Role role);
  Tensor output(Shape shape, Dtype dtype, const char* what, bool swapped = false);
  Tensor scratch(Shape shape, Dtype dtype, const char* what);
  Tensor bytes(Count count, const char* what) {
    return scratch(shape({count}), Dtype::kUint8, what);
  }
  // A copy of a tensor in another type.
  Tensor cast_copy(Shape shape, Dtype dtype, bool swapped);
  Tensor view(const Tensor& t, Shape shape, bool swapped, bool is_view = true);
  Tensor parameter(Shape shape, Dtype dtype, const char* what, bool trainable = true);
  // nn.Parameter(t): what an operator put out becomes a weight.
  void make_parameter(const Tensor& t, const char* what, bool trainable);
  // Makes the tensor a leaf that needs a gradient, which is kept as long as the graph is:
  // enable_input_require_grads().
  void make_leaf(Tensor& t);
  void freeze(const Tensor& parameter);  // requires_grad_(False)
  void train(const Tensor& parameter);   // requires_grad_(True)
  // parameter.data = parameter.data.to(dtype): the new data exist before the old ones go.
  void replace_data(const Tensor& parameter, Dtype dtype);
  // cuBLAS takes a workspace per thread, once, after the output of the first matrix product.
  void matrix_product_done();

  // -- where we are, for labels
  [[gnu::always_inline]] std::uint32_t place(std::string_view path) {  // interned
    return place(path.data(), path.size());
  }
  std::uint32_t current_place() const { return place_; }
  std::int16_t current_layer() const { return layer_; }
  // The next output that an operator makes bears this name.
  Tape& as(const char* what) {
    next_name_ = what;
    return *this;
  }
  // The name that waits for the next output; takes it away.
  const char* take_name() { return std::exchange(next_name_, nullptr); }

  // -- the program's borders
  void mark(Mark::Kind kind, int step, int micro_batch = 0);
  void empty_cache();

  // -- autograd
  bool grad_enabled() const { return grad_enabled_; }
  bool adapters_enabled() const { return adapters_enabled_; }
  bool evaluates() const { return evaluates_; }
  void backward(Tensor loss);
  // Runs the region without keeping what it saves; saved values are recomputed when first asked
  // for.
  RegionOutput checkpoint(Region region, const void* context, std::vector<Tensor> arguments);
  // As the re-entrant kind does: no graph in the forward pass, a nested backward pass later.
  RegionOutput checkpoint_reentrant(Region region, const void* context,
                                    std::vector<Tensor> arguments);
  Tensor replay_reentrant(BackwardCall& call);  // the backward rule of that kind
  void detach_gradient(TensorData* parameter);  // zero_grad(set_to_none=True) of one parameter

  // -- what ranks of a parallel run do beside (core/parallel)
  // Called when the parameter's gradient of this backward pass is in .grad.
  using GradientHook = void (*)(void* context, TensorData* parameter);
  void on_gradient(GradientHook hook, void* context) {
    gradient_hook_ = hook;
    hook_context_ = context;
  }
  // Called when a backward pass has run, before it returns.
  void on_backward_end(void (*hook)(void* context), void* context) {
    end_hook_ = hook;
    end_context_ = context;
  }
  // parameter.data = nothing: it stays what the model computes with, but its memory is another's.
  void give_up_data(const Tensor& parameter, Dtype dtype);
  // parameter.data = a part of `owner`.
  void share_data(const Tensor& parameter, const Tensor& owner);
  // parameter.grad = gradient.
  void set_gradient(TensorData* parameter, const Tensor& gradient);

  // -- autocast
  bool autocast_enabled() const { return autocast_on_; }
  Dtype autocast_dtype() const { return autocast_dtype_; }
  // Where the cast of this tensor is kept, null where it is not cached. Empty until it is made.
  Tensor* cached_cast(const Tensor& t);

 private:
  friend class Tensor;
  friend class Recording;
  friend class Within;
  friend class NoGrad;
  friend class WithoutAdapters;
  friend class Evaluating;
  friend class Autocast;
  friend class OnStream;
  friend struct Engine;

  struct Live {  // of a storage, while it lives
    std::uint32_t tensors = 0;
    std::uint32_t savers = 0;
  };

  Shape shape(int rank, Count a, Count b, Count c, Count d);
  std::uint32_t place(const char* path, std::size_t length);
  void enter(std::uint32_t place) { enter(place, layer_); }
  void enter(std::uint32_t place, std::int16_t layer);
  void leave();
  // Of a Recording. Tensors come one by one, so that they travel in registers.
  Node* begin(const Rule& rule, std::uint8_t count, TensorData* a, TensorData* b, TensorData* c,
              TensorData* d);
  void keep(Node* node, TensorData* tensor);
  void hold(Node* node, TensorData* tensor);
  void put_out(Node* node, std::uint8_t slot, TensorData* data);
  void put_out(Node* node, std::uint8_t count, TensorData* a, TensorData* b, TensorData* c,
               TensorData* d);
  void end(Node* node);
  Tensor wrap(std::uint32_t storage, Shape shape, Dtype dtype);
  void log(Event::Kind kind, std::uint32_t id) {
    const bool ends = kind == Event::Kind::kFree || kind == Event::Kind::kUnsave;
    if (!ends) {
      if (record_.events.size() > settled_ + 1) settle_ends();
      settled_ = record_.events.size() + 1;
    }
    record_.events.push_back({kind, id});
  }
  void settle_ends();
  void release(TensorData* data);
  void release(Node* node);
  void release(Frame* frame);
  void drain();
  Tensor save_copy(const TensorData& t, const Rule& rule);
  void save_into(Node& node, const TensorData& t);
  void clear_saved(Node& node);
  Node* accumulating_node(TensorData* parameter);
  Tensor unpack(Saved& saved);
  void recompute(Frame& frame);
  Tensor detached(const Tensor& t);
  Node* leaf_node(const Rule& rule);
  Frame* open_frame(Region region, const void* context, std::vector<Tensor> arguments);
  void backward_within(std::vector<Root> roots);

  Workings& workings_;
  const Device& device_;
  Record record_;
  std::vector<Live> live_;
  std::size_t settled_ = 0;  // events before this one stand in their final order
  Pool<TensorData> tensors_;
  Pool<Node> nodes_;
  Pool<Frame> frames_;
  std::vector<Node*> dead_nodes_;
  bool draining_ = false;

  std::uint32_t sequence_ = 0;
  std::uint32_t place_ = 0;
  std::int16_t layer_ = -1;
  struct Place {
    std::uint32_t place;
    std::int16_t layer;
  };
  std::vector<Place> places_;       // to which we come back
  const Rule* rule_ = nullptr;      // operator that is running
  std::vector<const Rule*> rules_;  // those around it
  bool in_backward_rule_ = false;   // its backward is
  const char* next_name_ = nullptr;
  bool grad_enabled_ = true;
  bool adapters_enabled_ = true;
  bool evaluates_ = false;
  bool backward_thread_ = false;
  std::uint8_t stream_ = 0;
  GradientHook gradient_hook_ = nullptr;
  void* hook_context_ = nullptr;
  void (*end_hook_)(void* context) = nullptr;
  void* end_context_ = nullptr;
  std::array<Tensor, 2> workspaces_;  // of the forward and of the backward thread
  std::vector<Frame*> recording_;     // regions being run for the first time
  std::vector<Frame*> replaying_;     // regions being recomputed
  bool stopped_ = false;              // the replay has all it needs; what follows makes phantoms
  std::uint32_t tasks_ = 0;

  bool autocast_on_ = false;
  Dtype autocast_dtype_ = Dtype::kBFloat16;
  int autocast_depth_ = 0;
  std::vector<Tensor> cast_cache_;
  std::uint32_t cast_epoch_ = 1;
};

inline Recording::Recording(Tape& tape, const Rule& rule, const Operands& in)
    : tape_(tape), node_(tape.begin(rule, in.count, in.a, in.b, in.c, in.d)) {}
inline Recording::~Recording() { tape_.end(node_); }
inline void Recording::save(const Tensor& t) { tape_.keep(node_, t.get()); }
inline void Recording::keep(const Tensor& t) { tape_.hold(node_, t.get()); }
inline void Recording::outputs(const Operands& out) {
  tape_.put_out(node_, out.count, out.a, out.b, out.c, out.d);
}

// Names the place in the model, and the layer, of what is made while it lives.
class Within {
 public:
  [[gnu::always_inline]] Within(Tape& tape, std::uint32_t place) : tape_(tape) {
    tape.enter(place);
  }
  [[gnu::always_inline]] Within(Tape& tape, std::uint32_t place, std::int16_t layer) : tape_(tape) {
    tape.enter(place, layer);
  }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
  [[gnu::always_inline]] ~Within() { tape_.leave(); }

 private:
  Tape& tape_;
};

// torch.cuda.stream(): what is made while it lives is taken from that stream's pool.
class OnStream {
 public:
  OnStream(Tape& tape, std::uint8_t stream) : tape_(tape), before_(tape.stream_) {
    tape.stream_ = stream;
  }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;
  ~OnStream() { tape_.stream_ = before_; }

 private:
  Tape& tape_;
  std::uint8_t before_;
};

// torch.no_grad().
class NoGrad {
 public:
  explicit NoGrad(Tape& tape) : tape_(tape), before_(tape.grad_enabled_) {
    tape.grad_enabled_ = false;
  }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
  ~NoGrad() { tape_.grad_enabled_ = before_; }

 private:
  Tape& tape_;
  bool before_;
};

// peft's disable_adapter(): linears run as if they had none.
class WithoutAdapters {
 public:
  WithoutAdapters(Tape& tape, bool without) : tape_(tape), before_(tape.adapters_enabled_) {
    tape.adapters_enabled_ = before_ && !without;
  }
  WithoutAdapters(const WithoutAdapters&) = delete;
  WithoutAdapters& operator=(const WithoutAdapters&) = delete;
  ~WithoutAdapters() { tape_.adapters_enabled_ = before_; }

 private:
  Tape& tape_;
  bool before_;
};

// model.eval() until model.train(): nothing is dropped out.
class Evaluating {
 public:
  explicit Evaluating(Tape& tape) : tape_(tape) { tape.evaluates_ = true; }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;
  ~Evaluating() { tape_.evaluates_ = false; }

 private:
  Tape& tape_;
};

// torch.autocast. The cache of cast weights lives until the outermost context is left.
class Autocast {
 public:
  Autocast(Tape& tape, bool on, Dtype dtype);
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast();

 private:
  Tape& tape_;
  bool on_before_;
  Dtype dtype_before_;
};

}  // namespace ledger
