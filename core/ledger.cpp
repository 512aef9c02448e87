// Sorts live tensors into parts and lines: equal in meaning, place and working is one line.
#include "core/ledger.hpp"

#include <algorithm>

#include "core/short_sort.hpp"

namespace ledger {
namespace {

std::string why(const StorageRecord& s, Status status, Part part) {
  switch (part) {
    case Part::kWeights:
      return s.role == Role::kBuffer ? "a buffer of the model, kept as long as it is"
                                     : "a parameter, kept as long as the model is";
    case Part::kGradients:
      return s.role == Role::kBucket ? "gradients are reduced over all ranks in it"
                                     : "kept in .grad until zero_grad()";
    case Part::kOptimizer: return "made by the first step, kept for all later ones";
    case Part::kMaster: return "the copy that the optimizer updates";
    case Part::kActivations:
      if (status.saved && s.saved_for) {
        return std::string("saved for the backward of ") + s.saved_for->name;
      }
      return "held by a variable of the running pass";
    case Part::kTemporary:
      if (s.cast) return "a copy in another type, for one operator";
      if (s.role == Role::kGradient) return "a gradient on its way through the backward pass";
      if (!s.maker) return "working space of the optimizer's step";
      return std::string("working space of ") + s.maker->name;
    case Part::kRuntime:
      return s.role == Role::kWorkspace ? "taken at the first matrix product, kept for ever"
                                        : "handed to the model for this step";
  }
  return {};
}

std::string_view source(const StorageRecord& s, Part part, const LedgerSources& sources) {
  switch (part) {
    case Part::kWeights: return sources.weights;
    case Part::kOptimizer: return sources.optimizer;
    case Part::kGradients:
      return s.maker && s.role == Role::kBucket ? s.maker->source
                                                : "torch/csrc/autograd/functions/accumulate_grad.h";
    case Part::kRuntime:
      return s.role == Role::kWorkspace ? "aten/src/ATen/cuda/CublasHandlePool.cpp"
                                        : std::string_view(sources.loop);
    case Part::kMaster:
    case Part::kActivations:
    case Part::kTemporary: break;
  }
  if (s.maker) return s.maker->source;
  return s.role == Role::kScratch ? std::string_view(sources.optimizer)
                                  : std::string_view(sources.loop);
}

// What makes tensors equal: one line for all of them.
struct Key {
  const char* what;
  const Expression* working;
  const Rule* rule;
  std::uint32_t place;
  Part part;
  bool saved;
  friend bool operator==(const Key& a, const Key& b) {
    return a.what == b.what && a.working == b.working && a.rule == b.rule && a.place == b.place &&
           a.part == b.part && a.saved == b.saved;
  }
};

struct Group {
  Key key{};
  std::uint32_t example = 0;  // a storage of the group
  double count = 0;
  double in_layers = 0;  // of them, those that belong to a layer
  Flags layers;
  std::uint32_t born = 0, dies = 0;
};

// Every group in the order in which it was first met, found by its key.
class Groups {
 public:
  Groups() : slots_(256) {}

  Group& of(const Key& key) {
    if (groups_.size() * 2 > slots_.size()) {
      slots_.assign(slots_.size() * 2, 0);
      for (std::uint32_t i = 0; i < groups_.size(); ++i) slots_[slot(groups_[i].key)] = i + 1;
    }
    std::uint32_t& number = slots_[slot(key)];
    if (number == 0) {
      groups_.emplace_back().key = key;
      number = static_cast<std::uint32_t>(groups_.size());
    }
    return groups_[number - 1];
  }
  const std::vector<Group>& all() const { return groups_; }

 private:
  // Where the key stands, or the empty slot where it would.
  std::size_t slot(const Key& key) const {
    std::size_t at = key.working ? key.working->id : 0;
    at = at * 31 + key.place;
    at = at * 31 + static_cast<std::size_t>(key.part);
    for (;; ++at) {
      at &= slots_.size() - 1;
      if (slots_[at] == 0 || groups_[slots_[at] - 1].key == key) return at;
    }
  }
  std::vector<Group> groups_;
  std::vector<std::uint32_t> slots_;  // numbers of groups from 1, a power of two of them
};

Key key_of(const StorageRecord& s, Status status, Part part) {
  const bool grad = part == Part::kGradients && s.role == Role::kGradient;
  return {grad ? "gradient" : s.what,
          s.bytes.working(),
          grad           ? nullptr
          : status.saved ? s.saved_for
                         : s.maker,
          s.place,
          part,
          status.saved};
}

// "L" where every layer has one, "2 · L" where every layer has two, else the number.
Count multiplicity(const Group& group, Count layers) {
  const auto covered =
      static_cast<double>(std::count(group.layers.begin(), group.layers.end(), true));
  const double each = group.count / layers.value();
  const bool every_layer = group.in_layers == group.count && covered == layers.value() &&
                           layers.value() > 1 &&
                           each == static_cast<double>(static_cast<int>(each));
  return every_layer ? Count(each) * layers : Count(group.count);
}

}  // namespace

Part part_of(const StorageRecord& s, Status status) {
  switch (s.role) {
    case Role::kWeight:
    case Role::kBuffer: return Part::kWeights;
    case Role::kState: return Part::kOptimizer;
    case Role::kInput:
    case Role::kWorkspace: return Part::kRuntime;
    case Role::kActivation: return s.cast && !status.saved ? Part::kTemporary : Part::kActivations;
    case Role::kGradient:
      if (status.accumulated) return Part::kGradients;
      return status.saved ? Part::kActivations : Part::kTemporary;
    case Role::kBucket: return Part::kGradients;
    case Role::kScratch: return status.saved ? Part::kActivations : Part::kTemporary;
  }
  return Part::kTemporary;
}

void Follower::advance(std::uint32_t event) {
  for (; next_ <= event && next_ < record_.events.size(); ++next_) {
    const Event& e = record_.events[next_];
    switch (e.kind) {
      case Event::Kind::kAllocate: statuses_[e.id].live = true; break;
      case Event::Kind::kFree: statuses_[e.id].live = false; break;
      case Event::Kind::kSave: statuses_[e.id].saved = true; break;
      case Event::Kind::kUnsave: statuses_[e.id].saved = false; break;
      case Event::Kind::kAccumulate: statuses_[e.id].accumulated = true; break;
      case Event::Kind::kMark:
      case Event::Kind::kEmptyCache: break;
    }
  }
}

Ledger ledger_at(const Record& record, const device::Replay& replay, std::uint32_t event,
                 Count layers, const LedgerSources& sources) {
  Follower follower(record);
  follower.advance(event);
  std::vector<std::uint32_t> born(record.storages.size()), dies(record.storages.size());
  for (std::uint32_t& d : dies) d = static_cast<std::uint32_t>(replay.allocated.size());
  for (std::uint32_t i = 0; i < replay.allocated.size(); ++i) {
    const Event& e = record.events[i];
    if (e.kind == Event::Kind::kAllocate) born[e.id] = i;
    if (e.kind == Event::Kind::kFree) dies[e.id] = i;
  }

  Groups groups;
  Ledger out;
  double requested = 0, blocks = 0;
  for (std::uint32_t id = 0; id < record.storages.size(); ++id) {
    const Status status = follower.statuses()[id];
    if (!status.live) continue;
    const StorageRecord& s = record.storages[id];
    Group& group = groups.of(key_of(s, status, part_of(s, status)));
    if (group.count == 0) {
      group.example = id;
      group.born = born[id];
      group.layers.resize(static_cast<std::size_t>(layers.value()));
    }
    group.count += 1;
    group.born = std::min(group.born, born[id]);
    group.dies = std::max(group.dies, dies[id]);
    if (s.layer >= 0) {
      group.in_layers += 1;
      group.layers[static_cast<std::size_t>(s.layer)] = true;
    }
    requested += s.bytes.value();
    blocks += static_cast<double>(replay.block_bytes[id]);
    out.rounded +=
        static_cast<double>(device::rounded(static_cast<std::uint64_t>(s.bytes.value())));
  }

  for (const Group& group : groups.all()) {
    const StorageRecord& s = record.storages[group.example];
    const Status status = follower.statuses()[group.example];
    LedgerLine line;
    line.what = group.key.what;
    line.where = record.places[s.place];
    line.count = group.count;
    line.bytes = multiplicity(group, layers) * s.bytes;
    line.why = why(s, status, group.key.part);
    line.source = source(s, group.key.part, sources);
    line.born = group.born;
    line.dies = group.dies;
    const auto part = static_cast<std::size_t>(group.key.part);
    out.bytes[part] += line.bytes.value();
    out.lines[part].push_back(std::move(line));
  }

  // What the allocator adds: every size goes up to 512 bytes, and a rest of up to 1 MiB of a large
  // block stays with its tensor.
  auto rounding = [&](const char* what, double bytes, const char* reason) {
    if (bytes <= 0) return;
    LedgerLine line;
    line.what = what;
    line.count = 1;
    line.bytes = Bytes(bytes, layers.working()->home->figure(bytes));
    line.why = reason;
    line.source = "c10/cuda/CUDACachingAllocator.cpp";
    line.dies = static_cast<std::uint32_t>(replay.allocated.size());
    out.lines[static_cast<std::size_t>(Part::kRuntime)].push_back(std::move(line));
    out.bytes[static_cast<std::size_t>(Part::kRuntime)] += bytes;
  };
  rounding("allocator rounding: sizes", out.rounded - requested,
           "sizes go up to multiples of 512 bytes");
  rounding("allocator rounding: blocks", blocks - out.rounded,
           "a rest of at most 1 MiB is not split off a large block");
  out.allocated = blocks;
  for (auto& lines : out.lines) {
    short_sort(lines, [](const LedgerLine& a, const LedgerLine& b) {
      return a.bytes.value() > b.bytes.value();
    });
  }
  return out;
}

}  // namespace ledger
