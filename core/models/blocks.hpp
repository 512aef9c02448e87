// The blocks that forward passes are made of, and the table of those in which architectures differ.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/tape.hpp"

namespace ledger::models {

struct Decoder;
struct DecoderConfig;
struct DecoderLayer;
struct Mlp;
struct Norm;
class Builder;
struct KeyValueCache;

// What the model is called with.
struct Inputs {
  Tensor ids;                      // [B,T]
  Tensor attention_mask;           // [B,T], or absent
  Tensor position_ids;             // [B,T], or absent: then the model counts
  bool padded = true;              // whether the mask, where there is one, leaves any token out
  bool packed = false;             // whether positions begin anew within a row
  KeyValueCache* cache = nullptr;  // where generation keeps what it has seen
};

// What a layer is called with.
struct LayerInputs {
  Tensor hidden, cos, sin, mask, positions, alibi;
  KeyValueCache* cache = nullptr;
};

struct Masks {
  Tensor full, windowed;  // absent where the kernel knows causality, or no layer is of that kind
};
struct RotaryTables {
  Tensor cos, sin;
};

// What the model's body has made when its first layer begins. All but `hidden` lives to its end.
struct Prepared {
  Tensor embedded;         // inputs_embeds
  Tensor position_states;  // of learned positions
  Tensor position_mask;    // from which positions are counted
  Tensor hidden;           // what the first layer takes
  Tensor positions;
  Masks masks;
  RotaryTables tables;
  RotaryTables local_tables;  // of windowed layers, where they rotate otherwise
  Tensor alibi;               // a bias of the scores by distance
};

struct QueryKeyValue {
  Tensor q, k, v;  // [B,H or H_kv,T,d_h]
};
struct Rotated {
  Tensor q, k;
  std::array<Tensor, 4> held{};  // rotated and other parts that names hold to attention's end
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
AttentionOutput attention(Tape& t, const DecoderLayer& layer, const LayerInputs& in, Tensor hidden);
// What the fused kernel or the operators of eager attention make of q, k and v.
AttentionOutput attend(Tape& t, const DecoderLayer& layer, Tensor q, Tensor k, Tensor v,
                       Tensor mask);
RotaryTables rotary_tables(Tape& t, Count length, Count width, Dtype dtype);
// The same where every sequence has positions of its own.
RotaryTables rotary_tables(Tape& t, Count batch, Count length, Count width, Dtype dtype);
void make_embedding(Builder& b, Decoder& model);
void make_llama_layer(Builder& b, DecoderLayer& layer);
void make_norm_and_tables(Builder& b, Decoder& model);
Tensor llama_layer(Tape& t, const DecoderLayer& layer, const LayerInputs& in);
QueryKeyValue project_heads(Tape& t, const DecoderLayer& layer, Tensor x);
// The same, where norms follow the exchange of heads and positions.
QueryKeyValue project_then_norm(Tape& t, const DecoderLayer& layer, Tensor x);
// x * cos + rotate_half(x) * sin
Tensor rotate(Tape& t, Tensor x, const Tensor& cos, const Tensor& sin, const char* what);
Rotated apply_rotary(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin);
Rotated apply_partial_rotary(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin);
Rotated apply_partial_rotary_inline(Tape& t, Tensor q, Tensor k, Tensor cos, Tensor sin);
Tensor layer_norm(Tape& t, const Norm& norm, Tensor x);
Tensor feed_forward(Tape& t, const DecoderLayer& layer, Tensor x);
Tensor into_heads(Tape& t, Tensor x, Count heads, Count width);
Tensor gated_feed_forward(Tape& t, const DecoderLayer& layer, Tensor x);
Tensor gated_mlp(Tape& t, const DecoderLayer& layer, const Mlp& mlp, Tensor x);
Tensor embed_tokens(Tape& t, const Decoder& model, const Tensor& ids);
Prepared prepare_decoder(Tape& t, const Decoder& model, const Inputs& in);
Tensor final_norm(Tape& t, const Decoder& model, Tensor hidden);
AttentionOutput eager_attention(Tape& t, const DecoderConfig& c, Tensor q, Tensor k, Tensor v,
                                Tensor mask);
Tensor project_logits(Tape& t, const Decoder& model, Tensor hidden);

// The parts in which architectures differ, llama's unless an architecture brings its own.
struct Blocks {
  void (*make_stem)(Builder&, Decoder&) = make_embedding;  // what comes before the layers
  void (*make_layer)(Builder&, DecoderLayer&) = make_llama_layer;
  void (*make_top)(Builder&,
                   Decoder&) = make_norm_and_tables;  // what follows them, but for the head
  Tensor (*norm)(Tape&, const Norm&, Tensor) = rms_norm;
  Tensor (*layer)(Tape&, const DecoderLayer&, const LayerInputs&) = llama_layer;
  // Instead of `layer`, where it returns attention weights too and the body holds the pair.
  RegionOutput (*layer_with_weights)(Tape&, const DecoderLayer&, const LayerInputs&) = nullptr;
  AttentionOutput (*attention)(Tape&, const DecoderLayer&, const LayerInputs&,
                               Tensor) = models::attention;
  AttentionOutput (*attend)(Tape&, const DecoderLayer&, Tensor q, Tensor k, Tensor v,
                            Tensor mask) = models::attend;
  RotaryTables (*tables)(Tape&, Count length, Count width, Dtype) = rotary_tables;
  QueryKeyValue (*project)(Tape&, const DecoderLayer&, Tensor) = project_heads;
  Rotated (*rotate)(Tape&, Tensor, Tensor, Tensor, Tensor) = apply_rotary;
  Tensor (*activation)(Tape&, Tensor);  // of the feed-forward; SiLU unless set
  Tensor (*feed_forward)(Tape&, const DecoderLayer&, Tensor) = gated_feed_forward;
  AttentionOutput (*eager)(Tape&, const DecoderConfig&, Tensor, Tensor, Tensor,
                           Tensor) = eager_attention;
  Tensor (*embed)(Tape&, const Decoder&, const Tensor& ids) = embed_tokens;
  Prepared (*prepare)(Tape&, const Decoder&, const Inputs&) = prepare_decoder;
  Tensor (*finish)(Tape&, const Decoder&, Tensor hidden) = final_norm;
  Tensor (*head)(Tape&, const Decoder&, Tensor hidden) = project_logits;
};

// -- parts of a forward pass that are the same everywhere
Masks make_masks(Tape& t, const Decoder& model, const Tensor& embedded, const Inputs& in);
// torch.arange(T) + 0
Tensor position_ids(Tape& t, Count length);
// The positions that came with the ids, else those.
Tensor position_ids(Tape& t, const Inputs& in);
// Inverse frequencies, and their copy.
void make_rotary_buffers(Tape& t, Decoder& model);
// _init_weights computes them again when the model's body is complete.
void initialise_rotary_buffers(Tape& t, const Decoder& model);
// The causal mask that the model hands to its layers; absent where the kernel knows causality.
// A windowed mask is made where the window is not longer than the sequence, so with 0 too.
struct MaskRequest {
  bool windowed = false;
  bool chunked = false;  // the window is the sequence's chunk
  Count window = 0;
  bool eager = false;
  bool tests_packing = true;  // the model hands on its positions, which are tested for restarts
  bool always = false;        // made even where the kernel would know causality
};
Tensor causal_mask(Tape& t, const Tensor& embedded, const Inputs& in, const MaskRequest& request);

}  // namespace ledger::models
