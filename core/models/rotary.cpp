// The rotary embedding: its tables, made once a forward pass, and its use on queries and keys.
#include <algorithm>
#include <array>

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

Tensor rotate(Tape& t, Tensor x, const Tensor& cos, const Tensor& sin, const char* what) {
  Tensor straight = ops::mul(t.as("times cos"), x, cos);
  Tensor turned = rotate_half(t, x);
  Tensor crossed = ops::mul(t.as("rotated halves times sin"), std::move(turned), sin);
  return ops::add(t.as(what), std::move(straight), std::move(crossed));
}

// How the inverse frequencies come about, operator by operator: `+r7` makes temporary number 7, `-7`
// drops it. r: a 32-bit number a frequency, i: a 64-bit one, b: a truth value, s: one 64-bit number.
// What is not dropped stays. The second half is _init_weights, which computes them again.
// Read off PyTorch 2.14.1 with transformers 5.18 (modeling_rope_utils.py); it matters only for the
// holes that it leaves among small blocks.
struct Construction {
  std::string_view rope_type;
  std::string_view steps;
};

constexpr std::array kConstructions = {
    Construction{"default",
                 "+r0 +r1 -0 +r2 +s3 -3 -1 +r4 +r5 -4 -2 +r6 +r7 +r8 -7 +r9 +s10 -10 -8 +r11 +r12 "
                 "-11 -9 -12"},
    Construction{"llama3",
                 "+i0 +r1 -0 +r2 -1 +r3 +s4 -4 -2 +r5 +r6 -5 -3 +r7 +r8 -7 +b9 +r10 +r11 -9 -10 "
                 "+r12 +r13 -12 +r14 -13 +r15 -14 +r16 +r17 -16 +r18 -17 +r19 +r20 -18 -19 +b21 "
                 "+b22 -21 +b23 +b24 -23 +b25 -22 -24 +r26 -11 -6 -8 -15 -20 -25 +r27 +i28 +r29 "
                 "-28 +r30 -29 +r31 +s32 -32 -30 +r33 +r34 -33 -31 +r35 +r36 -35 +b37 +r38 +r39 "
                 "-37 -38 +r40 +r41 -40 +r42 -41 +r43 -42 +r44 +r45 -44 +r46 -45 +r47 +r48 -46 "
                 "-47 +b49 +b50 -49 +b51 +b52 -51 +b53 -50 -52 +r54 -39 -34 -36 -43 -48 -53 -54"},
    Construction{"yarn",
                 "+i0 +r1 -0 +r2 -1 +r3 +s4 -4 -2 +r5 +r6 -5 +r7 +r8 +r9 -8 -7 +r10 +r11 -10 +r12 "
                 "-11 +r13 -12 +r14 -13 +r15 +r16 -15 +r17 +r18 -16 -17 -3 -6 -9 -14 +r19 +i20 "
                 "+r21 -20 +r22 -21 +r23 +s24 -24 -22 +r25 +r26 -25 +r27 +r28 +r29 -28 -27 +r30 "
                 "+r31 -30 +r32 -31 +r33 -32 +r34 -33 +r35 +r36 -35 +r37 +r38 -36 -37 -23 -26 -29 "
                 "-34 -38"},
    Construction{"linear",
                 "+i0 +r1 -0 +r2 -1 +r3 +s4 -4 -2 +r5 +r6 -5 -3 +r7 +i8 +r9 -8 +r10 -9 +r11 +s12 "
                 "-12 -10 +r13 +r14 -13 -11 -14"},
};

}  // namespace

void make_rotary_buffers(Tape& t, Decoder& model) {
  const Within here(t, t.place("rotary_emb"), -1);
  const Count frequencies = model.config.rotary_width / 2;
  std::string_view steps = kConstructions[0].steps;
  for (const Construction& c : kConstructions) {
    if (c.rope_type == model.config.rope_type) steps = c.steps;
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
      const Dtype dtype = kind == 'r' ? Dtype::kFloat32 : kind == 'b' ? Dtype::kBool : Dtype::kInt64;
      made.push_back(t.make(shape, dtype, "inverse frequencies", Role::kBuffer));
    } else {
      std::size_t number = 0;
      for (const char digit : step.substr(1)) number = number * 10 + static_cast<std::size_t>(digit - '0');
      made[number].reset();
    }
  }
  for (Tensor& t_made : made) {
    if (t_made) model.buffers.push_back(std::move(t_made));
  }
}

RotaryTables rotary_tables(Tape& t, Count length, Count width, Dtype dtype) {
  const Within here(t, t.place("rotary_emb"), -1);
  const NoGrad no_grad(t);
  Tensor positions = t.scratch(t.shape({1, 1, length}), Dtype::kFloat32, "positions in 32 bit");
  Tensor angles = t.output(t.shape({1, width / 2, length}), Dtype::kFloat32, "angles");
  const Shape shape = t.shape({1, length, width});
  Tensor both = t.output(shape, Dtype::kFloat32, "angles, twice side by side");
  Tensor cos = t.output(shape, Dtype::kFloat32, "cos");
  cos = t.output(shape, Dtype::kFloat32, "cos, scaled");
  Tensor sin = t.output(shape, Dtype::kFloat32, "sin");
  sin = t.output(shape, Dtype::kFloat32, "sin, scaled");
  Tensor cos_table = ops::to(t.as("cos table"), cos, dtype);
  Tensor sin_table = ops::to(t.as("sin table"), sin, dtype);
  return {std::move(cos_table), std::move(sin_table)};
}

Rotated apply_rotary(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin) {
  Tensor rotated_q = rotate(t, q, cos, sin, "query states, rotated");
  Tensor rotated_k = rotate(t, k, cos, sin, "key states, rotated");
  return {std::move(rotated_q), std::move(rotated_k)};
}

}  // namespace ledger::models
