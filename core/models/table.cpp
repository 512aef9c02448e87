// The table of architectures, and what their configurations have in common.
#include "core/models/decoder.hpp"
#include "core/ops/activation.hpp"
#include "core/ops/elementwise.hpp"

namespace ledger::models {

DecoderConfig configure_llama(const ModelConfig& config, Workings& workings);
DecoderConfig configure_mistral(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen2(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen3(const ModelConfig& config, Workings& workings);
DecoderConfig configure_smollm3(const ModelConfig& config, Workings& workings);

DecoderConfig configure_olmoe(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen3_moe(const ModelConfig& config, Workings& workings);
DecoderConfig configure_mixtral(const ModelConfig& config, Workings& workings);
DecoderConfig configure_qwen2_moe(const ModelConfig& config, Workings& workings);
const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> table = {
      {"llama", configure_llama},
      {"mistral", configure_mistral},
      {"qwen2", configure_qwen2},
      {"qwen3", configure_qwen3},
      {"smollm3", configure_smollm3},
      {"olmoe", configure_olmoe},
      {"qwen3_moe", configure_qwen3_moe},
      {"mixtral", configure_mixtral},
      {"qwen2_moe", configure_qwen2_moe},
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
  c.tied = config.flag("tie_word_embeddings");
  const auto layers = static_cast<std::size_t>(c.layers.value());
  c.windowed.assign(layers, false);
  c.rotated.assign(layers, true);
  return c;
}

}  // namespace ledger::models
