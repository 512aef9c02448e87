// Encoders of text and images. Source: transformers 5.18.0, the modeling files of each type.
#include <algorithm>
#include <cmath>

#include "core/counts/counts.hpp"

namespace ledger::counts {
namespace {

constexpr std::string_view kHead = "architectures";

// bert and roberta differ in their sizes' defaults and in the names of their classes.
double embeddings_and_layers(Sizes& size, double rows) {
  const double width = size("hidden_size", 768);
  const double tables =
      size("vocab_size", rows) + size("max_position_embeddings", 512) + size("type_vocab_size", 2);
  return tables * width + layer_norm(width) +
         size("num_hidden_layers", 12) * encoder_layer(width, size("intermediate_size", 3072));
}

// Its matrix is the embedding's.
double masked_head(Sizes& size, double rows) {
  const double width = size("hidden_size", 768);
  return linear(width, width) + layer_norm(width) + size("vocab_size", rows);
}

double pooler(Sizes& size) {
  const double width = size("hidden_size", 768);
  return linear(width, width);
}

}  // namespace

Count count_bert(Sizes& size) {
  constexpr double kRows = 30522;
  const double body = embeddings_and_layers(size, kRows);
  if (size.names(kHead, "ForMaskedLM")) return {body + masked_head(size, kRows), "BertForMaskedLM"};
  if (size.names(kHead, "ForPreTraining")) {
    return {body + pooler(size) + masked_head(size, kRows) + linear(size("hidden_size", 768), 2),
            "BertForPreTraining"};
  }
  return {body + pooler(size), "BertModel"};
}

Count count_roberta(Sizes& size) {
  constexpr double kRows = 50265;
  const double body = embeddings_and_layers(size, kRows);
  if (size.names(kHead, "ForMaskedLM")) {
    return {body + masked_head(size, kRows), "RobertaForMaskedLM"};
  }
  return {body + pooler(size), "RobertaModel"};
}

Count count_deberta_v2(Sizes& size) {
  const double width = size("hidden_size", 1536), feed_forward = size("intermediate_size", 6144);
  const double narrow = size("embedding_size", width);  // of the tables, then widened
  const double positions = size("max_position_embeddings", 512);
  const double heads = size("num_attention_heads", 24);
  const double inner =
      heads * size("attention_head_size", std::floor(width / std::max(1.0, heads)));
  double rows = size("vocab_size", 128100) + size("type_vocab_size", 0);
  if (size.flag("position_biased_input", true)) rows += positions;
  double layer = 3 * linear(width, inner) + linear(width, width) + 2 * layer_norm(width) +
                 linear(width, feed_forward) + linear(feed_forward, width);
  double once = rows * narrow + layer_norm(width);
  if (narrow != width) once += linear(narrow, width, false);
  if (size.flag("relative_attention", false)) {
    const double reach = size.above_zero("max_relative_positions", positions);
    once += 2 * size.above_zero("position_buckets", reach) * width;
    if (!size.flag("share_att_key", false)) {
      if (size.names("pos_att_type", "c2p")) layer += linear(width, inner);
      if (size.names("pos_att_type", "p2c")) layer += linear(width, inner);
    }
  }
  if (size.names("norm_rel_ebd", "layer_norm")) once += layer_norm(width);
  if (const double kernel = size("conv_kernel_size", 0); kernel > 0) {
    const double groups = std::max(1.0, size("conv_groups", 1));
    once += width * (width / groups) * kernel + width + layer_norm(width);
  }
  return {once + size("num_hidden_layers", 24) * layer, "DebertaV2Model"};
}

Count count_modernbert(Sizes& size) {
  const double width = size("hidden_size", 768), feed_forward = size("intermediate_size", 1152);
  const double layers = size("num_hidden_layers", 22), rows = size("vocab_size", 50368);
  const double norm = size.flag("norm_bias", false) ? 2 * width : width;
  const bool bias = size.flag("attention_bias", false), wide_bias = size.flag("mlp_bias", false);
  const double layer = linear(width, 3 * width, bias) + linear(width, width, bias) +
                       linear(width, 2 * feed_forward, wide_bias) +
                       linear(feed_forward, width, wide_bias);
  // After the embedding, before attention in all layers but the first, before each feed-forward,
  // and at the end.
  const double body = rows * width + layers * layer + (2 * layers + 1) * norm;
  if (!size.names(kHead, "ForMaskedLM")) return {body, "ModernBertModel"};
  const double head = linear(width, width, size.flag("classifier_bias", false)) + norm +
                      (size.flag("decoder_bias", true) ? rows : 0);
  return {body + head, "ModernBertForMaskedLM"};
}

Count count_vit(Sizes& size) {
  const double width = size("hidden_size", 768), patch = std::max(1.0, size("patch_size", 16));
  const double side = std::floor(size("image_size", 224) / patch);
  double layer = encoder_layer(width, size("intermediate_size", 3072));
  if (!size.flag("qkv_bias", true)) layer -= 3 * width;
  const double body = linear(size("num_channels", 3) * patch * patch, width) +
                      (side * side + 2) * width + size("num_hidden_layers", 12) * layer +
                      layer_norm(width);
  if (size.names(kHead, "ForImageClassification")) {
    const double labels = size("num_labels", size.entries("id2label", 2));
    return {body + linear(width, labels), "ViTForImageClassification"};
  }
  return {body + linear(width, size("pooler_output_size", width)), "ViTModel"};
}

}  // namespace ledger::counts
