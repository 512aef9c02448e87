// What turns a model into one that is fine-tuned by adapters, its base packed or not.
#pragma once

#include <vector>

#include "core/models/decoder.hpp"

namespace ledger::training {

// Packs every linear but the head into four bits, as bitsandbytes does, and prepares the rest.
void quantise(Tape& t, models::Decoder& model, const Quantization& quantization);

// Freezes the model and gives the targeted linears an adapter each, as peft does.
void add_adapters(Tape& t, models::Decoder& model, const Peft& peft);

// trl casts the adapters of a packed model to bfloat16, whatever they were made in.
// Source: trl 1.16.0 trainer/sft_trainer.py, __init__.
void cast_adapters(Tape& t, const models::Decoder& model);

// The parameters that are trained, in the order of model.parameters().
std::vector<Tensor> trainable_parameters(const models::Decoder& model);

}  // namespace ledger::training
