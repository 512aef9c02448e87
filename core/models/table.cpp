// The table of architectures, and what their configurations have in common.
#include <cmath>

#include "core/models/decoder.hpp"
#include "core/ops/activation.hpp"
#include "core/ops/elementwise.hpp"

namespace ledger::models {

DecoderConfig configure_bloom(const ModelConfig& config, Workings& workings);
DecoderConfig configure_falcon(const ModelConfig& config, Workings& workings);
DecoderConfig configure_gemma(const ModelConfig& config, Workings& workings);
DecoderConfig configure_gemma2(const ModelConfig& config, Workings& workings);
DecoderConfig configure_gemma3_text(const ModelConfig& config, Workings& workings);
DecoderConfig configure_gpt2(const ModelConfig& config, Workings& workings);
DecoderConfig configure_gpt_neox(const ModelConfig& config, Workings& workings);
DecoderConfig configure_granite(const ModelConfig& config, Workings& workings);
DecoderConfig configure_llama(const ModelConfig& config, Workings& workings);
DecoderConfig configure_mistral(const ModelConfig& config, Workings& workings);
DecoderConfig configure_olmo2(const ModelConfig& config, Workings& workings);
DecoderConfig configure_opt(const ModelConfig& config, Workings& workings);
DecoderConfig configure_phi(const ModelConfig& config, Workings& workings);
DecoderConfig configure_phi3(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen2(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen3(const ModelConfig& config, Workings& workings);
DecoderConfig configure_smollm3(const ModelConfig& config, Workings& workings);
DecoderConfig configure_stablelm(const ModelConfig& config, Workings& workings);

DecoderConfig configure_olmoe(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen3_moe(const ModelConfig& config, Workings& workings);
DecoderConfig configure_mixtral(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen2_moe(const ModelConfig& config, Workings& workings);
DecoderConfig configure_deepseek_v2(const ModelConfig& config, Workings& workings);
DecoderConfig configure_deepseek_v3(const ModelConfig& config, Workings& workings);
DecoderConfig configure_glm4_moe(const ModelConfig& config, Workings& workings);
DecoderConfig configure_gpt_oss(const ModelConfig& config, Workings& workings);
DecoderConfig configure_llama4_text(const ModelConfig& config, Workings& workings);
DecoderConfig configure_phimoe(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen3_next(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen3_5_text(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen3_5_moe_text(const ModelConfig& config, Workings& workings);
const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> table = {
      {"bloom", configure_bloom},
      {"falcon", configure_falcon},
      {"gemma", configure_gemma},
      {"gemma2", configure_gemma2},
      {"gemma3_text", configure_gemma3_text},
      {"gpt2", configure_gpt2},
      {"gpt_neox", configure_gpt_neox},
      {"granite", configure_granite},
      {"llama", configure_llama},
      {"mistral", configure_mistral},
      {"olmo2", configure_olmo2},
      {"opt", configure_opt},
      {"phi", configure_phi},
      {"phi3", configure_phi3},
      {"qwen2", configure_qwen2},
      {"qwen3", configure_qwen3},
      {"smollm3", configure_smollm3},
      {"olmoe", configure_olmoe},
      {"qwen3_moe", configure_qwen3_moe},
      {"mixtral", configure_mixtral},
      {"qwen2_moe", configure_qwen2_moe},
      {"deepseek_v2", configure_deepseek_v2},
      {"deepseek_v3", configure_deepseek_v3},
      {"glm4_moe", configure_glm4_moe},
      {"gpt_oss", configure_gpt_oss},
      {"llama4_text", configure_llama4_text},
      {"phimoe", configure_phimoe},
      {"qwen3_next", configure_qwen3_next},
      {"qwen3_5_text", configure_qwen3_5_text},
      {"qwen3_5_moe_text", configure_qwen3_5_moe_text},
      {"stablelm", configure_stablelm},
  };
  return table;
}

const Architecture* find_architecture(std::string_view model_type) {
  for (const Architecture& a : architectures()) {
    if (a.model_type == model_type) return &a;
  }
  return nullptr;
}

DecoderConfig common_config(const ModelConfig& config, Workings& w) {
  DecoderConfig c;
  const double hidden = config.number("hidden_size");
  const double heads = config.number("num_attention_heads");
  c.hidden = w.letter(Letter::d, hidden);
  c.embedding_width = c.hidden;
  c.layers = w.letter(Letter::L, config.number("num_hidden_layers"));
  c.heads = w.letter(Letter::H, heads);
  c.key_value_heads = w.letter(Letter::H_kv, config.number_or("num_key_value_heads", heads));
  c.head_width = w.letter(Letter::d_h, config.number_or("head_dim", hidden / heads));
  c.feed_forward = w.letter(Letter::f, config.number("intermediate_size"));
  c.vocabulary = w.letter(Letter::V, config.number("vocab_size"));
  c.rotary_width = c.head_width;
  const ops::Activation activation = ops::find_activation(config.text("hidden_act"));
  c.blocks.activation = activation ? activation : ops::silu;
  c.rope_type = config.text("rope_type");
  c.attention_dropout = config.number_or("attention_dropout", 0) > 0;
  c.tied = config.flag("tie_word_embeddings");
  const auto layers = static_cast<std::size_t>(c.layers.value());
  c.windowed.assign(layers, false);
  c.rotated.assign(layers, true);
  return c;
}

Count partial_width(const ModelConfig& config, const DecoderConfig& c, Workings& workings) {
  const double factor =
      config.number_or(config.model_type == "gpt_neox" ? "rotary_pct" : "partial_rotary_factor", 1);
  if (factor == 1) return c.head_width;
  return workings.named("d_r", std::floor(c.head_width.value() * factor));
}

}  // namespace ledger::models
