// Runs the statements of an optimizer's row: names that bind tensors, as in its Python source.
#include <cstdint>
#include <utility>

#include "core/training/optimizer_step.hpp"

namespace ledger::training {
namespace {

Shape shape_of(Tape& t, const Tensor& parameter, Elements elements) {
  const Count n = parameter.shape().elements();
  switch (elements) {
    case Elements::kAsParameter: break;
    case Elements::kOne: return t.shape({1});
    case Elements::kTwice: return t.shape({2, n});
    case Elements::kHalf: return t.shape({n / 2});
    case Elements::kPerBlock: return t.shape({ceil_div(n, 256)});
    case Elements::kTwicePerBlock: return t.shape({2, ceil_div(n, 256)});
    case Elements::kCodes: return t.shape({256});
    case Elements::kFewCodes: return t.shape({16});
  }
  return parameter.shape();
}

Dtype dtype_of(const Tensor& parameter, ElementType type) {
  switch (type) {
    case ElementType::kAsParameter: break;
    case ElementType::kUint8: return Dtype::kUint8;
    case ElementType::kFloat32: return Dtype::kFloat32;
    case ElementType::kInt64: return Dtype::kInt64;
  }
  return parameter.dtype();
}

bool is_large(const OptimizerRow& row, const Tensor& parameter) {
  const double n = parameter.shape().elements().value();
  const LowBit& low = row.low_bit;
  const auto rest = static_cast<std::int64_t>(n) % static_cast<std::int64_t>(low.multiple_of);
  return low.min_elements > 0 && n >= low.min_elements && rest == 0;
}

bool concerns(const Tape& t, const OptimizerRow& row, Which which, const Tensor& parameter) {
  switch (which) {
    case Which::kAll: return true;
    case Which::kLarge: return is_large(row, parameter);
    case Which::kSmall: return !is_large(row, parameter);
    case Which::kSixteenBit: return in_sixteen_bit(parameter.dtype());
    case Which::kThirtyTwoBit: return parameter.dtype() == Dtype::kFloat32;
    case Which::kLargeRagged: {
      const auto width = static_cast<std::int64_t>(parameter.shape().last().value());
      return is_large(row, parameter) && width % 256 != 0;
    }
    case Which::kLargeFew: {
      const double blocks = parameter.shape().elements().value() / 256;
      return is_large(row, parameter) && blocks < 64 * t.device().multiprocessors;
    }
  }
  return true;
}

bool holds(const Step& s, const Statement& statement) {
  if (!statement.only_if.empty() && s.arg(statement.only_if) == 0) return false;
  for (const std::string_view name : statement.unless) {
    if (s.arg(name) != 0) return false;
  }
  return true;
}

// A name and what it is bound to: one tensor, or a list of one for each parameter.
struct Name {
  std::string_view name;
  std::vector<Tensor> bound;
};

// Lists die from their end, as Python's do.
void let_go(std::vector<Tensor>& tensors) {
  while (!tensors.empty()) tensors.pop_back();
}

class Names {
 public:
  void bind(std::string_view name, std::vector<Tensor> made) {
    Name* known = find(name);
    if (known) {
      std::swap(known->bound, made);
      let_go(made);
    } else {
      names_.push_back({name, std::move(made)});
    }
  }
  void drop(std::string_view name) {
    if (Name* known = find(name)) let_go(known->bound);
  }
  void drop_all() {
    for (Name& n : names_) let_go(n.bound);
  }

 private:
  Name* find(std::string_view name) {
    for (Name& n : names_) {
      if (n.name == name) return &n;
    }
    return nullptr;
  }
  std::vector<Name> names_;
};

void run_for(Step& s, const OptimizerRow& row, const std::vector<std::size_t>& group,
             Names& names) {
  for (const Statement& statement : row.work.statements) {
    if (!holds(s, statement)) continue;
    if (statement.kind == Statement::Kind::kDrop) {
      names.drop(statement.name);
      continue;
    }
    std::vector<Tensor> made;
    for (const std::size_t i : group) {
      const Tensor& p = s.parameters[i];
      if (statement.kind == Statement::Kind::kState) {
        if (s.first()) make_state(s, row, i);
      } else if (concerns(s.t, row, statement.of, p)) {
        made.push_back(beside(s.t, p, shape_of(s.t, p, statement.elements),
                              dtype_of(p, statement.type), statement.what.data(), Role::kScratch));
      }
    }
    if (statement.kind == Statement::Kind::kState) continue;
    names.drop(statement.uses_up);
    names.bind(statement.name, std::move(made));
  }
}

}  // namespace

double make_state(Step& s, const OptimizerRow& row, std::size_t parameter, bool in_full_bits) {
  const Tensor& p = s.parameters[parameter];
  const bool paged = row.paged_from > 0 && p.shape().elements().value() >= row.paged_from;
  double paged_bytes = 0;
  for (const StateTensor& tensor : row.state) {
    if (in_full_bits ? tensor.of == Which::kLarge : !concerns(s.t, row, tensor.of, p)) continue;
    if (!tensor.only_if.empty() && s.arg(tensor.only_if) == 0) continue;
    const Shape shape = shape_of(s.t, p, tensor.elements);
    const Dtype dtype = dtype_of(p, tensor.type);
    if (paged && tensor.paged) {
      paged_bytes += shape.bytes(dtype).value();
    } else {
      s.state[parameter].push_back(beside(s.t, p, shape, dtype, tensor.name.data(), Role::kState));
    }
  }
  return paged_bytes;
}

void run_statements(Step& s, const OptimizerRow& row, const std::vector<std::size_t>& chosen) {
  if (row.work.kind == StepWork::Kind::kForEach) {
    for (const Dtype dtype : {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32}) {
      std::vector<std::size_t> group;
      for (const std::size_t i : chosen) {
        if (s.parameters[i].dtype() == dtype) group.push_back(i);
      }
      Names names;
      run_for(s, row, group, names);
      names.drop_all();
    }
    return;
  }
  Names names;
  for (const std::size_t i : chosen) {
    run_for(s, row, {i}, names);
    if (row.work.kind == StepWork::Kind::kFunction) names.drop_all();
  }
  names.drop_all();
}

}  // namespace ledger::training
