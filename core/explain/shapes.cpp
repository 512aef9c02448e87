// The table of shapes: factors by letter, and in which widths a tensor of that shape occurs.
#include "core/explain/shapes.hpp"

#include <array>

namespace ledger::message {
namespace {

constexpr Letter kEnd = Letter::S;  // no factor; multiprocessors make no shapes

struct WeightRow {
  const char* what;
  const char* names;
  double times;
  std::array<Letter, 4> letters;
};
constexpr std::array kWeights = {
    WeightRow{"embedding or head",
              " lm_head embed_tokens wte word_embeddings embed_in embed_out ",
              1,
              {Letter::V, Letter::d, kEnd, kEnd}},
    WeightRow{"matrix of the feed-forward",
              " gate_proj up_proj down_proj fc_in fc_out c_fc fc1 fc2 w1 w2 w3 dense_h_to_4h "
              "dense_4h_to_h intermediate ",
              1,
              {Letter::d, Letter::f, kEnd, kEnd}},
    WeightRow{"gate and up in one matrix",
              " gate_up_proj linear_fc1 wi ",
              2,
              {Letter::d, Letter::f, kEnd, kEnd}},
    WeightRow{"projection of queries, or of attention's output",
              " q_proj o_proj query out_proj wq wo dense ",
              1,
              {Letter::d, Letter::H, Letter::d_h, kEnd}},
    WeightRow{"projection of keys or values",
              " k_proj v_proj key value wk wv ",
              1,
              {Letter::d, Letter::H_kv, Letter::d_h, kEnd}},
    WeightRow{"an expert's matrix",
              " w1 w2 w3 gate_proj up_proj down_proj ",
              1,
              {Letter::d, Letter::f_e, kEnd, kEnd}},
    WeightRow{"an expert's gate and up in one matrix",
              " gate_up_proj linear_fc1 ",
              2,
              {Letter::d, Letter::f_e, kEnd, kEnd}},
    WeightRow{"all experts' matrices of one kind",
              " down_proj ",
              1,
              {Letter::E, Letter::d, Letter::f_e, kEnd}},
    WeightRow{
        "all experts' gate and up", " gate_up_proj ", 2, {Letter::E, Letter::d, Letter::f_e, kEnd}},
};

enum class Widths : std::uint8_t { kWeightAnd4, kWeight, kMask };

struct ActivationRow {
  Kind kind;
  const char* what;
  double times;
  std::array<Letter, 5> letters;
  Widths widths;
  bool by_token;  // linear in B · T
};
constexpr std::array kActivations = {
    ActivationRow{Kind::kLogits,
                  "logits",
                  1,
                  {Letter::B, Letter::T, Letter::V, kEnd, kEnd},
                  Widths::kWeightAnd4,
                  true},
    ActivationRow{Kind::kScores,
                  "scores of attention, or their softmax",
                  1,
                  {Letter::B, Letter::H, Letter::T, Letter::T, kEnd},
                  Widths::kWeightAnd4,
                  false},
    ActivationRow{Kind::kMlp,
                  "activations of the feed-forward",
                  1,
                  {Letter::B, Letter::T, Letter::f, kEnd, kEnd},
                  Widths::kWeightAnd4,
                  true},
    ActivationRow{Kind::kMlp,
                  "gate and up together",
                  2,
                  {Letter::B, Letter::T, Letter::f, kEnd, kEnd},
                  Widths::kWeight,
                  true},
    ActivationRow{Kind::kHidden,
                  "hidden states, or their gradient",
                  1,
                  {Letter::B, Letter::T, Letter::d, kEnd, kEnd},
                  Widths::kWeightAnd4,
                  true},
    ActivationRow{Kind::kHidden,
                  "queries of all heads",
                  1,
                  {Letter::B, Letter::T, Letter::H, Letter::d_h, kEnd},
                  Widths::kWeightAnd4,
                  true},
    ActivationRow{Kind::kMlp,
                  "activations of all chosen experts",
                  1,
                  {Letter::k, Letter::B, Letter::T, Letter::f_e, kEnd},
                  Widths::kWeight,
                  true},
    ActivationRow{Kind::kHidden,
                  "hidden states, once for each chosen expert",
                  1,
                  {Letter::k, Letter::B, Letter::T, Letter::d, kEnd},
                  Widths::kWeightAnd4,
                  true},
    ActivationRow{Kind::kMask,
                  "mask of attention",
                  1,
                  {Letter::B, Letter::T, Letter::T, kEnd, kEnd},
                  Widths::kMask,
                  false},
    ActivationRow{Kind::kCache,
                  "keys and values of one sequence in all layers",
                  2,
                  {Letter::L, Letter::H_kv, Letter::T, Letter::d_h, kEnd},
                  Widths::kWeight,
                  false},
    ActivationRow{Kind::kCache,
                  "keys or values of one layer",
                  1,
                  {Letter::B, Letter::H_kv, Letter::T, Letter::d_h, kEnd},
                  Widths::kWeight,
                  true},
};

template <std::size_t n>
Count product(const Case& c, double times, const std::array<Letter, n>& letters,
              bool without_tokens) {
  Count out = times;
  for (const Letter l : letters) {
    if (l == kEnd) break;
    if (c.value(l) <= 0) return 0;
    if (without_tokens && (l == Letter::B || l == Letter::T)) continue;
    out = out.value() == 1 && !out.working() ? c.letter(l) : out * c.letter(l);
  }
  return out;
}

}  // namespace

std::vector<ShapeBytes> shapes_of(Case& c) {
  std::vector<ShapeBytes> out;
  const auto add = [&](ShapeBytes shape) {
    if (shape.bytes.value() > 0 && shape.bytes.value() < 1e17) out.push_back(shape);
  };
  const auto w = static_cast<double>(c.width);
  const double other = c.width == 4 ? 2 : 4;
  for (const WeightRow& row : kWeights) {
    const Count elements = product(c, row.times, row.letters, false);
    if (elements.value() <= 0) continue;
    const auto role = [&](Kind kind, Moment moment, double width, bool usual) {
      add({kind, moment, row.what, "", row.names, Bytes(width) * elements, Bytes(), usual});
    };
    role(Kind::kWeight, Moment::kLoad, w, true);
    role(Kind::kWeight, Moment::kLoad, other, false);
    if (!c.adapters) {
      role(Kind::kGradient, Moment::kBackward, w, true);
      role(Kind::kOptimizerState, Moment::kStep, w, true);
      if (w != 4) role(Kind::kOptimizerState, Moment::kStep, 4, false);
      role(Kind::kOptimizerTemporary, Moment::kStep, w, true);
      if (w != 4) role(Kind::kOptimizerTemporary, Moment::kStep, 4, false);
    }
    role(Kind::kCheckpointCopy, Moment::kSave, w, true);
    if (w != 4) role(Kind::kCheckpointCopy, Moment::kSave, 4, false);
    role(Kind::kWeightCopy, Moment::kForward, other, false);
  }
  for (const ActivationRow& row : kActivations) {
    const Count elements = product(c, row.times, row.letters, false);
    if (elements.value() <= 0) continue;
    const Count each = row.by_token ? product(c, row.times, row.letters, true) : Count(0);
    const auto one = [&](double width, bool usual) {
      Bytes per_token;
      if (row.by_token) per_token = Bytes(width) * each;
      add({row.kind, Moment::kAny, row.what, "", "", Bytes(width) * elements, per_token, usual});
    };
    switch (row.widths) {
      case Widths::kWeight: one(w, true); break;
      case Widths::kWeightAnd4:
        if (row.kind == Kind::kLogits && w != 4) {
          one(4, true);  // losses work in 32 bit
          one(w, true);
        } else {
          one(w, true);
          one(other, false);
        }
        break;
      case Widths::kMask:
        one(w, true);
        one(1, false);
        break;
    }
  }
  return out;
}

}  // namespace ledger::message
