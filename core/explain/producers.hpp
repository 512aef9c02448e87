// Who prints which words when memory runs out: the table of anchors by which a message is found,
// and the features by which its version is told.
//
// To teach a new program, add a row to kProducers and the words that only it prints to kAnchors in
// producers.cpp; its numbers are told by the clauses of labels.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/explain/squeezed.hpp"

namespace ledger::message {

enum class Producer : std::uint8_t {
  kUnknown,
  kCuda,  // PyTorch, CUDA
  kHip,
  kXpu,
  kIpex,
  kNpu,
  kFork,  // MUSA, MLU, GCU, SUPA
  kMallocAsync,
  kMps,
  kCpu,
  kHpu,
  kNeuron,
  kRawCuda,  // an error of CUDA's own, without figures
  kSummary,  // torch.cuda.memory_summary and its kind
  kNccl,
  kBitsandbytes,
  kDeepspeed,
  kVllm,
  kSglang,
  kTgi,
  kRay,
  kKilled,  // by a signal
  kKernel,
  kSlurm,
  kKubernetes,
  kXla,
  kXlaTpu,
  kTensorflow,
  kGgml,
  kOllama,
  kMlx,
  kLlmc,
  kPython,
  kFramework,
  kTriton,
  kTrainerLog,
  kNvidiaSmi,
  kWords,  // told, in nobody's format
};

// What memory a producer speaks of.
enum class Memory : std::uint8_t { kDevice, kHost, kUnified, kEither };
// How it rounds the request that it prints.
enum class Rounding : std::uint8_t { kNone, kExact, kBlock512, kSegment };

struct ProducerRow {
  Producer producer;
  std::string_view id, name;
  Memory memory;
  Rounding rounding;
  std::string_view units;   // what its units truly are
  std::string_view source;  // where that is known from
};
const ProducerRow& row_of(Producer producer);

enum class Severity : std::uint8_t { kError, kWarning, kLog };

struct Anchor {
  const char* words;
  Producer producer;
  Severity severity = Severity::kError;
  bool begins = true;    // a message of its own; else it belongs to one of this producer before it
  const char* why = "";  // of a warning: why it is none
};

// The anchor that begins at a character, or null.
const Anchor* anchor_at(const Squeezed& s, std::size_t i);

// Of a message that has no anchor of its own.
const Anchor& words_of_nobody();

// Which versions print a message like that between two characters; empty where nothing tells.
std::string_view versions_of(const Squeezed& s, std::size_t begin, std::size_t end,
                             Producer producer);

}  // namespace ledger::message
