// The rotary embedding: its tables, made once a forward pass, and its use on queries and keys.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/models/decoder.hpp"
#include "core/ops/cast.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layout.hpp"

namespace ledger::models {
namespace {

Tensor rotate_half(Tape& t, Tensor x) {
  const Count half = x.shape().last() / 2;
  Tensor first = ops::narrow_last(t, x, half);
  Tensor second = ops::narrow_last(t, x, half);
  Tensor negated = ops::negate(t, second);
  return ops::concatenate(t.as("rotated halves"), std::move(negated), first);
}

}  // namespace

Tensor rotate(Tape& t, Tensor x, const Tensor& cos, const Tensor& sin, const char* what) {
  Tensor straight = ops::mul(t.as("times cos"), x, cos);
  Tensor turned = rotate_half(t, x);
  Tensor crossed = ops::mul(t.as("rotated halves times sin"), std::move(turned), sin);
  return ops::add(t.as(what), std::move(straight), std::move(crossed));
}

namespace {

// How the inverse frequencies come about, operator by operator: `+r7` makes temporary number 7,
// `-7` drops it. r: a 32-bit number a frequency, i: a 64-bit one, b: a truth value, s: one 64-bit
// number. What is not dropped is the result. Read off PyTorch 2.14.1 with transformers 5.18
// (modeling_rope_utils.py); it matters only for the holes that it leaves among small blocks.
struct Construction {
  std::string_view rope_type;
  std::string_view steps;
};

constexpr std::array kConstructions = {
    Construction{"default", "+r0 +r1 -0 +r2 +s3 -3 -1 +r4 +r5 -4 -2"},
    Construction{"llama3",
                 "+i0 +r1 -0 +r2 -1 +r3 +s4 -4 -2 +r5 +r6 -5 -3 +r7 +r8 -7 +b9 +r10 +r11 -9 -10 "
                 "+r12 +r13 -12 +r14 -13 +r15 -14 +r16 +r17 -16 +r18 -17 +r19 +r20 -18 -19 +b21 "
                 "+b22 -21 +b23 +b24 -23 +b25 -22 -24 +r26 -11 -6 -8 -15 -20 -25"},
    Construction{"yarn",
                 "+i0 +r1 -0 +r2 -1 +r3 +s4 -4 -2 +r5 +r6 -5 +r7 +r8 +r9 -8 -7 +r10 +r11 -10 +r12 "
                 "-11 +r13 -12 +r14 -13 +r15 +r16 -15 +r17 +r18 -16 -17 -3 -6 -9 -14"},
    Construction{"linear", "+i0 +r1 -0 +r2 -1 +r3 +s4 -4 -2 +r5 +r6 -5 -3"},
    Construction{"dynamic", "+i0 +r1 -0 +r2 -1 +r3 +s4 -4 -2 +r5 +r6 -5 -3"},
    Construction{"longrope", "+r0 +i1 +r2 -1 +r3 -2 +r4 +s5 -5 +r6 -4 +r7 +r8 -7 -6 -0 -3"},
};

Tensor inverse_frequencies(Tape& t, Count frequencies, std::string_view rope_type) {
  std::string_view steps = kConstructions[0].steps;
  for (const Construction& c : kConstructions) {
    if (c.rope_type == rope_type) steps = c.steps;
  }
  std::vector<Tensor> made;  // temporary n is made as the n-th
  std::size_t at = 0;
  while (at < steps.size()) {
    const std::size_t end = std::min(steps.find(' ', at), steps.size());
    const std::string_view step = steps.substr(at, end - at);
    at = end + 1;
    if (step[0] == '+') {
      const char kind = step[1];
      const Shape shape = t.shape({kind == 's' ? Count(1) : frequencies});
      const Dtype dtype = kind == 'r'   ? Dtype::kFloat32
                          : kind == 'b' ? Dtype::kBool
                                        : Dtype::kInt64;
      made.push_back(t.make(shape, dtype, "inverse frequencies", Role::kBuffer));
    } else {
      std::size_t number = 0;
      for (const char digit : step.substr(1))
        number = number * 10 + static_cast<std::size_t>(digit - '0');
      made[number].reset();
    }
  }
  for (Tensor& left : made) {
    if (left) return left;
  }
  return {};
}

// Layers with a window of their own rotation come second; theirs is of the default type.
std::vector<std::string_view> kinds_of(const DecoderConfig& c) {
  if (!c.windows_rotate_otherwise) return {c.rope_type};
  std::vector<std::string_view> kinds;
  const auto windowed = std::count(c.windowed.begin(), c.windowed.end(), true);
  if (windowed < static_cast<std::ptrdiff_t>(c.windowed.size())) kinds.push_back(c.rope_type);
  if (windowed > 0) kinds.push_back("default");
  return kinds;
}

}  // namespace

void make_rotary_buffers(Tape& t, Decoder& model) {
  const Within here(t, t.place("rotary_emb"), -1);
  const Count frequencies = model.config.rotary_width / 2;
  for (const std::string_view kind : kinds_of(model.config)) {
    model.buffers.push_back(inverse_frequencies(t, frequencies, kind));
    model.buffers.push_back(t.make(t.shape({frequencies}), Dtype::kFloat32,
                                   "inverse frequencies, original", Role::kBuffer));
  }
}

void initialise_rotary_buffers(Tape& t, const Decoder& model) {
  const Within here(t, t.place("rotary_emb"), -1);
  Tensor current;
  for (const std::string_view kind : kinds_of(model.config)) {
    current = inverse_frequencies(t, model.config.rotary_width / 2, kind);
  }
}

RotaryTables rotary_tables(Tape& t, Count length, Count width, Dtype dtype) {
  return rotary_tables(t, 1, length, width, dtype);
}

RotaryTables rotary_tables(Tape& t, Count batch, Count length, Count width, Dtype dtype) {
  const Within here(t, t.place("rotary_emb"), -1);
  const NoGrad no_grad(t);
  Tensor positions = t.scratch(t.shape({batch, 1, length}), Dtype::kFloat32, "positions in 32 bit");
  Tensor angles = t.output(t.shape({batch, width / 2, length}), Dtype::kFloat32, "angles");
  const Shape shape = t.shape({batch, length, width});
  Tensor both = t.output(shape, Dtype::kFloat32, "angles, twice side by side");
  Tensor cos = t.output(shape, Dtype::kFloat32, "cos");
  cos = t.output(shape, Dtype::kFloat32, "cos, scaled");
  Tensor sin = t.output(shape, Dtype::kFloat32, "sin");
  sin = t.output(shape, Dtype::kFloat32, "sin, scaled");
  Tensor cos_table = ops::to(t.as("cos table"), cos, dtype);
  Tensor sin_table = ops::to(t.as("sin table"), sin, dtype);
  return {std::move(cos_table), std::move(sin_table)};
}

Tensor rotate_pairs(Tape& t, const Tensor& first, const Tensor& second, const Tensor& cos,
                    const Tensor& sin, const char* what) {
  Tensor straight = ops::mul(t.as("first of each pair times cos"), first, cos);
  Tensor crossed = ops::mul(t.as("second of each pair times sin"), second, sin);
  Tensor one = ops::subtract(t.as("rotated firsts"), std::move(straight), std::move(crossed));
  straight = ops::mul(t.as("second of each pair times cos"), second, cos);
  crossed = ops::mul(t.as("first of each pair times sin"), first, sin);
  Tensor other = ops::add(t.as("rotated seconds"), std::move(straight), std::move(crossed));
  return ops::concatenate(t.as(what), std::move(one), std::move(other));
}

void rotate_partly(DecoderConfig& c, const ModelConfig& config, Workings& workings) {
  const double width = std::floor(c.head_width.value() * config.number("partial_rotary_factor"));
  if (width == c.head_width.value()) return;
  c.rotary_width = workings.named("d_r", width);
  c.blocks.rotate = apply_partial_rotary;
}

Rotated apply_rotary(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin) {
  Tensor rotated_q = rotate(t, q, cos, sin, "query states, rotated");
  Tensor rotated_k = rotate(t, k, cos, sin, "key states, rotated");
  return {std::move(rotated_q), std::move(rotated_k)};
}

// As much of each head as the tables are wide is rotated, then the rest put beside it again.
Rotated apply_partial_rotary(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin) {
  const Count width = cos.shape().last(), rest = q.shape().last() - width;
  Tensor part_q = ops::narrow_last(t, q, width);
  Tensor rest_q = ops::narrow_last(t, q, rest);
  Tensor part_k = ops::narrow_last(t, k, width);
  Tensor rest_k = ops::narrow_last(t, k, rest);
  Tensor turned_q = rotate(t, part_q, cos, sin, "query states, rotated part");
  Tensor turned_k = rotate(t, part_k, cos, sin, "key states, rotated part");
  turned_q = ops::concatenate(t.as("query states, rotated"), turned_q, rest_q);
  turned_k = ops::concatenate(t.as("key states, rotated"), turned_k, rest_k);
  return {std::move(turned_q), std::move(turned_k)};
}

// The same inside the attention function, whose names hold the parts to its end.
Rotated apply_partial_rotary_inline(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin) {
  const Count width = cos.shape().last(), rest = q.shape().last() - width;
  Tensor part_q = ops::narrow_last(t, q, width);
  Tensor rest_q = ops::narrow_last(t, q, rest);
  Tensor part_k = ops::narrow_last(t, k, width);
  Tensor rest_k = ops::narrow_last(t, k, rest);
  Rotated parts = apply_rotary(t, std::move(part_q), std::move(part_k), cos, sin);
  Tensor joined_q = ops::concatenate(t.as("query states, rotated"), parts.q, rest_q);
  Tensor joined_k = ops::concatenate(t.as("key states, rotated"), parts.k, rest_k);
  return {std::move(joined_q),
          std::move(joined_k),
          {std::move(parts.q), std::move(parts.k), std::move(rest_q), std::move(rest_k)}};
}

}  // namespace ledger::models
