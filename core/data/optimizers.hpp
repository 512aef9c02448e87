// The optimizers: one row each. To add one, add a row; menu, checks, ledger and catalogue follow.
//
// A row says which tensors the optimizer keeps from step to step (state) and which it makes for a
// moment within a step (work). Names are those of transformers' `optim`; sources are lines to read
// in the optimizer's own code. core/training/optimizers.cpp turns rows into allocations.
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

// A tensor kept per trainable parameter, on the device.
struct StateTensor {
  enum class Elements : std::uint8_t { kAsParameter, kOne };
  enum class Type : std::uint8_t { kAsParameter, kFloat32 };
  std::string_view name;  // the key in the optimizer's state, e.g. "exp_avg"
  Elements elements = Elements::kAsParameter;
  Type type = Type::kAsParameter;
};

// When the state is allocated: in the first step, parameter by parameter, or before any forward.
enum class StateCreated : std::uint8_t { kAtFirstStep, kByConstructor };

// Tensors that live only within a step. `tensors` names them in the order they are made; each has
// the shape and dtype of the parameter it belongs to.
//   kNone     nothing.
//   kForEach  each named tensor is made for all parameters of one dtype at once; all of them live
//             until that group is done.
//   kSingle   parameters are taken one at a time; every named tensor but the last dies before the
//             next parameter, the last one only once its successor exists (Python rebinds the
//             name).
struct StepWork {
  enum class Kind : std::uint8_t { kNone, kForEach, kSingle };
  Kind kind = Kind::kNone;
  Few<std::string_view, 4> tensors;
};

// One key of `optim_args` that the row accepts. Flags are 0 and 1.
struct OptimizerArg {
  enum class Kind : std::uint8_t { kFlag, kNumber };
  std::string_view name;
  Kind kind = Kind::kFlag;
  double otherwise = 0;  // the library's default
  double min = 0, max = 1;
};

// Rows may share `optim`; the first one whose condition holds for the arguments is meant.
struct OptimizerCondition {
  enum class Test : std::uint8_t { kAlways, kEquals, kAbove };
  Test test = Test::kAlways;
  std::string_view arg;
  double value = 0;
  double example = value;  // what the menu sets; fulfils the condition
};

struct OptimizerRow {
  std::string_view optim;    // as in TrainingArguments.optim
  std::string_view variant;  // tells rows of one `optim` apart; empty for the plain one
  std::string_view what;     // for the menu
  OptimizerCondition when;
  Few<OptimizerArg, 4> args;
  Few<StateTensor, 4> state;
  StateCreated created = StateCreated::kAtFirstStep;
  StepWork work;
  std::string_view source;
};

inline constexpr std::array kOptimizers = {
    OptimizerRow{
        .optim = "adamw_torch_fused",
        .what = "AdamW, one fused kernel",
        .state = {{"step", StateTensor::Elements::kOne, StateTensor::Type::kFloat32},
                  {"exp_avg"},
                  {"exp_avg_sq"}},
        .source = "torch/optim/adam.py _init_group, _fused_adam",
    },
    OptimizerRow{
        .optim = "adamw_torch",
        .variant = "foreach=false",
        .what = "AdamW, one parameter at a time",
        .when = {OptimizerCondition::Test::kEquals, "foreach", 0},
        .args = {{"foreach", OptimizerArg::Kind::kFlag, 1}},
        .state = {{"exp_avg"}, {"exp_avg_sq"}},
        .work = {StepWork::Kind::kSingle, {"square root of exp_avg_sq", "denominator"}},
        .source = "torch/optim/adam.py _single_tensor_adam",
    },
    OptimizerRow{
        .optim = "adamw_torch",
        .what = "AdamW, for-each kernels",
        .args = {{"foreach", OptimizerArg::Kind::kFlag, 1}},
        .state = {{"exp_avg"}, {"exp_avg_sq"}},
        .work = {StepWork::Kind::kForEach, {"square root of exp_avg_sq"}},
        .source = "torch/optim/adam.py _multi_tensor_adam",
    },
    OptimizerRow{
        .optim = "sgd",
        .variant = "momentum",
        .what = "SGD with momentum",
        .when = {OptimizerCondition::Test::kAbove, "momentum", 0, 0.9},
        .args = {{"momentum", OptimizerArg::Kind::kNumber, 0, 0, 1}},
        .state = {{"momentum_buffer"}},
        .source =
            "torch/optim/sgd.py _multi_tensor_sgd (the buffer starts as a copy of the gradient)",
    },
    OptimizerRow{
        .optim = "sgd",
        .what = "SGD",
        .args = {{"momentum", OptimizerArg::Kind::kNumber, 0, 0, 1}},
        .source = "torch/optim/sgd.py _multi_tensor_sgd",
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
