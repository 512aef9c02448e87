// Models with a decoder that are counted only: t5, whisper, chatglm, internlm2.
#include <algorithm>
#include <cmath>

#include "core/counts/counts.hpp"

namespace ledger::counts {

// Source: transformers 5.18.0 models/t5/modeling_t5.py. Where the configuration says that head and
// embedding are not tied, the checkpoint holds both, and loading keeps both since they differ.
Count count_t5(Sizes& size) {
  const double width = size("d_model", 512), feed_forward = size("d_ff", 2048);
  const double heads = size("num_heads", 8), rows = size("vocab_size", 32128);
  const double attention = 4 * width * heads * size("d_kv", 64);
  const double mlp = (size.names("feed_forward_proj", "gated-") ? 3 : 2) * width * feed_forward;
  const double layers = size("num_layers", 6);
  // Its norms have no biases; the first layer of either stack has the positions' table.
  const double encoder = layers * (attention + mlp + 2 * width);
  const double decoder = size("num_decoder_layers", layers) * (2 * attention + mlp + 3 * width);
  const double positions = 2 * size("relative_attention_num_buckets", 32) * heads;
  const double head = size.flag("tie_word_embeddings", true) ? 0 : rows * width;
  return {rows * width + encoder + decoder + 2 * width + positions + head,
          "T5ForConditionalGeneration"};
}

// Keys have no bias. Source: transformers 5.18.0 models/whisper/modeling_whisper.py.
Count count_whisper(Sizes& size) {
  const double width = size("d_model", 384);
  const double attention = 4 * linear(width, width) - width;
  auto layer = [&](double attentions, double feed_forward) {
    return attentions * (attention + layer_norm(width)) + linear(width, feed_forward) +
           linear(feed_forward, width) + layer_norm(width);
  };
  const double convolutions =
      linear(3 * size("num_mel_bins", 80), width) + linear(3 * width, width);
  const double positions = size("max_source_positions", 1500) + size("max_target_positions", 448);
  return {convolutions + (positions + size("vocab_size", 51865)) * width +
              size("encoder_layers", 4) * layer(1, size("encoder_ffn_dim", 1536)) +
              size("decoder_layers", 4) * layer(2, size("decoder_ffn_dim", 1536)) +
              2 * layer_norm(width),
          "WhisperForConditionalGeneration"};
}

// Source: modeling_chatglm.py and configuration_chatglm.py beside the published weights.
Count count_chatglm(Sizes& size) {
  const double width = size("hidden_size", 4096), feed_forward = size("ffn_hidden_size", 13696);
  const double heads = size("num_attention_heads", 32), head_width = size("kv_channels", 128);
  const double groups =
      size.flag("multi_query_attention", false) ? size("multi_query_group_num", 1) : heads;
  const bool all = size.flag("add_bias_linear", false);
  const bool bias = size.flag("add_qkv_bias", false) || all;
  const double norm = size.flag("rmsnorm", true) ? width : 2 * width;
  const double layer = linear(width, (heads + 2 * groups) * head_width, bias) +
                       linear(heads * head_width, width, all) +
                       linear(width, 2 * feed_forward, all) + linear(feed_forward, width, all) +
                       2 * norm;
  const double tables =
      size("padded_vocab_size", 65024) * width * (size.flag("tie_word_embeddings", false) ? 1 : 2);
  return {tables + size("num_layers", 28) * layer + (size.flag("post_layer_norm", true) ? norm : 0),
          "ChatGLMForConditionalGeneration"};
}

// Source: modeling_internlm2.py and configuration_internlm2.py beside the published weights.
Count count_internlm2(Sizes& size) {
  const double width = size("hidden_size", 4096), feed_forward = size("intermediate_size", 11008);
  const double heads = size("num_attention_heads", 32);
  const double groups = size("num_key_value_heads", heads);
  const double head_width = std::floor(width / std::max(1.0, heads));
  const bool bias = size.flag("bias", true);
  const double layer = linear(width, (heads + 2 * groups) * head_width, bias) +
                       linear(heads * head_width, width, bias) + 3 * width * feed_forward +
                       2 * width;
  const double tables =
      size("vocab_size", 103168) * width * (size.flag("tie_word_embeddings", false) ? 1 : 2);
  return {tables + size("num_hidden_layers", 32) * layer + width, "InternLM2ForCausalLM"};
}

}  // namespace ledger::counts
