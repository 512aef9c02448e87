// The words of tracebacks that tell a tensor; the last before the message counts most.
#include "core/explain/hints.hpp"

#include <algorithm>

namespace ledger::message {
namespace {

constexpr std::array kKinds = {
    KindRow{Kind::kOther, "other", "a tensor of an operator"},
    KindRow{Kind::kWeight, "weight", "a weight"},
    KindRow{Kind::kWeightCopy, "weight_copy", "a copy of a weight in another type"},
    KindRow{Kind::kCheckpointCopy, "checkpoint_copy", "a copy of a weight for the checkpoint"},
    KindRow{Kind::kGradient, "gradient", "the gradient of a weight"},
    KindRow{Kind::kOptimizerState, "optimizer_state", "state of the optimizer"},
    KindRow{Kind::kOptimizerTemporary, "optimizer_temporary",
            "working space of the optimizer's step"},
    KindRow{Kind::kLogits, "logits", "logits, their copies or their gradient"},
    KindRow{Kind::kScores, "attention_scores", "scores of attention, or what is made of them"},
    KindRow{Kind::kMask, "mask", "a mask of attention"},
    KindRow{Kind::kMlp, "mlp_activation", "activations of the feed-forward width"},
    KindRow{Kind::kHidden, "hidden_states", "activations of the hidden width"},
    KindRow{Kind::kCache, "kv_cache", "cached keys and values"},
    KindRow{Kind::kBuffer, "buffer", "a buffer that holds several tensors"},
};

struct HintRow {
  const char* words;
  Moment moment;
  Kind kind;
};
constexpr std::array kHints = {
    HintRow{"failed to clone()", Moment::kSave, Kind::kCheckpointCopy},
    HintRow{"save_pretrained", Moment::kSave, Kind::kCheckpointCopy},
    HintRow{"save_checkpoint", Moment::kSave, Kind::kCheckpointCopy},
    HintRow{"_save_to_state_dict", Moment::kSave, Kind::kCheckpointCopy},
    HintRow{"model.state_dict()", Moment::kSave, Kind::kCheckpointCopy},
    HintRow{"summon_full_params", Moment::kSave, Kind::kCheckpointCopy},
    HintRow{"_foreach_sqrt", Moment::kStep, Kind::kOptimizerTemporary},
    HintRow{"_foreach_", Moment::kStep, Kind::kOptimizerTemporary},
    HintRow{"_init_group", Moment::kStep, Kind::kOptimizerState},
    HintRow{"initialize_optimizer_states", Moment::kStep, Kind::kOptimizerState},
    HintRow{"exp_avg_sq\"]=torch.zeros", Moment::kStep, Kind::kOptimizerState},
    HintRow{"exp_avg_sq']=torch.zeros", Moment::kStep, Kind::kOptimizerState},
    HintRow{"exp_avg\"]=torch.zeros", Moment::kStep, Kind::kOptimizerState},
    HintRow{"exp_avg']=torch.zeros", Moment::kStep, Kind::kOptimizerState},
    HintRow{"optimizer.step(", Moment::kStep, Kind::kOther},
    HintRow{"loss.backward(", Moment::kBackward, Kind::kOther},
    HintRow{"run_backward(", Moment::kBackward, Kind::kOther},
    HintRow{"accelerator.backward(", Moment::kBackward, Kind::kOther},
    HintRow{"cross_entropy", Moment::kAny, Kind::kLogits},
    HintRow{"crossentropyloss", Moment::kAny, Kind::kLogits},
    HintRow{"log_softmax", Moment::kAny, Kind::kLogits},
    HintRow{"logits.float()", Moment::kAny, Kind::kLogits},
    HintRow{"log_probs(", Moment::kAny, Kind::kLogits},
    HintRow{"lm_head(", Moment::kAny, Kind::kLogits},
    HintRow{"softmax(attn_weights", Moment::kAny, Kind::kScores},
    HintRow{"softmax(scores", Moment::kAny, Kind::kScores},
    HintRow{"attn_weights=torch.matmul", Moment::kAny, Kind::kScores},
    HintRow{"torch.matmul(query", Moment::kAny, Kind::kScores},
    HintRow{"self_attention/", Moment::kAny, Kind::kScores},
    HintRow{"down_proj(", Moment::kAny, Kind::kMlp},
    HintRow{"act_fn(", Moment::kAny, Kind::kMlp},
    HintRow{"gelu(", Moment::kAny, Kind::kMlp},
    HintRow{"silu(", Moment::kAny, Kind::kMlp},
    HintRow{"loading checkpoint shards", Moment::kLoad, Kind::kOther},
    HintRow{"_load_state_dict_into", Moment::kLoad, Kind::kOther},
    HintRow{"from_pretrained(", Moment::kLoad, Kind::kOther},
    HintRow{"model.to(", Moment::kLoad, Kind::kOther},
    HintRow{"model.cuda(", Moment::kLoad, Kind::kOther},
    HintRow{"model.half(", Moment::kLoad, Kind::kOther},
    HintRow{".to('cuda')", Moment::kLoad, Kind::kOther},
    HintRow{"alloc_tensor_range", Moment::kLoad, Kind::kBuffer},
    HintRow{"buffer for kv cache", Moment::kLoad, Kind::kCache},
    HintRow{"kv cache is needed", Moment::kAny, Kind::kCache},
    HintRow{"generate(", Moment::kGenerate, Kind::kOther},
};

// What people write beside a message, in its own line; nothing of this is sought in logs.
constexpr std::array kTold = {
    HintRow{"<checkpoint save", Moment::kSave, Kind::kCheckpointCopy},
    HintRow{"<saving", Moment::kSave, Kind::kCheckpointCopy},
    HintRow{"<save>", Moment::kSave, Kind::kCheckpointCopy},
    HintRow{"<optimizer step", Moment::kStep, Kind::kOther},
    HintRow{"<loss>", Moment::kAny, Kind::kLogits},
    HintRow{"<backward>", Moment::kBackward, Kind::kOther},
    HintRow{"<forward>", Moment::kForward, Kind::kOther},
    HintRow{"<construction>", Moment::kLoad, Kind::kOther},
    HintRow{"<loading", Moment::kLoad, Kind::kOther},
    HintRow{"<load>", Moment::kLoad, Kind::kOther},
};

// "...mlp.gate_proj.weight": a path of a module that ends in weight or bias.
std::string parameter_in(const Squeezed& s, const Message& m) {
  const std::string_view region(s.text.data() + m.begin, m.end - m.begin);
  for (const std::string_view end : {std::string_view(".weight"), std::string_view(".bias")}) {
    const std::size_t at = region.find(end);
    if (at == region.npos) continue;
    std::size_t begin = m.begin + at;
    while (begin > m.begin && s.gap[begin] == Gap::kNone &&
           (is_letter(s.text[begin - 1]) || is_digit(s.text[begin - 1]) ||
            s.text[begin - 1] == '_' || s.text[begin - 1] == '.'))
      --begin;
    while (s.text[begin] == '.') ++begin;
    return s.text.substr(begin, m.begin + at + end.size() - begin);
  }
  return {};
}

}  // namespace

const KindRow& row_of(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

Hints hints_of(const Squeezed& s, const Message& m, std::size_t earliest) {
  constexpr std::size_t kTraceback = 6000;  // characters
  Hints out;
  const std::size_t from = std::max(earliest, m.begin > kTraceback ? m.begin - kTraceback : 0);
  out.name = !m.tensor.empty() ? m.tensor : parameter_in(s, m);
  const auto take = [&out](const HintRow& row) {
    if (out.kind == Kind::kOther && row.kind != Kind::kOther) {
      out.kind = row.kind;
      if (out.words.empty()) out.words = row.words;
    }
    if (out.moment == Moment::kAny && row.moment != Moment::kAny) {
      out.moment = row.moment;
      if (out.words.empty()) out.words = row.words;
    }
  };
  // Of functions that call each other the innermost stands last.
  for (std::size_t i = m.end; i-- > from;) {
    if (i >= s.size()) continue;
    for (const HintRow& row : kHints) {
      if (s.text[i] != row.words[0] || !stands_at(s, i, row.words)) continue;
      take(row);
      break;
    }
    if (out.kind != Kind::kOther && out.moment != Moment::kAny) return out;
  }
  constexpr std::size_t kLine = 400;  // characters of the message that may tell it
  for (const HintRow& row : kTold) {
    if (stands_within(s, m.begin, std::min(m.end, m.begin + kLine), row.words)) take(row);
  }
  return out;
}

}  // namespace ledger::message
