// A decoder-only language model: its weights, and the blocks that its forward pass is made of.
//
// The names are transformers' own. To add an architecture, write a file beside this one that fills
// a DecoderConfig from the checked config.json, with its own blocks where it differs from llama's,
// and put it into the table of table.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/blocks.hpp"
#include "core/ops/grouped.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/loss.hpp"
#include "core/tape.hpp"

namespace ledger::models {

// How the run wants the model to be computed.
struct RunOptions {
  bool eager = false;  // attention written out instead of a fused kernel
  enum class Checkpointing : std::uint8_t { kOff, kNonReentrant, kReentrant };
  Checkpointing checkpointing = Checkpointing::kOff;
  bool input_gradients = false;  // enable_input_require_grads: the embedding's output is a leaf
  LigerKernels liger;
};

struct Norm {
  Tensor weight;
  Tensor bias;  // of a layer norm; absent in an RMS norm
  std::uint32_t place = 0;
  bool distributed = false;  // of a sequence-parallel rank: what it norms is a DTensor
};

struct Attention {
  ops::Linear q_proj, k_proj, v_proj, o_proj;
  ops::Linear qkv_proj;  // where one matrix makes all three
  Norm q_norm, k_norm;   // absent where the architecture has none
  Tensor sinks;          // [H], where a head can look away
  std::uint32_t place = 0;
  Count gathers = 0;  // of a sequence-parallel rank: tokens come from so many ranks
};

struct Mlp {
  ops::Linear gate_proj, up_proj, down_proj;
  ops::Linear gate_up_proj;  // where one matrix makes both
  std::uint32_t place = 0;
  Count gathers = 0;  // as in Attention
};

// Attention whose queries, keys and values are expanded from latents (MLA).
struct LatentAttention {
  ops::Linear q_a_proj, q_b_proj, kv_a_proj, kv_b_proj;
  Norm q_a_layernorm, kv_a_layernorm;
};

// Linear attention by the gated delta rule.
struct DeltaNet {
  Tensor conv1d, dt_bias, A_log;
  Norm norm;
  ops::Linear in_proj_qkv, in_proj_z, in_proj_b, in_proj_a;  // in_proj_qkvz and in_proj_ba, or four
  ops::Linear out_proj;
  std::uint32_t place = 0;
};

// A mixture of experts: a router that chooses, the experts' weights stacked, and where the
// architecture has one an expert that sees every token.
struct Mixture {
  ops::Linear router;
  Tensor correction;  // e_score_correction_bias, a buffer
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
  LatentAttention latent;  // beside self_attn's o_proj, where the architecture has it
  DeltaNet linear_attn;    // in place of attention, where the layer is of that kind
  Mixture mixture;         // in place of the mlp, where the layer is sparse
  Norm input_layernorm, post_attention_layernorm;
  Norm pre_feedforward_layernorm, post_feedforward_layernorm;  // gemma's
  std::uint32_t place = 0;
};

// Widths of a latent attention.
struct LatentConfig {
  Count query_rank = 0, key_value_rank = 0;  // r_q (0: queries have no latent), r_kv
  Count plain_width = 0, rotated_width = 0;  // of a query or key head
  Count value_width = 0;                     // of a value head
  bool bias = false;
};

// Widths of a linear attention.
struct DeltaConfig {
  Count key_heads = 0, value_heads = 0, key_width = 0, value_width = 0;
  Count kernel = 0;    // tokens that the convolution looks back on, its own included
  bool grids = false;  // positions of three grids, as for images
  bool joint = false;  // one projection makes queries, keys, values and z, group by group
  Flags linear;        // by layer; others have attention
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
  Count experts = 0, chosen = 0;        // E, k
  Count feed_forward = 0;               // of one expert
  Count shared_feed_forward = 0;        // of the expert that sees every token; 0 for none
  bool shared_gate = false;             // a sigmoid weighs that expert
  bool every_token = false;             // each expert computes all tokens, chosen or not
  bool router_first = true;             // made before the experts
  Count groups = 1, chosen_groups = 1;  // experts are chosen from the best groups only
  bool group_limited = false;           // whether groups are chosen at all
  bool corrected = false;               // the router has an e_score_correction_bias
  bool correction_in_32_bit = false;
  bool normalised = false;  // the chosen weights are divided by their sum
  ExpertTargets targets = ExpertTargets::kNone;
  bool input_first = false;  // the experts' weights lie [E,in,out]
  bool expert_bias = false;
  // Of gate and up in one tensor; the two halves unless set.
  Tensor (*gate)(Tape&, const DecoderLayer&, const Tensor& gate_up) = nullptr;
  Flags sparse;  // by layer; others have a plain feed-forward
  Routing (*route)(Tape&, const DecoderLayer&, const Tensor& rows) = nullptr;
};

// Sizes as counts with their letters, and the switches in which architectures differ.
struct DecoderConfig {
  Count hidden, embedding_width, layers, heads, key_value_heads, head_width, feed_forward,
      vocabulary;
  Count learned_positions = 0;  // rows of their table
  Count rotary_width;           // of a head, as far as it is rotated
  std::string rope_type;        // "default", "llama3", "yarn", "linear"
  bool query_key_value_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool query_key_norm = false;       // on each head
  bool query_key_l2_norm = false;    // likewise, without weights
  bool alibi = false;                // falcon: in place of rotation
  bool grouped_heads = false;        // falcon: some keys and values, spread over all heads
  int norms_in_parallel = 1;         // falcon: attention and feed-forward share a norm, or not
  bool residual_after_norm = false;  // the residual is taken from the norm's output
  bool norm_first = true;            // before each block, not after it
  bool final_norm = true;
  bool norm_weights = true;  // layer norms have weights and biases
  bool norm_bias = false;    // norms are layer norms with a bias
  bool tied = false;
  bool head_bias = false;
  bool attention_dropout = false;  // on attention weights; these four: of a probability above 0
  bool output_dropout = false;     // on what attention puts out, inside of it
  bool residual_dropout = false;   // on what is added to the residual stream
  bool embedding_dropout = false;
  bool parallel_residual = false;   // attention and feed-forward read the same hidden states
  bool score_cap = false;           // scores go through cap · tanh(score / cap)
  bool logit_cap = false;           // and so do logits
  Count window = 0;                 // tokens; 0 for none
  bool chunked = false;             // windows do not slide: they are chunks of the sequence
  bool temperature_tuning = false;  // of queries that are not rotated
  Flags windowed;                   // by layer: attention looks back on the window only
  bool mask_always_made = false;    // also where the kernel would know causality
  bool always_full_mask = false;    // the full mask is made even where no layer uses it
  bool always_windowed_mask = false;
  bool masks_test_packing = true;         // the model hands its positions on to the mask
  bool windows_rotate_otherwise = false;  // windowed layers have tables of their own
  Flags rotated;                          // by layer: queries and keys are rotated
  LatentConfig latent;
  DeltaConfig delta;
  MixtureConfig mixture;
  Blocks blocks;
};

// Where adapters can be: so many of the model's own parameters come before them.
struct AdapterSlot {
  std::vector<ops::Adapter>* adapters;
  std::size_t after;
};

// What peft trains beside adapters: a copy of a parameter that takes its place, or rows of the
// embedding. So many of the model's own parameters come before it.
struct TrainedCopy {
  Tensor original;
  Tensor copy;
  std::size_t after;
};

// What stands around each layer of a wrapped model: called with the hidden states that go in, and
// with those that come out. Likewise around the embedding, and around norm and head together.
struct Wrapping {
  static constexpr std::int16_t kEmbedding = -2, kHead = -3;  // in place of a layer
  void* context;
  void (*enter)(void* context, std::int16_t layer, Tensor& hidden);
  void (*leave)(void* context, std::int16_t layer, Tensor& hidden);
  std::optional<Dtype> inputs{};  // the type that a layer's inputs are cast to
};

struct Decoder {
  DecoderConfig config;
  RunOptions options;
  std::optional<Wrapping> wrapping;
  const char* what = "weight";  // as weights are called
  // The loss of the logits; tensor-parallel ranks may have their own.
  Tensor (*loss)(Tape&, Tensor logits, const Tensor& num_items_in_batch,
                 bool liger) = ops::causal_lm_loss;
  Shape whole_table;               // of the embedding, where a tensor-parallel rank has a part
  bool scatters_tokens = false;    // and keeps its part of the tokens only
  bool scores = false;             // the head puts out one number, not logits
  Dtype dtype = Dtype::kBFloat16;  // of the weights as they are loaded
  Tensor embed_tokens;
  Tensor embed_positions;  // of learned positions, else absent
  Norm embedding_norm;
  ops::Linear project_in, project_out;  // where the embedding is not as wide as the layers
  std::vector<DecoderLayer> layers;
  Norm norm;
  // Inverse frequencies of the rotary embedding, of which a forward pass may put one in the place
  // of another.
  mutable std::vector<Tensor> buffers;
  // While generate() makes tokens one by one, experts' weights are picked out token by token.
  mutable bool decodes = false;
  ops::Linear lm_head;
  // In the order of model.parameters(); absent where the weight is packed.
  std::vector<Tensor> parameters;
  std::vector<ops::Linear*> linears;             // in the order of model.named_modules()
  std::vector<Mixture*> mixtures;                // in the order of the layers
  std::vector<AdapterSlot> adapted;              // in the order of model.modules()
  std::vector<ops::Adapter> embedding_adapters;  // a [r,V], b [d,r]
  std::vector<TrainedCopy> trained_copies;       // in the order of model.parameters()
  Tensor trained_rows;                           // [n,d], or absent
  bool rows_of_head = false;  // the head is tied and uses the trained rows as well
  Tensor shared_code;         // of nested 4-bit scales, one for the whole process
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

// The last hidden states [B,T,d], normed: all of the model but its head.
Tensor backbone(Tape& t, const Decoder& model, const Inputs& in);
// Logits and loss. `num_items_in_batch`: the loss is a sum divided by it; absent: a mean.
Output forward(Tape& t, const Decoder& model, const Inputs& in,
               const Tensor& num_items_in_batch = {});
// The loss of torchtune's CEWithChunkedOutputLoss, of so many chunks.
Tensor chunked_loss(Tape& t, const Decoder& model, const Inputs& in, double chunks);
// Logits alone, as without labels.
Tensor logits_of(Tape& t, const Decoder& model, const Inputs& in);

// Puts Liger's kernels in place of the architecture's own blocks.
void apply_liger(DecoderConfig& c, const LigerKernels& kernels);

// The rows of the embedding for ids, multiplied by `scale` if there is one, with what peft adds.
Tensor embedded_tokens(Tape& t, const Decoder& model, const Tensor& ids, const Tensor& scale);

// Pairs of entries rotated as (a cos - b sin, b cos + a sin), then joined.
Tensor rotate_pairs(Tape& t, const Tensor& first, const Tensor& second, const Tensor& cos,
                    const Tensor& sin, const char* what);
// Rotates only `partial_rotary_factor` of each head's width.
void rotate_partly(DecoderConfig& c, const ModelConfig& config, Workings& workings);

// The sizes that all architectures share, with their letters.
DecoderConfig common_config(const ModelConfig& config, Workings& workings);

// The rotated width of a head where `partial_rotary_factor` is below one.
Count partial_width(const ModelConfig& config, const DecoderConfig& c, Workings& workings);

}  // namespace ledger::models
