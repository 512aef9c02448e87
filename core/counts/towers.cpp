// The towers for images of models whose text part is trained, with what joins the two, and the
// layers that predict further tokens. Source: transformers 5.18.0, the modeling files of each type.
#include <algorithm>
#include <cmath>

#include "core/counts/counts.hpp"

namespace ledger::counts {
namespace {

double patches_per_side(Sizes& vision, double image, double patch) {
  return std::floor(vision("image_size", image) / std::max(1.0, vision("patch_size", patch)));
}

}  // namespace

// models/siglip/modeling_siglip.py SiglipVisionModel, models/gemma3/modeling_gemma3.py
// Gemma3MultiModalProjector.
double siglip_tower(Sizes&, Sizes& vision, const ModelConfig& text) {
  const double width = vision("hidden_size", 768), feed_forward = vision("intermediate_size", 3072);
  const double patch = vision("patch_size", 16), side = patches_per_side(vision, 224, 16);
  const double layer = encoder_layer(width, feed_forward);
  double count = linear(vision("num_channels", 3) * patch * patch, width) + side * side * width +
                 vision("num_hidden_layers", 12) * layer + layer_norm(width);
  // A head that pools by attention: a layer with one norm, and what it looks for.
  if (vision.flag("vision_use_head", true)) count += layer - layer_norm(width) + width;
  return count + width * text.number("hidden_size") + width;
}

// models/pixtral/modeling_pixtral.py, models/mistral3/modeling_mistral3.py
// Mistral3MultiModalProjector.
double pixtral_tower(Sizes& whole, Sizes& vision, const ModelConfig& text) {
  const double width = vision("hidden_size", 1024), patch = vision("patch_size", 16);
  const double layer =
      4 * width * width + 3 * width * vision("intermediate_size", 4096) + 2 * width;
  const double tower = vision("num_channels", 3) * patch * patch * width + width +
                       vision("num_hidden_layers", 24) * layer;
  const double merge = whole("spatial_merge_size", 2), out = text.number("hidden_size");
  const bool bias = whole.flag("multimodal_projector_bias", false);
  const double features = std::max(1.0, whole.entries("vision_feature_layer", 1));
  return tower + width + merge * merge * width * width + linear(features * width, out, bias) +
         linear(out, out, bias);
}

namespace {

// Patches side by side become one wide row, then a row of the text part.
double merger(double wide, double normed, double out) {
  return layer_norm(normed) + linear(wide, wide) + linear(wide, out);
}

double qwen_blocks(Sizes& vision, double mergers) {
  const double width = vision("hidden_size", 1152), patch = vision("patch_size", 16);
  const double merge = vision("spatial_merge_size", 2), out = vision("out_hidden_size", 3584);
  const double wide = merge * merge * width;
  const double pixels = vision("in_channels", 3) * vision("temporal_patch_size", 2) * patch * patch;
  return linear(pixels, width) + vision("num_position_embeddings", 2304) * width +
         vision("depth", 27) * encoder_layer(width, vision("intermediate_size", 4304)) +
         merger(wide, width, out) + mergers * merger(wide, wide, out);
}

}  // namespace

// models/qwen3_5/modeling_qwen3_5.py Qwen3_5VisionModel.
double qwen_tower(Sizes&, Sizes& vision, const ModelConfig&) { return qwen_blocks(vision, 0); }

// models/qwen3_vl/modeling_qwen3_vl.py Qwen3VLVisionModel: some layers hand their output on as
// well.
double deepstack_tower(Sizes&, Sizes& vision, const ModelConfig&) {
  return qwen_blocks(vision, vision.entries("deepstack_visual_indexes", 3));
}

// models/llama4/modeling_llama4.py Llama4VisionModel, Llama4MultiModalProjector.
double llama4_tower(Sizes&, Sizes& vision, const ModelConfig& text) {
  const double width = vision("hidden_size", 768), feed_forward = vision("intermediate_size", 5632);
  const double patch = vision("patch_size", 14), side = patches_per_side(vision, 448, 14);
  const double adapted = vision("projector_output_dim", 4096);
  return vision("num_channels", 3) * patch * patch * width + (side * side + 2) * width +
         2 * layer_norm(width) +
         vision("num_hidden_layers", 34) * encoder_layer(width, feed_forward) +
         feed_forward * vision("projector_input_dim", 4096) + adapted * adapted +
         vision("vision_output_dim", 7680) * text.number("hidden_size");
}

// A layer with attention, two norms before it, one after it, and the matrix that joins the hidden
// state with the next token's. Source: sizes of the published checkpoints' tensors mtp.*.
double prediction_layers(const ModelConfig& text, double layers) {
  if (layers == 0) return 0;
  const double width = text.number("hidden_size"), head = text.number("head_dim");
  const double heads = text.number("num_attention_heads");
  const double groups = text.number("num_key_value_heads");
  const double experts = text.number("num_experts");
  const double shared = text.number("shared_expert_intermediate_size");
  const double mlp = experts > 0
                         ? 3 * width * (experts * text.number("moe_intermediate_size") + shared) +
                               (experts + 1) * width
                         : 3 * width * text.number("intermediate_size");
  // Queries come with a gate each.
  const double layer = width * head * (3 * heads + 2 * groups) + 2 * head + mlp + 2 * width;
  return layers * layer + 2 * width * width + 3 * width;
}

}  // namespace ledger::counts
