// What turns a model into one that is fine-tuned by adapters, its base packed or not.
#pragma once

#include <vector>

#include "core/models/decoder.hpp"

namespace ledger::training {

// Packs the linears into four or eight bits, as bitsandbytes does, and prepares the rest.
void quantise(Tape& t, models::Decoder& model, const Quantization& quantization);

// What a weight is packed into. `shared_code` is made with the first that needs it.
ops::Packed packed_weight(Tape& t, Tensor& shared_code, Shape shape, Dtype dtype,
                          const Quantization& quantization);

// Gives the targeted linears an adapter each, as peft does. Number 0 freezes the model and is
// trained; further ones are only there.
void add_adapters(Tape& t, models::Decoder& model, const Peft& peft, int number = 0);

// Copies of whole modules and rows of the embedding that one adapter trains beside itself.
void train_modules(Tape& t, models::Decoder& model, const Peft& peft, bool trained);

// Logical elements of all adapters and of what is trained beside them.
double adapter_elements(const models::Decoder& model);

// trl casts the adapters of a packed model to bfloat16, whatever they were made in.
// Source: trl 1.16.0 trainer/sft_trainer.py, __init__.
void cast_adapters(Tape& t, const models::Decoder& model);

// All parameters in the order of model.parameters(), packed weights and adapters included.
std::vector<Tensor> all_parameters(const models::Decoder& model);
// Those of them that are trained.
std::vector<Tensor> trainable_parameters(const models::Decoder& model);

}  // namespace ledger::training
