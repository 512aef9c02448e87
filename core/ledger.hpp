// The ledger at one moment: every live tensor in one of seven parts, equal ones in one line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/replay.hpp"
#include "core/tape.hpp"

namespace ledger {

enum class Part : std::uint8_t {
  kWeights,
  kGradients,
  kOptimizer,
  kMaster,
  kActivations,
  kTemporary,
  kRuntime
};

struct PartRow {
  std::string_view id, name, what;
};

// In the order of the equation and of Part.
inline constexpr std::array<PartRow, 7> kParts = {{
    {"weights", "Weights", "parameters and buffers of the model"},
    {"gradients", "Gradients", "what has been accumulated in .grad"},
    {"optimizer", "Optimizer", "state that the optimizer keeps from step to step"},
    {"master", "Master weights", "a second copy of the weights in 32 bit, where one is kept"},
    {"activations", "Activations",
     "saved for the backward pass, or held by the running forward pass"},
    {"temporary", "Temporary", "any other tensor of a running operator"},
    {"runtime", "Runtime", "workspaces, ids, and what the allocator adds by rounding"},
}};

struct LedgerLine {
  std::string_view what;
  std::string_view where;   // "layers.*.mlp.gate_proj"
  double count = 0;         // equal tensors
  Bytes bytes;              // of all of them, with the working
  std::string why;          // why they are alive
  std::string_view source;  // where the rule was read
  std::uint32_t born = 0;   // event of the first
  std::uint32_t dies = 0;   // event of the last; the number of events if it never dies
};

struct Ledger {
  std::array<std::vector<LedgerLine>, kParts.size()> lines;
  std::array<double, kParts.size()> bytes{};  // by part; their sum is `allocated`
  double allocated = 0;                       // blocks, as PyTorch counts
  double rounded = 0;                         // sizes rounded up to 512 bytes
};

// What is known of a storage at some moment, from the events so far.
struct Status {
  bool live = false, saved = false, accumulated = false;
};

// The part that a storage belongs to in that state.
Part part_of(const StorageRecord& storage, Status status);

// Follows the events of a record.
class Follower {
 public:
  explicit Follower(const Record& record) : record_(record), statuses_(record.storages.size()) {}
  // Takes the state to just after `event`. Only forwards.
  void advance(std::uint32_t event);
  const std::vector<Status>& statuses() const { return statuses_; }

 private:
  const Record& record_;
  std::vector<Status> statuses_;
  std::uint32_t next_ = 0;
};

// Texts that the record does not know.
struct LedgerSources {
  std::string weights;    // the model's own source
  std::string optimizer;  // the optimizer's
  std::string loop;       // the training loop's
};

// `layers`: the letter L with its value, for lines that hold one tensor of every layer.
Ledger ledger_at(const Record& record, const device::Replay& replay, std::uint32_t event,
                 Count layers, const LedgerSources& sources);

}  // namespace ledger
