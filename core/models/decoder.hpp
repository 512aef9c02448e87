// A decoder-only language model as the program of its forward pass, and what it is built of.
//
// The names are transformers' own. To add an architecture, write a file beside this one that fills
// a DecoderConfig from the checked config.json, and put it into the table of table.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ops/linear.hpp"
#include "core/tape.hpp"

namespace ledger::models {

// Sizes as counts with their letters, and the switches in which architectures differ.
struct DecoderConfig {
  Count hidden, layers, heads, key_value_heads, head_width, feed_forward, vocabulary;
  bool query_key_value_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool query_key_norm = false;
  bool tied = false;
  Count window = 0;                 // tokens; 0 for none
  std::vector<bool> windowed;       // by layer: attention looks back on the window only
  bool always_full_mask = false;    // the full mask is made even where no layer uses it
  std::vector<bool> rotated;        // by layer: queries and keys are rotated
};

// How the run wants the model to be computed.
struct RunOptions {
  bool eager = false;  // attention written out instead of a fused kernel
  enum class Checkpointing : std::uint8_t { kOff, kNonReentrant, kReentrant };
  Checkpointing checkpointing = Checkpointing::kOff;
};

struct RmsNorm {
  Tensor weight;
  std::uint32_t place = 0;
};

struct Attention {
  ops::Linear q_proj, k_proj, v_proj, o_proj;
  RmsNorm q_norm, k_norm;  // absent where the architecture has none
  std::uint32_t place = 0;
};

struct Mlp {
  ops::Linear gate_proj, up_proj, down_proj;
  std::uint32_t place = 0;
};

struct Decoder;

struct DecoderLayer {
  const Decoder* model = nullptr;
  std::int16_t index = 0;
  Attention self_attn;
  Mlp mlp;
  RmsNorm input_layernorm, post_attention_layernorm;
  std::uint32_t place = 0;
};

struct Decoder {
  DecoderConfig config;
  RunOptions options;
  Tensor embed_tokens;
  std::vector<DecoderLayer> layers;
  RmsNorm norm;
  std::vector<Tensor> buffers;      // inverse frequencies of the rotary embedding
  ops::Linear lm_head;
  std::vector<Tensor> parameters;   // in the order of model.parameters()
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

// Allocates all parameters in the order in which transformers does. The result must stay where it
// is: layers refer to it.
void build(Tape& t, Decoder& model, Dtype dtype);

// Logits and loss for ids [B,T].
Output forward(Tape& t, const Decoder& model, Tensor input_ids);

// Number of logical elements of the parameters, tied ones once.
double parameter_count(const DecoderConfig& config);

// The sizes that all architectures share, with their letters.
DecoderConfig common_config(const ModelConfig& config, Workings& workings);

// -- parts that programs of other architectures can use too
Tensor rms_norm(Tape& t, const RmsNorm& norm, Tensor x);
struct RotaryTables {
  Tensor cos, sin;
};
RotaryTables rotary_tables(Tape& t, Count length, Count width, Dtype dtype);
struct Rotated {
  Tensor q, k;
};
Rotated apply_rotary(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin);
// The causal mask that the model hands to its layers; absent where the kernel knows causality.
Tensor causal_mask(Tape& t, const Tensor& embedded, Count window, bool eager);

}  // namespace ledger::models
