// What a number of a message is: the table of clauses in which programs say it.
//
// To teach a new message, add its clause to kClauses in labels.cpp: the words before the number or
// behind it. Words of one program may stand in any order and among others; a sentence is never
// matched as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/explain/figures.hpp"

namespace ledger::message {

enum class Label : std::uint8_t {
  kUnknown,
  kTried,        // the allocation that failed
  kTotal,        // of the device, as the program sees it
  kFree,         // on the device
  kAllocated,    // live tensors
  kActive,       // live, or waiting for another stream
  kReserved,     // all segments of the allocator, allocated ones included
  kUnallocated,  // reserved but unallocated
  kSlack,        // "cached" of PyTorch 1.0 to 1.3: reserved less allocated
  kThisProcess,
  kOtherProcess,
  kLimit,    // that was set, or that the program keeps to
  kPools,    // idle blocks of private pools
  kOutside,  // of this process, not the allocator's
  kPeakAllocated,
  kPeakReserved,
  kBlockLimit,  // largest single allocation that is allowed
  kWeights,
  kActivations,
  kCacheNeeded,  // KV cache of one request
  kCache,        // KV cache
  kCacheFree,    // room for it
  kBuffer,       // some buffer, in a line of a log
  kProgram,      // XLA's whole program
  kExceeded,     // by how much
  kPossible,     // the least that rematerialisation could reach
  kPadded,       // XLA's size of a tensor without padding
  kHostUsed,
  kHostTotal,
  kHostProcess,
  kHostFree,
  kHostVirtual,
  kThreshold,  // fraction at which a monitor acts
  kFraction,   // of memory, as set or used
  kUsed,
  kPerSequence,
  kState,  // weights, gradients and optimizer state
  kTokens,
  kTokensMost,
  kElements,
  kParameters,
  kBlocks,
  kCells,
  kDelta,
  kNominal,    // a size in a name
  kOwnFigure,  // a person's own sum or reading
  kCounter,    // everything that was ever allocated, or freed
};
struct LabelRow {
  Label label;
  std::string_view id, what;
};
const LabelRow& row_of(Label label);

// What the unit truly is, where the printed one does not say so or lies.
enum class Meaning : std::uint8_t {
  kBinary,   // powers of 1024, rounded to the nearest
  kFloor,    // powers of 1024, cut off
  kDecimal,  // powers of 1000
  kNominal,  // as sold
  kOpen,     // a person's figure: 1000 or 1024, nobody knows
};

struct Reading {
  Figure figure;
  Label label = Label::kUnknown;
  Meaning meaning = Meaning::kBinary;
  double bytes = 0, low = 0, high = 0;  // of sizes; the interval that the printing leaves
  bool exact = false;                   // printed to the byte
};

// Reads one number; unit-less ones stay kUnknown unless a clause says what they are.
Reading read_figure(const Squeezed& s, Figure figure);

}  // namespace ledger::message
