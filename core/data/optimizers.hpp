// The optimizers: one row each. To add one, add a row; menu, checks, ledger and catalogue follow.
//
// A row says which tensors the optimizer keeps from step to step (state) and which it makes for a
// moment within a step (work). Work is a list of statements: the lines of the optimizer's own
// Python that allocate, in order, under the names that they bind. Only a step that is a program of
// its own (loops, projections) is a function in core/training. Names are those of transformers'
// `optim`; sources are files to read. docs/rules/optimizers.md tells how each was found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace ledger {

// A short list that can stand in a constant table.
template <class T, std::size_t capacity>
struct Few {
  std::array<T, capacity> items{};
  std::size_t count = 0;

  constexpr Few() = default;
  constexpr Few(std::initializer_list<T> given) {
    for (const T& item : given) items[count++] = item;
  }
  constexpr std::size_t size() const { return count; }
  constexpr const T* begin() const { return items.data(); }
  constexpr const T* end() const { return items.data() + count; }
  constexpr const T& operator[](std::size_t i) const { return items[i]; }
};

// A view of a constant table, so that rows may share one.
template <class T>
struct Listed {
  const T* first = nullptr;
  std::size_t count = 0;

  constexpr Listed() = default;
  template <std::size_t n>
  constexpr Listed(const T (&table)[n]) : first(table), count(n) {}
  constexpr std::size_t size() const { return count; }
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
};

// How many elements a tensor has that belongs to a parameter of n elements.
enum class Elements : std::uint8_t {
  kAsParameter,    // n, in the parameter's shape
  kOne,            // 1
  kTwice,          // 2 n
  kHalf,           // n / 2: two values of four bits in a byte
  kPerBlock,       // one for each 256
  kTwicePerBlock,  // two for each 256
  kCodes,          // 256: a map from codes of eight bits to values
  kFewCodes,       // 16: the same for codes of four bits
};

enum class ElementType : std::uint8_t { kAsParameter, kUint8, kFloat32, kInt64 };

// For which parameters.
enum class Which : std::uint8_t {
  kAll,
  kLarge,         // those that OptimizerRow::low_bit admits
  kSmall,         // all others
  kSixteenBit,    // float16 or bfloat16
  kThirtyTwoBit,  // float32
  kLargeRagged,   // large, and rows are not whole blocks of 256
  kLargeFew,      // large, with fewer blocks than 64 for each multiprocessor
};

// A tensor kept per trainable parameter.
struct StateTensor {
  std::string_view name{};  // the key in the optimizer's state, e.g. "exp_avg"
  Elements elements = Elements::kAsParameter;
  ElementType type = ElementType::kAsParameter;
  Which of = Which::kAll;
  std::string_view only_if{};  // an argument that must not be 0
  bool paged = false;          // see OptimizerRow::paged_from
};

// When the state is allocated: parameter by parameter before the work of the first step, before any
// forward pass, or by the statement of the work that says so.
enum class StateCreated : std::uint8_t { kAtFirstStep, kByConstructor, kWithinStep };

// One line of an optimizer's step that allocates or frees.
struct Statement {
  enum class Kind : std::uint8_t {
    kMake,   // makes a tensor and binds it to the name; what the name held dies after that
    kDrop,   // the name lets go
    kState,  // first step only: the state's tensors
  };
  Kind kind = Kind::kMake;
  std::string_view name{};  // in the source
  std::string_view what{};  // for people
  Elements elements = Elements::kAsParameter;
  ElementType type = ElementType::kAsParameter;
  Which of = Which::kAll;
  Few<std::string_view, 2> unless{};  // arguments that must be 0
  std::string_view only_if{};         // an argument that must not be 0
  std::string_view uses_up{};         // this name's tensor dies as soon as the new one exists
};

struct StepWork {
  enum class Kind : std::uint8_t {
    kNone,      // the kernel updates in place
    kForEach,   // every statement is done for all parameters of one dtype; names die after that
    kSingle,    // parameter by parameter; a name holds its tensor until it is bound again
    kFunction,  // parameter by parameter, each in a call of its own: names die with it
    // Functions in core/training:
    kAdafactor,
    kAdafactorTorch,
    kMuon,
    kGrokAdamw,
    kGalore,
    kApollo,
  };
  Kind kind = Kind::kNone;
  Listed<Statement> statements{};
};

// One key of `optim_args` that the row accepts. Flags are 0 and 1, choices their index.
struct OptimizerArg {
  enum class Kind : std::uint8_t { kFlag, kNumber, kChoice };
  std::string_view name{};
  Kind kind = Kind::kFlag;
  double otherwise = 0;  // the library's default
  double min = 0, max = 1;
  Few<std::string_view, 2> choices{};
  std::string_view needs{};  // an argument without which the library refuses this one
};

// Rows may share `optim`; the first one whose condition holds for the arguments is meant.
struct OptimizerCondition {
  enum class Test : std::uint8_t { kAlways, kEquals, kAbove };
  Test test = Test::kAlways;
  std::string_view arg{};
  double value = 0;
  double example = value;  // what the menu sets; fulfils the condition
};

// A parameter's state is kept in few bits if it has at least so many elements, a multiple of the
// other. 0 and 1: no parameter's is.
struct LowBit {
  double min_elements = 0;
  double multiple_of = 1;
};

// Parameters of so many elements are stepped on the host by torchao's CPUOffloadOptimizer.
inline constexpr double kOffloadedFrom = 4096;

struct OptimizerRow {
  std::string_view optim{};    // as in TrainingArguments.optim
  std::string_view variant{};  // tells rows of one `optim` apart; empty for the plain one
  std::string_view what{};     // for the menu
  OptimizerCondition when{};
  Listed<OptimizerArg> args{};
  Listed<StateTensor> state{};
  LowBit low_bit{};
  int maps = 0;           // maps of 256 values in float32 that all parameters share
  double paged_from = 0;  // state of so many elements lies in managed memory; 0: none does
  StateCreated created = StateCreated::kAtFirstStep;
  StepWork work{};
  bool bfloat16 = true;  // false: the kernels refuse gradients of that type
  std::string_view source{};
  std::string_view assumption{};  // what a report says of the figures of this row
};

// -- arguments

inline constexpr OptimizerArg kAmsgrad{"amsgrad"};
inline constexpr OptimizerArg kForeach{"foreach", OptimizerArg::Kind::kFlag, 1};
inline constexpr OptimizerArg kMaximize{"maximize"};
inline constexpr OptimizerArg kWeightDecay{"weight_decay", OptimizerArg::Kind::kNumber, 0, 0, 1e3};
inline constexpr OptimizerArg kMomentum{"momentum", OptimizerArg::Kind::kNumber, 0, 0, 1};
inline constexpr OptimizerArg kRank{"rank", OptimizerArg::Kind::kNumber, 128, 1, 1e6};
inline constexpr OptimizerArg kImplementation{
    "implementation", OptimizerArg::Kind::kChoice, 0, 0, 1, {"transformers", "torch"}};

inline constexpr OptimizerArg kFusedAdamArgs[] = {kAmsgrad, {"cpu_offload"}};
inline constexpr OptimizerArg kAdamArgs[] = {kForeach, kAmsgrad, kMaximize};
inline constexpr OptimizerArg kSgdArgs[] = {
    kMomentum,
    {"nesterov", OptimizerArg::Kind::kFlag, 0, 0, 1, {}, "momentum"},
    kWeightDecay,
    kMaximize,
    kForeach,
    {"fused"},
    {"dampening", OptimizerArg::Kind::kNumber, 0, 0, 1}};  // allocates nothing
inline constexpr OptimizerArg kRmspropArgs[] = {
    kMomentum, {"centered"}, kWeightDecay, kMaximize, kForeach};
inline constexpr OptimizerArg kAdagradArgs[] = {kWeightDecay, kMaximize, kForeach, {"fused"}};
inline constexpr OptimizerArg kAdafactorArgs[] = {
    kImplementation,
    kMaximize,                                           // torch's only
    {"beta1", OptimizerArg::Kind::kNumber, 0, 0, 1},     // transformers' only
    {"scale_parameter", OptimizerArg::Kind::kFlag, 1}};  // transformers' only
inline constexpr OptimizerArg kScheduleFreeArgs[] = {kForeach};
inline constexpr OptimizerArg kMuonArgs[] = {{"nesterov", OptimizerArg::Kind::kFlag, 1},
                                             {"ns_steps", OptimizerArg::Kind::kNumber, 5, 0, 99}};
inline constexpr OptimizerArg kGaloreArgs[] = {
    kRank, {"update_proj_gap", OptimizerArg::Kind::kNumber, 200, 1, 1e9}};
inline constexpr OptimizerArg kApolloArgs[] = {
    kRank,
    {"scale_type", OptimizerArg::Kind::kChoice, 0, 0, 1, {"channel", "tensor"}},
    {"update_proj_gap", OptimizerArg::Kind::kNumber, 200, 1, 1e9}};

// -- state

inline constexpr StateTensor kFusedAdamState[] = {{"step", Elements::kOne, ElementType::kFloat32},
                                                  {"exp_avg"},
                                                  {"exp_avg_sq"},
                                                  {.name = "max_exp_avg_sq", .only_if = "amsgrad"}};
inline constexpr StateTensor kOffloadedAdamState[] = {
    {"step", Elements::kOne, ElementType::kFloat32, Which::kSmall},
    {.name = "exp_avg", .of = Which::kSmall},
    {.name = "exp_avg_sq", .of = Which::kSmall}};
inline constexpr StateTensor kAdamState[] = {
    {"exp_avg"}, {"exp_avg_sq"}, {.name = "max_exp_avg_sq", .only_if = "amsgrad"}};
inline constexpr StateTensor kSgdState[] = {{.name = "momentum_buffer", .only_if = "momentum"}};
inline constexpr StateTensor kRmspropState[] = {{"square_avg"},
                                                {.name = "momentum_buffer", .only_if = "momentum"},
                                                {.name = "grad_avg", .only_if = "centered"}};
inline constexpr StateTensor kAdagradState[] = {
    {.name = "step", .elements = Elements::kOne, .type = ElementType::kFloat32, .only_if = "fused"},
    {"sum"}};
inline constexpr StateTensor kScheduleFreeAdamState[] = {{"z"}, {"exp_avg_sq"}};
inline constexpr StateTensor kScheduleFreeSgdState[] = {{"z"}};
inline constexpr StateTensor kStableAdamState[] = {
    {"exp_avg"},
    {"exp_avg_sq"},
    {"eps_sq", Elements::kOne},
    {.name = "kahan_comp", .of = Which::kSixteenBit},
    {"kahan_comp", Elements::kOne, ElementType::kUint8, Which::kThirtyTwoBit},
    {"mean_square", Elements::kOne, ElementType::kFloat32}};

// bitsandbytes: 32 bit, or 8 bit with the largest magnitude of each 256 in float32.
inline constexpr StateTensor kOneState32[] = {
    {.name = "state1", .type = ElementType::kFloat32, .paged = true}};
inline constexpr StateTensor kTwoStates32[] = {
    {.name = "state1", .type = ElementType::kFloat32, .paged = true},
    {.name = "state2", .type = ElementType::kFloat32, .paged = true}};
inline constexpr StateTensor kAdemamix32[] = {
    {"state1", Elements::kTwice, ElementType::kFloat32, Which::kAll, {}, true},
    {"state2", Elements::kAsParameter, ElementType::kFloat32, Which::kAll, {}, true}};
inline constexpr StateTensor kOneState8[] = {
    {"state1", Elements::kAsParameter, ElementType::kUint8, Which::kLarge, {}, true},
    {"absmax1", Elements::kPerBlock, ElementType::kFloat32, Which::kLarge},
    {"state1", Elements::kAsParameter, ElementType::kFloat32, Which::kSmall, {}, true}};
inline constexpr StateTensor kTwoStates8[] = {
    {"state1", Elements::kAsParameter, ElementType::kUint8, Which::kLarge, {}, true},
    {"state2", Elements::kAsParameter, ElementType::kUint8, Which::kLarge, {}, true},
    {"absmax1", Elements::kPerBlock, ElementType::kFloat32, Which::kLarge},
    {"absmax2", Elements::kPerBlock, ElementType::kFloat32, Which::kLarge},
    {"state1", Elements::kAsParameter, ElementType::kFloat32, Which::kSmall, {}, true},
    {"state2", Elements::kAsParameter, ElementType::kFloat32, Which::kSmall, {}, true}};
inline constexpr StateTensor kAdemamix8[] = {
    {"absmax1", Elements::kTwicePerBlock, ElementType::kFloat32, Which::kLarge},
    {"absmax2", Elements::kPerBlock, ElementType::kFloat32, Which::kLarge},
    {"state1", Elements::kTwice, ElementType::kUint8, Which::kLarge, {}, true},
    {"state2", Elements::kAsParameter, ElementType::kUint8, Which::kLarge, {}, true},
    {"state1", Elements::kTwice, ElementType::kFloat32, Which::kSmall, {}, true},
    {"state2", Elements::kAsParameter, ElementType::kFloat32, Which::kSmall, {}, true}};

// torchao: codes, scales of blocks of 256, and a map for each tensor of state.
inline constexpr StateTensor kTorchao8[] = {
    {"exp_avg codes", Elements::kAsParameter, ElementType::kUint8, Which::kLarge},
    {"exp_avg scale", Elements::kPerBlock, ElementType::kFloat32, Which::kLarge},
    {"exp_avg qmap", Elements::kCodes, ElementType::kFloat32, Which::kLarge},
    {"exp_avg_sq codes", Elements::kAsParameter, ElementType::kUint8, Which::kLarge},
    {"exp_avg_sq scale", Elements::kPerBlock, ElementType::kFloat32, Which::kLarge},
    {"exp_avg_sq qmap", Elements::kCodes, ElementType::kFloat32, Which::kLarge},
    {.name = "exp_avg", .of = Which::kSmall},
    {.name = "exp_avg_sq", .of = Which::kSmall}};
inline constexpr StateTensor kTorchao4[] = {
    {"exp_avg codes", Elements::kHalf, ElementType::kUint8, Which::kLarge},
    {"exp_avg scale", Elements::kPerBlock, ElementType::kFloat32, Which::kLarge},
    {"exp_avg qmap", Elements::kFewCodes, ElementType::kFloat32, Which::kLarge},
    {"exp_avg_sq codes", Elements::kHalf, ElementType::kUint8, Which::kLarge},
    {"exp_avg_sq scale", Elements::kPerBlock, ElementType::kFloat32, Which::kLarge},
    {"exp_avg_sq qmap", Elements::kFewCodes, ElementType::kFloat32, Which::kLarge},
    {.name = "exp_avg", .of = Which::kSmall},
    {.name = "exp_avg_sq", .of = Which::kSmall}};

// -- work

inline constexpr Statement kAdamForEach[] = {
    {.name = "device_grads", .what = "negated gradient", .only_if = "maximize"},
    {.kind = Statement::Kind::kDrop, .name = "device_grads"},
    {.name = "exp_avg_sq_sqrt", .what = "square root of exp_avg_sq"}};
inline constexpr Statement kAdamSingle[] = {
    {.name = "grad", .what = "negated gradient", .only_if = "maximize"},
    {.name = "(sqrt)", .what = "square root of exp_avg_sq"},
    {.name = "denom", .what = "denominator", .uses_up = "(sqrt)"}};
inline constexpr Statement kSgdForEach[] = {
    {.name = "device_grads", .what = "negated gradient", .only_if = "maximize"},
    {.name = "device_grads",
     .what = "gradient with weight decay",
     .unless = {"maximize"},
     .only_if = "weight_decay"},
    {.kind = Statement::Kind::kState}};
inline constexpr Statement kSgdFused[] = {{.kind = Statement::Kind::kState}};
inline constexpr Statement kSgdSingle[] = {
    {.kind = Statement::Kind::kDrop, .name = "grad", .unless = {"maximize"}},
    {.name = "grad", .what = "negated gradient", .only_if = "maximize"},
    {.name = "grad", .what = "gradient with weight decay", .only_if = "weight_decay"},
    {.kind = Statement::Kind::kState},
    {.name = "grad", .what = "gradient with momentum", .only_if = "nesterov"},
    {.kind = Statement::Kind::kDrop,
     .name = "grad",
     .unless = {"nesterov"},
     .only_if = "momentum"}};
inline constexpr Statement kRmspropForEach[] = {
    {.name = "grouped_grads", .what = "negated gradient", .only_if = "maximize"},
    {.name = "grouped_grads",
     .what = "gradient with weight decay",
     .unless = {"maximize"},
     .only_if = "weight_decay"},
    {.name = "avg", .what = "square root of square_avg"}};
inline constexpr Statement kRmspropSingle[] = {
    {.kind = Statement::Kind::kDrop, .name = "grad"},
    {.name = "grad", .what = "negated gradient", .only_if = "maximize"},
    {.name = "grad", .what = "gradient with weight decay", .only_if = "weight_decay"},
    {.name = "avg", .what = "square root of square_avg"}};
inline constexpr Statement kAdagradForEach[] = {
    {.name = "device_grads", .what = "negated gradient", .only_if = "maximize"},
    {.name = "device_grads",
     .what = "gradient with weight decay",
     .unless = {"maximize"},
     .only_if = "weight_decay"},
    {.name = "std", .what = "square root of sum"},
    {.name = "numerator", .what = "scaled gradient", .unless = {"maximize", "weight_decay"}}};
inline constexpr Statement kAdagradSingle[] = {
    {.kind = Statement::Kind::kDrop, .name = "grad"},
    {.name = "grad", .what = "negated gradient", .only_if = "maximize"},
    {.name = "grad", .what = "gradient with weight decay", .only_if = "weight_decay"},
    {.name = "std", .what = "square root of sum"}};
inline constexpr Statement kScheduleFreeAdamWork[] = {{.name = "denom", .what = "denominator"}};
// What the kernels that Inductor makes of single_param_adam keep outside registers. In 8 bit, one
// kernel does all where rows are whole blocks. In 4 bit, magnitudes of few blocks are found in two
// steps (torch/_inductor/choices.py reduction_split_factor).
inline constexpr Statement kTorchao8Work[] = {
    {.kind = Statement::Kind::kState},
    {.name = "buf0",
     .what = "largest magnitude of each block of exp_avg",
     .elements = Elements::kPerBlock,
     .type = ElementType::kFloat32,
     .of = Which::kLargeRagged},
    {.name = "buf1",
     .what = "largest magnitude of each block of exp_avg_sq",
     .elements = Elements::kPerBlock,
     .type = ElementType::kFloat32,
     .of = Which::kLargeRagged},
    {.name = "buf2",
     .what = "scaled exp_avg",
     .type = ElementType::kFloat32,
     .of = Which::kLargeRagged},
    {.name = "buf3",
     .what = "scaled exp_avg_sq",
     .type = ElementType::kFloat32,
     .of = Which::kLargeRagged}};
inline constexpr Statement kTorchao4Work[] = {
    {.kind = Statement::Kind::kState},
    {.name = "buf0",
     .what = "largest magnitude of each half block of exp_avg",
     .elements = Elements::kTwicePerBlock,
     .type = ElementType::kFloat32,
     .of = Which::kLargeFew},
    {.name = "buf1",
     .what = "largest magnitude of each half block of exp_avg_sq",
     .elements = Elements::kTwicePerBlock,
     .type = ElementType::kFloat32,
     .of = Which::kLargeFew},
    {.name = "buf2",
     .what = "largest magnitude of each block of exp_avg",
     .elements = Elements::kPerBlock,
     .type = ElementType::kFloat32,
     .of = Which::kLarge,
     .uses_up = "buf0"},
    {.name = "buf3",
     .what = "largest magnitude of each block of exp_avg_sq",
     .elements = Elements::kPerBlock,
     .type = ElementType::kFloat32,
     .of = Which::kLarge,
     .uses_up = "buf1"},
    {.name = "buf4", .what = "scaled exp_avg", .type = ElementType::kFloat32, .of = Which::kLarge},
    {.name = "buf5",
     .what = "scaled exp_avg_sq",
     .type = ElementType::kFloat32,
     .of = Which::kLarge},
    {.name = "buf6",
     .what = "codes of exp_avg before packing",
     .type = ElementType::kInt64,
     .of = Which::kLarge},
    {.name = "buf7",
     .what = "codes of exp_avg_sq before packing",
     .type = ElementType::kInt64,
     .of = Which::kLarge}};

inline constexpr LowBit kBitsandbytes8{4096, 1};  // min_8bit_size
inline constexpr LowBit kTorchaoBlocks{4096, 256};
inline constexpr double kPagedFrom = 100000;
inline constexpr std::string_view kManaged =
    "State of large tensors lies in managed memory, outside PyTorch's allocator, and is not in "
    "these figures: the driver moves it between host and device.";
inline constexpr std::string_view kCompiled =
    "The step is compiled; what the compiler allocates for trials in the first step is not "
    "counted.";
inline constexpr std::string_view kBitsandbytes = "bitsandbytes/optim/optimizer.py init_state";

// Rows of one `optim` stand side by side.
inline constexpr std::array kOptimizers = {
    OptimizerRow{
        .optim = "adamw_torch_fused",
        .variant = "cpu_offload",
        .what = "AdamW on the host: torchao's CPUOffloadOptimizer",
        .when = {OptimizerCondition::Test::kEquals, "cpu_offload", 1},
        .args = kFusedAdamArgs,
        .state = kOffloadedAdamState,
        .low_bit = {kOffloadedFrom},
        .source = "torchao/optim/cpu_offload.py (offload_gradients false)",
    },
    OptimizerRow{
        .optim = "adamw_torch_fused",
        .what = "AdamW, one fused kernel",
        .args = kFusedAdamArgs,
        .state = kFusedAdamState,
        .source = "torch/optim/adam.py _init_group, _fused_adam",
    },
    OptimizerRow{
        .optim = "adamw_torch",
        .variant = "foreach=false",
        .what = "AdamW, one parameter at a time",
        .when = {OptimizerCondition::Test::kEquals, "foreach", 0},
        .args = kAdamArgs,
        .state = kAdamState,
        .work = {StepWork::Kind::kSingle, kAdamSingle},
        .source = "torch/optim/adam.py _single_tensor_adam",
    },
    OptimizerRow{
        .optim = "adamw_torch",
        .what = "AdamW, for-each kernels",
        .args = kAdamArgs,
        .state = kAdamState,
        .work = {StepWork::Kind::kForEach, kAdamForEach},
        .source = "torch/optim/adam.py _multi_tensor_adam",
    },
    OptimizerRow{
        .optim = "adamw_8bit",
        .what = "AdamW, state in 8 bit",
        .state = kTwoStates8,
        .low_bit = kBitsandbytes8,
        .maps = 2,
        .source = kBitsandbytes,
    },
    OptimizerRow{
        .optim = "adamw_bnb_8bit",
        .what = "AdamW, state in 8 bit (the older name)",
        .state = kTwoStates8,
        .low_bit = kBitsandbytes8,
        .maps = 2,
        .source = kBitsandbytes,
    },
    OptimizerRow{
        .optim = "adamw_bnb_32bit",
        .what = "AdamW of bitsandbytes, state in 32 bit",
        .state = kTwoStates32,
        .source = kBitsandbytes,
    },
    OptimizerRow{
        .optim = "paged_adamw_8bit",
        .what = "AdamW, state in 8 bit, paged",
        .state = kTwoStates8,
        .low_bit = kBitsandbytes8,
        .maps = 2,
        .paged_from = kPagedFrom,
        .source = kBitsandbytes,
        .assumption = kManaged,
    },
    OptimizerRow{
        .optim = "paged_adamw_32bit",
        .what = "AdamW, state in 32 bit, paged",
        .state = kTwoStates32,
        .paged_from = kPagedFrom,
        .source = kBitsandbytes,
        .assumption = kManaged,
    },
    OptimizerRow{
        .optim = "adamw_torch_8bit",
        .what = "AdamW of torchao, state in 8 bit",
        .state = kTorchao8,
        .low_bit = kTorchaoBlocks,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kFunction, kTorchao8Work},
        .source = "torchao/optim/adam.py single_param_adam, compiled",
        .assumption = kCompiled,
    },
    OptimizerRow{
        .optim = "adamw_torch_4bit",
        .what = "AdamW of torchao, state in 4 bit",
        .state = kTorchao4,
        .low_bit = kTorchaoBlocks,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kFunction, kTorchao4Work},
        .source = "torchao/optim/adam.py single_param_adam, compiled",
        .assumption = kCompiled,
    },
    OptimizerRow{
        .optim = "adafactor",
        .variant = "implementation=torch",
        .what = "Adafactor of PyTorch: rows and columns of the second moment",
        .when = {OptimizerCondition::Test::kEquals, "implementation", 1},
        .args = kAdafactorArgs,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kAdafactorTorch, {}},
        .source = "torch/optim/_adafactor.py _single_tensor_adafactor",
    },
    OptimizerRow{
        .optim = "adafactor",
        .what = "Adafactor of transformers: rows and columns of the second moment",
        .args = kAdafactorArgs,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kAdafactor, {}},
        .source = "transformers/optimization.py Adafactor",
    },
    OptimizerRow{
        .optim = "adagrad",
        .variant = "fused",
        .what = "Adagrad, one fused kernel",
        .when = {OptimizerCondition::Test::kEquals, "fused", 1},
        .args = kAdagradArgs,
        .state = kAdagradState,
        .created = StateCreated::kByConstructor,
        .source = "torch/optim/adagrad.py __init__, _fused_adagrad",
    },
    OptimizerRow{
        .optim = "adagrad",
        .variant = "foreach=false",
        .what = "Adagrad, one parameter at a time",
        .when = {OptimizerCondition::Test::kEquals, "foreach", 0},
        .args = kAdagradArgs,
        .state = kAdagradState,
        .created = StateCreated::kByConstructor,
        .work = {StepWork::Kind::kSingle, kAdagradSingle},
        .source = "torch/optim/adagrad.py __init__, _single_tensor_adagrad",
    },
    OptimizerRow{
        .optim = "adagrad",
        .what = "Adagrad",
        .args = kAdagradArgs,
        .state = kAdagradState,
        .created = StateCreated::kByConstructor,
        .work = {StepWork::Kind::kForEach, kAdagradForEach},
        .source = "torch/optim/adagrad.py __init__, _multi_tensor_adagrad",
    },
    OptimizerRow{
        .optim = "ademamix",
        .what = "AdEMAMix, state in 32 bit",
        .state = kAdemamix32,
        .source = "bitsandbytes/optim/ademamix.py init_state",
    },
    OptimizerRow{
        .optim = "ademamix_8bit",
        .what = "AdEMAMix, state in 8 bit",
        .state = kAdemamix8,
        .low_bit = kBitsandbytes8,
        .maps = 2,
        .source = "bitsandbytes/optim/ademamix.py init_state",
    },
    OptimizerRow{
        .optim = "paged_ademamix_32bit",
        .what = "AdEMAMix, state in 32 bit, paged",
        .state = kAdemamix32,
        .paged_from = kPagedFrom,
        .source = "bitsandbytes/optim/ademamix.py init_state",
        .assumption = kManaged,
    },
    OptimizerRow{
        .optim = "paged_ademamix_8bit",
        .what = "AdEMAMix, state in 8 bit, paged",
        .state = kAdemamix8,
        .low_bit = kBitsandbytes8,
        .maps = 2,
        .paged_from = kPagedFrom,
        .source = "bitsandbytes/optim/ademamix.py init_state",
        .assumption = kManaged,
    },
    OptimizerRow{
        .optim = "apollo_adamw",
        .what = "APOLLO: AdamW on random projections of the linear layers' gradients",
        .args = kApolloArgs,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kApollo, {}},
        .source = "apollo_torch/apollo.py step",
        .assumption = "Projected are all linear layers; the norm-growth limiter is taken to act.",
    },
    OptimizerRow{
        .optim = "galore_adamw",
        .what = "GaLore: AdamW on projections of the linear layers' gradients",
        .args = kGaloreArgs,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kGalore, {}},
        .source = "galore_torch/adamw.py step",
        .assumption = "Projected are all linear layers. The workspace of cuSOLVER's singular value "
                      "decomposition is not known and not counted.",
    },
    OptimizerRow{
        .optim = "grokadamw",
        .what = "GrokAdamW, state on the host between steps",
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kGrokAdamw, {}},
        .source = "grokadamw/grokadamw.py _update_group",
        .assumption = "Between steps the state lies on the host and is not counted.",
    },
    OptimizerRow{
        .optim = "lion_8bit",
        .what = "Lion, state in 8 bit",
        .state = kOneState8,
        .low_bit = kBitsandbytes8,
        .maps = 1,
        .source = kBitsandbytes,
    },
    OptimizerRow{
        .optim = "lion_32bit",
        .what = "Lion, state in 32 bit",
        .state = kOneState32,
        .source = kBitsandbytes,
    },
    OptimizerRow{
        .optim = "paged_lion_8bit",
        .what = "Lion, state in 8 bit, paged",
        .state = kOneState8,
        .low_bit = kBitsandbytes8,
        .maps = 1,
        .paged_from = kPagedFrom,
        .source = kBitsandbytes,
        .assumption = kManaged,
    },
    OptimizerRow{
        .optim = "paged_lion_32bit",
        .what = "Lion, state in 32 bit, paged",
        .state = kOneState32,
        .paged_from = kPagedFrom,
        .source = kBitsandbytes,
        .assumption = kManaged,
    },
    OptimizerRow{
        .optim = "muon",
        .what = "Muon for the layers' matrices, AdamW for the rest",
        .args = kMuonArgs,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kMuon, {}},
        .source = "torch/optim/_muon.py _single_tensor_muon",
        .assumption =
            "Muon takes the matrices of the layers; AdamW (for-each) all other parameters.",
    },
    OptimizerRow{
        .optim = "rmsprop",
        .variant = "foreach=false",
        .what = "RMSprop, one parameter at a time",
        .when = {OptimizerCondition::Test::kEquals, "foreach", 0},
        .args = kRmspropArgs,
        .state = kRmspropState,
        .work = {StepWork::Kind::kSingle, kRmspropSingle},
        .source = "torch/optim/rmsprop.py _single_tensor_rmsprop",
    },
    OptimizerRow{
        .optim = "rmsprop",
        .what = "RMSprop",
        .args = kRmspropArgs,
        .state = kRmspropState,
        .work = {StepWork::Kind::kForEach, kRmspropForEach},
        .source = "torch/optim/rmsprop.py _multi_tensor_rmsprop",
    },
    OptimizerRow{
        .optim = "rmsprop_bnb",
        .what = "RMSprop of bitsandbytes",
        .state = kOneState32,
        .bfloat16 = false,
        .source = kBitsandbytes,
    },
    OptimizerRow{
        .optim = "rmsprop_bnb_32bit",
        .what = "RMSprop of bitsandbytes, state in 32 bit",
        .state = kOneState32,
        .bfloat16 = false,
        .source = kBitsandbytes,
    },
    OptimizerRow{
        .optim = "rmsprop_bnb_8bit",
        .what = "RMSprop of bitsandbytes, state in 8 bit",
        .state = kOneState8,
        .low_bit = kBitsandbytes8,
        .maps = 1,
        .bfloat16 = false,
        .source = kBitsandbytes,
    },
    OptimizerRow{
        .optim = "schedule_free_adamw",
        .variant = "foreach=false",
        .what = "Schedule-free AdamW, one parameter at a time",
        .when = {OptimizerCondition::Test::kEquals, "foreach", 0},
        .args = kScheduleFreeArgs,
        .state = kScheduleFreeAdamState,
        .work = {StepWork::Kind::kSingle, kScheduleFreeAdamWork},
        .source = "schedulefree/adamw_schedulefree.py step",
    },
    OptimizerRow{
        .optim = "schedule_free_adamw",
        .what = "Schedule-free AdamW",
        .args = kScheduleFreeArgs,
        .state = kScheduleFreeAdamState,
        .work = {StepWork::Kind::kForEach, kScheduleFreeAdamWork},
        .source = "schedulefree/adamw_schedulefree.py step",
    },
    OptimizerRow{
        .optim = "schedule_free_sgd",
        .what = "Schedule-free SGD",
        .state = kScheduleFreeSgdState,
        .source = "schedulefree/sgd_schedulefree.py step",
    },
    OptimizerRow{
        .optim = "sgd",
        .variant = "fused",
        .what = "SGD, one fused kernel",
        .when = {OptimizerCondition::Test::kEquals, "fused", 1},
        .args = kSgdArgs,
        .state = kSgdState,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kForEach, kSgdFused},
        .source = "torch/optim/sgd.py _fused_sgd",
    },
    OptimizerRow{
        .optim = "sgd",
        .variant = "foreach=false",
        .what = "SGD, one parameter at a time",
        .when = {OptimizerCondition::Test::kEquals, "foreach", 0},
        .args = kSgdArgs,
        .state = kSgdState,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kSingle, kSgdSingle},
        .source = "torch/optim/sgd.py _single_tensor_sgd",
    },
    OptimizerRow{
        .optim = "sgd",
        .variant = "momentum",
        .what = "SGD with momentum",
        .when = {OptimizerCondition::Test::kAbove, "momentum", 0, 0.9},
        .args = kSgdArgs,
        .state = kSgdState,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kForEach, kSgdForEach},
        .source =
            "torch/optim/sgd.py _multi_tensor_sgd (the buffer starts as a copy of the gradient)",
    },
    OptimizerRow{
        .optim = "sgd",
        .what = "SGD",
        .args = kSgdArgs,
        .state = kSgdState,
        .created = StateCreated::kWithinStep,
        .work = {StepWork::Kind::kForEach, kSgdForEach},
        .source = "torch/optim/sgd.py _multi_tensor_sgd",
    },
    OptimizerRow{
        .optim = "stable_adamw",
        .what = "StableAdamW of optimi, Triton kernels",
        .state = kStableAdamState,
        .source = "optimi/stableadamw.py _init_state, _triton_stableadamw",
    },
};

// The row that `optim` and its arguments select, or null. `arg` gives the value of an argument by
// name, defaults filled in.
template <class Arg>
constexpr const OptimizerRow* find_optimizer(std::string_view optim, Arg arg) {
  for (const OptimizerRow& row : kOptimizers) {
    if (row.optim != optim) continue;
    switch (row.when.test) {
      case OptimizerCondition::Test::kAlways: return &row;
      case OptimizerCondition::Test::kEquals:
        if (arg(row.when.arg) == row.when.value) return &row;
        break;
      case OptimizerCondition::Test::kAbove:
        if (arg(row.when.arg) > row.when.value) return &row;
        break;
    }
  }
  return nullptr;
}

}  // namespace ledger
