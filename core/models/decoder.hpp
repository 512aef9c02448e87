// A decoder-only language model: its weights, and the blocks that its forward pass is made of.
//
// The names are transformers' own. To add an architecture, write a file beside this one that fills
// a DecoderConfig from the checked config.json, with its own blocks where it differs from llama's,
// and put it into the table of table.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/grouped.hpp"
#include "core/ops/linear.hpp"
#include "core/tape.hpp"

namespace ledger::models {

struct Decoder;
struct DecoderLayer;
class Builder;

// How the run wants the model to be computed.
struct RunOptions {
  bool eager = false;  // attention written out instead of a fused kernel
  enum class Checkpointing : std::uint8_t { kOff, kNonReentrant, kReentrant };
  Checkpointing checkpointing = Checkpointing::kOff;
  bool input_gradients = false;  // enable_input_require_grads: the embedding's output is a leaf
};

struct Norm {
  Tensor weight;
  Tensor bias;  // of a layer norm; absent in an RMS norm
  std::uint32_t place = 0;
};

struct Attention {
  ops::Linear q_proj, k_proj, v_proj, o_proj;
  ops::Linear qkv_proj;      // where one matrix makes all three
  Norm q_norm, k_norm;       // absent where the architecture has none
  std::uint32_t place = 0;
};

struct Mlp {
  ops::Linear gate_proj, up_proj, down_proj;
  ops::Linear gate_up_proj;  // where one matrix makes both
  std::uint32_t place = 0;
};

// A mixture of experts: a router that chooses, the experts' weights stacked, and where the
// architecture has one an expert that sees every token.
struct Mixture {
  ops::Linear router;
  ops::Stacked gate_up_proj, down_proj;
  Tensor gate_up_bias, down_bias;
  Mlp shared_expert;
  ops::Linear shared_expert_gate;
  std::uint32_t place = 0;
};

struct DecoderLayer {
  const Decoder* model = nullptr;
  std::int16_t index = 0;
  Attention self_attn;
  Mlp mlp;
  Mixture mixture;  // in place of the mlp, where the layer is sparse
  Norm input_layernorm, post_attention_layernorm;
  Norm pre_feedforward_layernorm, post_feedforward_layernorm;  // gemma's
  std::uint32_t place = 0;
};

// What a layer is called with besides its hidden states.
struct LayerInputs {
  Tensor hidden, cos, sin, mask, positions;
};

struct QueryKeyValue {
  Tensor q, k, v;  // [B,H or H_kv,T,d_h]
};
struct Rotated {
  Tensor q, k;
};
struct AttentionOutput {
  Tensor output;   // [B,T,d]
  Tensor weights;  // only where attention is written out; the layer holds it to its end
};

// What a router answers for tokens [N,d].
struct Routing {
  Tensor logits;   // [N,E], held until the mixture is done
  Tensor weights;  // [N,k]
  Tensor experts;  // [N,k], their indices
};

Tensor rms_norm(Tape& t, const Norm& norm, Tensor x);
void make_llama_layer(Builder& b, DecoderLayer& layer);
Tensor llama_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in);
QueryKeyValue project_heads(Tape& t, const DecoderLayer& layer, Tensor x);
Rotated apply_rotary(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin);
Tensor gated_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x);
Tensor gated_mlp(Tape& t, const DecoderLayer& layer, const Mlp& mlp, Tensor x);
Tensor embed_tokens(Tape& t, const Decoder& model, const Tensor& ids);
Tensor project_logits(Tape& t, const Decoder& model, Tensor hidden);

// The parts in which architectures differ, llama's unless an architecture brings its own.
struct Blocks {
  void (*make_layer)(Builder&, DecoderLayer&) = make_llama_layer;
  Tensor (*norm)(Tape&, const Norm&, Tensor) = rms_norm;
  Tensor (*layer)(Tape&, const DecoderLayer&, const LayerInputs&) = llama_layer;
  QueryKeyValue (*project)(Tape&, const DecoderLayer&, Tensor) = project_heads;
  Rotated (*rotate)(Tape&, Tensor, Tensor, Tensor, Tensor) = apply_rotary;
  Tensor (*activation)(Tape&, Tensor);  // of the feed-forward; SiLU unless set
  Tensor (*feed_forward)(Tape&, const DecoderLayer&, Tensor) = gated_feed_forward;
  Tensor (*embed)(Tape&, const Decoder&, const Tensor& ids) = embed_tokens;
  Tensor (*head)(Tape&, const Decoder&, Tensor hidden) = project_logits;
};

// Under which names peft's LoRA targets reach a mixture's parameters.
// Source: peft 0.21.2 utils/transformers_weight_conversion.py, _MOE_TARGET_MODULE_MAPPING.
enum class ExpertTargets : std::uint8_t {
  kNone,      // adapters reach linear modules only
  kMixtral,   // gate, w1 and w3, w2
  kQwen2Moe,  // gate, gate_proj and up_proj, down_proj
};

// Sizes and kind of a mixture of experts. Experts: 0 where the architecture has none.
struct MixtureConfig {
  Count experts = 0, chosen = 0;  // E, k
  Count feed_forward = 0;         // of one expert
  Count shared_feed_forward = 0;  // of the expert that sees every token; 0 for none
  bool router_first = true;       // made before the experts
  bool normalised = false;        // the chosen weights are divided by their sum
  ExpertTargets targets = ExpertTargets::kNone;
  std::vector<bool> sparse;       // by layer; others have a plain feed-forward
  Routing (*route)(Tape&, const DecoderLayer&, const Tensor& rows) = nullptr;
};

// Sizes as counts with their letters, and the switches in which architectures differ.
struct DecoderConfig {
  Count hidden, layers, heads, key_value_heads, head_width, feed_forward, vocabulary;
  Count rotary_width;               // of a head, as far as it is rotated
  std::string rope_type;            // "default", "llama3", "yarn", "linear"
  bool query_key_value_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool query_key_norm = false;      // on each head
  bool tied = false;
  Count window = 0;                 // tokens; 0 for none
  std::vector<bool> windowed;       // by layer: attention looks back on the window only
  bool always_full_mask = false;    // the full mask is made even where no layer uses it
  bool always_windowed_mask = false;
  std::vector<bool> rotated;        // by layer: queries and keys are rotated
  MixtureConfig mixture;
  Blocks blocks;
};

struct Decoder {
  DecoderConfig config;
  RunOptions options;
  Dtype dtype = Dtype::kBFloat16;     // of the weights as they are loaded
  Tensor embed_tokens;
  std::vector<DecoderLayer> layers;
  Norm norm;
  std::vector<Tensor> buffers;        // inverse frequencies of the rotary embedding
  ops::Linear lm_head;
  std::vector<Tensor> parameters;     // in the order of model.parameters()
  std::vector<ops::Linear*> linears;  // in the order of model.named_modules()
  std::vector<Mixture*> mixtures;     // in the order of the layers
  // Where adapters can be, in the order of model.modules().
  std::vector<std::vector<ops::Adapter>*> adapted;
  Tensor shared_code;                 // of nested 4-bit scales, one for the whole process
};

struct Output {
  Tensor loss;
  Tensor logits;
};

// One row per model_type.
struct Architecture {
  std::string_view model_type;
  DecoderConfig (*configure)(const ModelConfig&, Workings&);
};

const std::vector<Architecture>& architectures();
const Architecture* find_architecture(std::string_view model_type);

// Allocates all parameters in the order in which transformers does. The model must stay where it
// is: layers refer to it.
void build(Tape& t, Decoder& model, Dtype dtype);

// Logits and loss for ids [B,T], with or without an attention_mask [B,T].
Output forward(Tape& t, const Decoder& model, Tensor input_ids, Tensor attention_mask);

// The sizes that all architectures share, with their letters.
DecoderConfig common_config(const ModelConfig& config, Workings& workings);

// -- parts of a forward pass that are the same everywhere
AttentionOutput attention(Tape& t, const DecoderLayer& layer, const LayerInputs& in, Tensor hidden);
struct RotaryTables {
  Tensor cos, sin;
};
RotaryTables rotary_tables(Tape& t, Count length, Count width, Dtype dtype);
// Inverse frequencies, computed twice at construction.
void make_rotary_buffers(Tape& t, Decoder& model);
// The causal mask that the model hands to its layers; absent where the kernel knows causality.
// `padding`: the attention_mask [B,T] that came with the ids, or absent.
// A windowed mask is made where the window is not longer than the sequence, so with 0 too.
enum class MaskKind : std::uint8_t { kFull, kWindowed };
Tensor causal_mask(Tape& t, const Tensor& embedded, const Tensor& padding, MaskKind kind,
                   Count window, bool eager);

}  // namespace ledger::models
