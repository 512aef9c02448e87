// Sources: transformers cache_utils.py, models/deepseek_v3, models/qwen3_next; the same sizes are
// in vLLM's vllm/v1/kv_cache_interface.py (AttentionSpec, MLAAttentionSpec).
#include "core/serving/cache_plan.hpp"

#include <algorithm>

namespace ledger::serving {
namespace {

constexpr const char* kFull = "keys and values";
constexpr const char* kWindowed = "keys and values within a window";
constexpr const char* kLatent = "latent of keys and values";
constexpr const char* kState = "state of linear attention";

// So many layers of one kind: the letter where it is all of them.
Count layers_of(const models::DecoderConfig& c, double number) {
  return number == c.layers.value() ? c.layers : Count(number);
}

CacheKind state_of(const models::DecoderConfig& c, double layers, Dtype dtype, Workings& w) {
  const models::DeltaConfig& d = c.delta;
  const Count channels = Count(2) * d.key_heads * d.key_width + d.value_heads * d.value_width;
  const Bytes convolution = w.shape({channels, d.kernel}).bytes(dtype);
  const Bytes recurrent =
      w.shape({d.value_heads, d.key_width, d.value_width}).bytes(Dtype::kFloat32);
  CacheKind kind{kState, layers_of(c, layers), {}, 0, {}, "transformers: models/qwen3_next"};
  kind.fixed = (convolution + recurrent) * kind.layers;
  return kind;
}

}  // namespace

double CacheKind::of_sequence(double tokens) const {
  const double kept = window.value() > 0 ? std::min(tokens, window.value()) : tokens;
  return per_token.value() * kept + fixed.value();
}

std::vector<CacheKind> cache_kinds(const models::DecoderConfig& c, Dtype dtype, bool one_byte,
                                   Workings& w) {
  const Dtype stored = one_byte ? Dtype::kUint8 : dtype;
  double full = 0, windowed = 0, linear = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.layers.value()); ++i) {
    const bool is_linear = i < c.delta.linear.size() && c.delta.linear[i];
    const bool looks_back = i < c.windowed.size() && c.windowed[i] && c.window.value() > 0;
    (is_linear ? linear : looks_back ? windowed : full) += 1;
  }
  std::vector<CacheKind> kinds;
  const models::LatentConfig& l = c.latent;
  const bool latent = l.key_value_rank.value() > 0;
  const Bytes of_layer = latent
                             ? w.shape({l.key_value_rank + l.rotated_width}).bytes(stored)
                             : w.shape({Count(2), c.key_value_heads, c.head_width}).bytes(stored);
  const char* source = latent ? "transformers: models/deepseek_v3, DeepseekV3Attention"
                              : "transformers/cache_utils.py: DynamicLayer";
  if (full > 0) {
    const Count layers = layers_of(c, full);
    kinds.push_back({latent ? kLatent : kFull, layers, of_layer * layers, 0, {}, source});
  }
  if (windowed > 0) {
    const Count layers = layers_of(c, windowed);
    kinds.push_back({kWindowed,
                     layers,
                     of_layer * layers,
                     c.window,
                     {},
                     "transformers/cache_utils.py: DynamicSlidingWindowLayer"});
  }
  if (linear > 0) kinds.push_back(state_of(c, linear, dtype, w));
  return kinds;
}

Bytes bytes_per_token(const std::vector<CacheKind>& kinds) {
  Bytes sum;
  bool first = true;
  for (const CacheKind& kind : kinds) {
    if (kind.per_token.value() == 0) continue;
    sum = first ? kind.per_token : sum + kind.per_token;
    first = false;
  }
  return sum;
}

double of_sequence(const std::vector<CacheKind>& kinds, double tokens) {
  double sum = 0;
  for (const CacheKind& kind : kinds) sum += kind.of_sequence(tokens);
  return sum;
}

}  // namespace ledger::serving
