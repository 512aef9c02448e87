// The clauses, most special first: the first that fits says what a number is.
#include "core/explain/labels.hpp"

#include <cmath>

namespace ledger::message {
namespace {

constexpr std::array kLabels = {
    LabelRow{Label::kUnknown, "unrecognised", "not recognised"},
    LabelRow{Label::kTried, "tried", "the allocation that failed"},
    LabelRow{Label::kTotal, "total", "memory of the device, as the program sees it"},
    LabelRow{Label::kFree, "free", "free on the device"},
    LabelRow{Label::kAllocated, "allocated", "live tensors, in the allocator's blocks"},
    LabelRow{Label::kActive, "active", "live tensors, and blocks that wait for another stream"},
    LabelRow{Label::kReserved, "reserved", "all that the allocator holds, live tensors included"},
    LabelRow{Label::kUnallocated, "unallocated", "held by the allocator, but not in live tensors"},
    LabelRow{Label::kSlack, "slack", "held by the allocator beyond live tensors: not a total"},
    LabelRow{Label::kThisProcess, "this_process", "all that this process has on the device"},
    LabelRow{Label::kOtherProcess, "process", "all that the named process has on the device"},
    LabelRow{Label::kLimit, "limit", "a limit that was set, or that the program keeps to"},
    LabelRow{Label::kPools, "private_pools", "idle blocks of private pools, counted as allocated"},
    LabelRow{Label::kOutside, "outside", "of this process, outside the allocator"},
    LabelRow{Label::kPeakAllocated, "peak_allocated", "the most that was allocated at once"},
    LabelRow{Label::kPeakReserved, "peak_reserved", "the most that was reserved at once"},
    LabelRow{Label::kBlockLimit, "largest", "the largest allocation that is possible or allowed"},
    LabelRow{Label::kWeights, "weights", "weights of the model"},
    LabelRow{Label::kActivations, "activations", "peak of activations while profiling"},
    LabelRow{Label::kCacheNeeded, "cache_needed", "KV cache that one request needs"},
    LabelRow{Label::kCache, "cache", "KV cache"},
    LabelRow{Label::kCacheFree, "cache_available", "room for the KV cache"},
    LabelRow{Label::kBuffer, "buffer", "a buffer"},
    LabelRow{Label::kProgram, "program", "the compiled program, whole"},
    LabelRow{Label::kExceeded, "exceeded", "by how much it does not fit"},
    LabelRow{Label::kPossible, "wanted", "what rematerialisation should have reached"},
    LabelRow{Label::kPadded, "unpadded", "the same tensor without padding"},
    LabelRow{Label::kHostUsed, "host_used", "used of the host's memory"},
    LabelRow{Label::kHostTotal, "host_total", "memory of the host, or of its container"},
    LabelRow{Label::kHostProcess, "host_process", "of the host's memory, used by one process"},
    LabelRow{Label::kHostFree, "host_free", "free of the host's memory"},
    LabelRow{Label::kHostVirtual, "host_virtual", "address space: not memory that is used"},
    LabelRow{Label::kThreshold, "threshold", "the share at which the monitor acts"},
    LabelRow{Label::kFraction, "fraction", "a share of the memory"},
    LabelRow{Label::kUsed, "used", "used on the device"},
    LabelRow{Label::kPerSequence, "per_sequence", "activations of one sequence"},
    LabelRow{Label::kState, "state", "weights, gradients and optimizer state, as estimated"},
    LabelRow{Label::kTokens, "tokens", "tokens"},
    LabelRow{Label::kTokensMost, "tokens_most", "tokens that would fit"},
    LabelRow{Label::kElements, "elements", "elements, not bytes"},
    LabelRow{Label::kParameters, "parameters", "parameters, in powers of 1000"},
    LabelRow{Label::kBlocks, "blocks", "blocks of the KV cache"},
    LabelRow{Label::kCells, "cells", "cells of the KV cache"},
    LabelRow{Label::kDelta, "delta", "change of the allocated memory"},
    LabelRow{Label::kNominal, "nominal", "a size in a name, as sold"},
    LabelRow{Label::kOwnFigure, "told", "a figure told in words"},
    LabelRow{Label::kCounter, "counter", "allocated or freed over the whole run: not a state"},
};

// What a number without a unit counts, by its clause.
enum class Bare : std::uint8_t { kNo, kBytes, kKilo, kMega, kGiga, kCount };

struct Clause {
  const char* before;  // stands right before the number; "" for anything
  const char* after;   // stands right behind it and its unit
  Label label;
  Bare bare = Bare::kNo;
  Meaning meaning = Meaning::kBinary;
};

constexpr Meaning kFloor = Meaning::kFloor;

constexpr Clause kClauses[] = {
    // -- PyTorch's caching allocators: CUDA, HIP, XPU, NPU and their forks
    Clause{"npuworkspaceallocator tried to allocate", "", Label::kTried},
    Clause{"tried to allocate more than", "memory", Label::kTried},
    Clause{"memory block with size larger than", "", Label::kBlockLimit},
    Clause{"", "total capac*ty", Label::kTotal},
    Clause{"total capac*ty of", "", Label::kTotal},
    Clause{"", "already allocated", Label::kAllocated},
    Clause{"", "current active", Label::kActive},
    Clause{"", "cached>", Label::kSlack},
    Clause{"", "reserved in total", Label::kReserved},
    Clause{"", "*reserved by pytorch but unallocated", Label::kUnallocated},
    Clause{"", "is reserved*but unallocated", Label::kUnallocated},
    Clause{"", "is allocated by pytorch", Label::kAllocated},
    Clause{"", "is free", Label::kFree},
    Clause{"with", "allocated in private pools", Label::kPools},
    Clause{"", "allocated in private pools", Label::kPools},
    Clause{"this process has", "", Label::kThisProcess},
    Clause{"process # has", "", Label::kOtherProcess},
    Clause{"process * has", "memory in use", Label::kOtherProcess},
    Clause{"process *", "memory in use", Label::kOtherProcess},
    Clause{"process * uses", "", Label::kOtherProcess},
    Clause{"", "allowed>", Label::kLimit},
    // cudaMallocAsync
    Clause{"currently allocated:", "", Label::kAllocated},
    Clause{"requested:", "", Label::kTried},
    Clause{"device limit:", "", Label::kTotal},
    Clause{"free (according to cuda):", "", Label::kFree},
    Clause{"user-supplied memory fraction):", "", Label::kLimit},
    // MPS
    Clause{"invalid buffer size", "", Label::kTried},
    Clause{"mps allocated:", "", Label::kAllocated},
    Clause{"other allocations:", "", Label::kOutside},
    Clause{"max allowed:", "", Label::kLimit},
    // torch.cuda.memory_summary(): now, peak, and all that ever came and went
    Clause{"allocated memory|", "", Label::kAllocated, Bare::kNo, kFloor},
    Clause{"allocated memory|*|", "", Label::kPeakAllocated, Bare::kNo, kFloor},
    Clause{"reserved memory|", "", Label::kReserved, Bare::kNo, kFloor},
    Clause{"reserved memory|*|", "", Label::kPeakReserved, Bare::kNo, kFloor},
    Clause{"active memory|", "", Label::kActive, Bare::kNo, kFloor},
    Clause{"requested memory|", "", Label::kAllocated, Bare::kNo, kFloor},
    Clause{"non-releasable memory|", "", Label::kUnallocated, Bare::kNo, kFloor},
    Clause{"memory|*|", "", Label::kUsed, Bare::kNo, kFloor},
    Clause{"memory|*|*|", "", Label::kCounter, Bare::kNo, kFloor},
    Clause{"memory|*|*|*|", "", Label::kCounter, Bare::kNo, kFloor},
    Clause{"pool|", "", Label::kUsed, Bare::kNo, kFloor},
    Clause{"pool|*|", "", Label::kUsed, Bare::kNo, kFloor},
    Clause{"pool|*|*|", "", Label::kCounter, Bare::kNo, kFloor},
    Clause{"pool|*|*|*|", "", Label::kCounter, Bare::kNo, kFloor},
    // -- vLLM, SGLang, TGI
    Clause{"", "kv cache is needed", Label::kCacheNeeded},
    Clause{"available kv cache memory", "", Label::kCacheFree},
    Clause{"max*seq*len (", "", Label::kTokens, Bare::kCount},
    Clause{"max*model*len (", "", Label::kTokens, Bare::kCount},
    Clause{"maximum model length is", "", Label::kTokensMost, Bare::kCount},
    Clause{"stored in kv cache (", "", Label::kTokensMost, Bare::kCount},
    Clause{"kv cache size:", "tokens", Label::kTokensMost},
    Clause{"gpu blocks:", "", Label::kBlocks, Bare::kCount},
    Clause{"cpu blocks:", "", Label::kBlocks, Bare::kCount},
    Clause{"free memory on device * (", "", Label::kFree},
    Clause{"free memory on device * (#/", "", Label::kTotal},
    Clause{"memory utilization (", "", Label::kFraction, Bare::kCount},
    Clause{"memory utilization (#,", "", Label::kLimit},
    Clause{"memory_utilization (#)", "", Label::kLimit},
    Clause{"num_tokens", "", Label::kTokensMost, Bare::kCount},
    Clause{"model weights*", "", Label::kWeights},
    Clause{"<weights", "", Label::kWeights},
    Clause{"non_torch_memory*", "", Label::kOutside},
    Clause{"activation peak*", "", Label::kActivations},
    Clause{"kv cache is", "", Label::kCache},
    Clause{"kv cache", "", Label::kCache},
    Clause{"mem_fraction_static", "", Label::kFraction, Bare::kCount},
    Clause{"mem-fraction-static", "", Label::kFraction, Bare::kCount},
    Clause{"gpu_memory_utilization", "", Label::kFraction, Bare::kCount},
    Clause{"tokens:", "", Label::kTokensMost, Bare::kCount},
    Clause{"<k size", "", Label::kCache},
    Clause{"<v size", "", Label::kCache},
    Clause{"avail mem", "", Label::kFree},
    Clause{"available_gpu_mem", "", Label::kFree},
    Clause{"mem usage", "", Label::kWeights},
    Clause{"to handle", "prefill tokens", Label::kTokens, Bare::kCount},
    // -- DeepSpeed, Megatron, Transformer trainers' logs
    Clause{"<max_ma", "", Label::kPeakAllocated},
    Clause{"<ma", "", Label::kAllocated},
    Clause{"<max_ca", "", Label::kPeakReserved},
    Clause{"<ca", "", Label::kReserved},
    Clause{"virtual memory: used", "", Label::kHostUsed},
    Clause{"gib (", "", Label::kFraction},
    Clause{"/# (", "", Label::kFraction},
    Clause{"percent", "", Label::kFraction, Bare::kCount},
    Clause{"max_mem_allocated", "", Label::kPeakAllocated},
    Clause{"mem_allocated", "", Label::kAllocated},
    Clause{"maxmemallocated", "", Label::kPeakAllocated},
    Clause{"memallocated", "", Label::kAllocated},
    Clause{"current alloc", "", Label::kAllocated},
    Clause{"", "|*| offload_param", Label::kHostUsed},
    Clause{"", "| offload_param", Label::kUsed},
    Clause{"more elements", "", Label::kElements, Bare::kCount},
    Clause{"than buffer size", "", Label::kElements, Bare::kCount},
    Clause{"", "total params", Label::kParameters},
    Clause{"", "largest layer params", Label::kParameters},
    Clause{"max_memory_allocated_gb", "", Label::kPeakAllocated, Bare::kGiga},
    Clause{"max_memory_reserved_gb", "", Label::kPeakReserved, Bare::kGiga},
    Clause{"cpu_memory_used_gb", "", Label::kHostUsed, Bare::kGiga},
    Clause{"memory allocated (gb)", "", Label::kAllocated, Bare::kGiga},
    Clause{"memory reserved (gb)", "", Label::kReserved, Bare::kGiga},
    Clause{"used/total (gb)", "", Label::kUsed, Bare::kGiga},
    Clause{"used/total (gb):#/", "", Label::kTotal, Bare::kGiga},
    Clause{"using (gb)", "", Label::kUsed, Bare::kGiga},
    Clause{"using (gb)#/", "", Label::kTotal, Bare::kGiga},
    Clause{"max_active (gib)", "", Label::kPeakAllocated, Bare::kGiga},
    Clause{"max_alloc* (gib)", "", Label::kPeakAllocated, Bare::kGiga},
    Clause{"max_reserved (gib)", "", Label::kPeakReserved, Bare::kGiga},
    Clause{"memory (gib)", "", Label::kPeakReserved, Bare::kGiga},
    Clause{"| max allocated", "", Label::kPeakAllocated, Bare::kMega},
    Clause{"| max reserved", "", Label::kPeakReserved, Bare::kMega},
    Clause{"| allocated", "", Label::kAllocated, Bare::kMega},
    Clause{"| reserved", "", Label::kReserved, Bare::kMega},
    Clause{"weight and optimizer", "", Label::kState},
    Clause{"<activation", "", Label::kActivations},
    Clause{"train_mem_*", "", Label::kDelta, Bare::kNo, kFloor},
    Clause{"_mem_*_delta", "", Label::kDelta, Bare::kNo, kFloor},
    Clause{"% of max memory", "", Label::kFraction},
    Clause{"peak reserved memory*", "", Label::kPeakReserved},
    Clause{"", "of memory reserved", Label::kReserved},
    Clause{"max memory", "", Label::kTotal},
    Clause{"cpu total peak memory*(max)", "", Label::kHostUsed, Bare::kNo, kFloor},
    Clause{"gpu memory:", "", Label::kTotal},
    Clause{"vram_reserved", "", Label::kReserved, Bare::kGiga},
    Clause{"vram_allocated", "", Label::kAllocated, Bare::kGiga},
    Clause{"<memory used:", "", Label::kPeakAllocated, Bare::kNo, Meaning::kDecimal},
    Clause{"max cuda memory allocated was", "", Label::kPeakAllocated, Bare::kNo, kFloor},
    Clause{"max cuda memory reserved was", "", Label::kPeakReserved, Bare::kNo, kFloor},
    Clause{"peak active cuda memory was", "", Label::kPeakAllocated, Bare::kNo, kFloor},
    Clause{"cuda capacity:*", "", Label::kTotal},
    Clause{"peak memory reserved", "", Label::kPeakReserved},
    Clause{"peak memory allocated", "", Label::kPeakAllocated},
    Clause{"peak memory*", "", Label::kPeakAllocated},
    Clause{"<memory:", "(#%", Label::kPeakReserved},
    Clause{"<baseline", "", Label::kUsed},
    // -- Ray, the kernel and what else kills for the host's memory
    Clause{"memory used", ") was running was", Label::kHostProcess},
    Clause{"memory used=", "", Label::kHostProcess},
    Clause{") was running was", "/", Label::kHostUsed},
    Clause{") was running was # gb/", "", Label::kHostTotal},
    Clause{"memory on the node * was", "", Label::kHostUsed},
    Clause{") was", "/#gb (", Label::kHostUsed},
    Clause{") was # gb/", "", Label::kHostTotal},
    Clause{"gb/# gb (", "", Label::kFraction, Bare::kCount},
    Clause{"usage threshold of", "", Label::kThreshold, Bare::kCount},
    Clause{"more than", "of the memory on node", Label::kThreshold},
    Clause{"is used (", "", Label::kHostUsed},
    Clause{"is used (#/", "", Label::kHostTotal},
    Clause{"total-vm:", "", Label::kHostVirtual},
    Clause{"anon-rss:", "", Label::kHostProcess},
    Clause{"file-rss:", "", Label::kHostProcess},
    Clause{"shmem-rss:", "", Label::kHostProcess},
    Clause{"pgtables:", "", Label::kHostProcess},
    Clause{"more system memory (", "", Label::kTried},
    Clause{"than is available (", "", Label::kHostFree},
    Clause{"object store memory*", "", Label::kHostUsed},
    // -- XLA, TensorFlow
    Clause{"memory use below", "", Label::kPossible},
    Clause{"only reduced to", "", Label::kProgram},
    Clause{"only reduced to # gib (", "", Label::kProgram},
    Clause{"<used", "of", Label::kProgram},
    Clause{"<used # g of", "", Label::kTotal},
    Clause{"<used # m of", "", Label::kTotal},
    Clause{"exceeded * capacity by", "", Label::kExceeded},
    Clause{"total * usage", "", Label::kProgram},
    Clause{"<reserved", "program", Label::kOutside},
    Clause{"<program", "arguments", Label::kProgram},
    Clause{"<arguments", "", Label::kWeights},
    Clause{"unpadded size:", "", Label::kPadded},
    Clause{"due to padding", "", Label::kPadded},
    Clause{"<size:", "operator", Label::kTried},
    Clause{"#. size:", "", Label::kTried},
    Clause{"allocation of", "exceeds", Label::kTried, Bare::kBytes},
    Clause{"exceeds", "of*system memory", Label::kThreshold},
    Clause{"parameter allocation", "", Label::kWeights},
    Clause{"constant allocation", "", Label::kBuffer},
    Clause{"live_out allocation", "", Label::kBuffer},
    Clause{"temp allocation", "", Label::kActivations},
    Clause{"total allocation", "", Label::kProgram},
    Clause{"attempting to reserve", "", Label::kTried},
    Clause{"", "reservable", Label::kFree},
    Clause{"allocation (size", "", Label::kTried, Bare::kBytes},
    Clause{"exceed memory (size", "", Label::kTotal, Bare::kBytes},
    Clause{"in-use chunks:", "", Label::kAllocated},
    Clause{"total_region_allocated_bytes_:", "", Label::kReserved, Bare::kBytes},
    Clause{"memory_limit_:", "", Label::kLimit, Bare::kBytes},
    Clause{"available bytes:", "", Label::kFree, Bare::kBytes},
    Clause{"<maxinuse:", "", Label::kPeakAllocated, Bare::kBytes},
    Clause{"<inuse:", "", Label::kAllocated, Bare::kBytes},
    Clause{"<limit:", "", Label::kLimit, Bare::kBytes},
    Clause{"hardware limit:", "", Label::kLimit, Bare::kBytes},
    Clause{"shared memory, required:", "", Label::kTried, Bare::kBytes},
    Clause{"bytes_limit", "", Label::kLimit, Bare::kBytes},
    // -- ggml, Ollama, MLX, llm.c
    Clause{"buffer of size", "", Label::kTried, Bare::kBytes},
    Clause{"(needed", "", Label::kTried, Bare::kBytes},
    Clause{"largest block available", "", Label::kBlockLimit, Bare::kBytes},
    Clause{"allowed buffer size of", "", Label::kBlockLimit, Bare::kBytes},
    Clause{"", "cells", Label::kCells, Bare::kCount},
    Clause{"<k (#):", "", Label::kCache},
    Clause{"<k (*):", "", Label::kCache},
    Clause{"<v (*):", "", Label::kCache},
    Clause{"kv_cache*: size", "", Label::kCache},
    Clause{"kv self size", "", Label::kCache},
    Clause{"kv buffer size", "", Label::kCache},
    Clause{"model buffer size", "", Label::kWeights},
    Clause{"compute buffer size", "", Label::kActivations},
    Clause{"output buffer size", "", Label::kBuffer},
    Clause{"buffer size", "", Label::kBuffer},
    Clause{"allocating", "for", Label::kBuffer, Bare::kNo, kFloor},
    Clause{"device memory usage", "", Label::kUsed, Bare::kNo, kFloor},
    Clause{"device memory usage:# mib/", "", Label::kTotal, Bare::kNo, kFloor},
    Clause{"memory per sequence", "", Label::kPerSequence, Bare::kNo, kFloor},
    // -- an allocation that failed, in anybody's words
    Clause{"allocation failed for size", "", Label::kTried, Bare::kBytes},
    Clause{"size::#", "", Label::kTried},
    Clause{"calloc*", "", Label::kTried},
    Clause{"malloc*", "", Label::kTried},
    Clause{"allocation of size", "", Label::kTried, Bare::kBytes},
    Clause{"alloc size", "", Label::kTried, Bare::kBytes},
    Clause{"(rounded to", "", Label::kTried, Bare::kBytes},
    Clause{"", "memory has been allocated", Label::kAllocated},
    Clause{"allocated so far:", "", Label::kAllocated},
    Clause{"available memory is only", "", Label::kFree},
    Clause{"failed to alloc*", "", Label::kTried},
    Clause{"unable to alloc*", "", Label::kTried},
    Clause{"cannot alloc*", "", Label::kTried},
    Clause{"allocate request for", "", Label::kTried},
    Clause{"request for # mib (", "", Label::kTried},
    Clause{"request for # gib (", "", Label::kTried},
    Clause{"request for # kib (", "", Label::kTried},
    Clause{"to allocate", "", Label::kTried, Bare::kBytes},
    Clause{"allocating", "", Label::kTried},
    Clause{"asks for", "", Label::kTried},
    Clause{"asked for", "", Label::kTried},
    Clause{"failed on a", "", Label::kTried},
    Clause{"failed on a #-byte (", "", Label::kTried},
    Clause{"requested", "", Label::kTried},
    // -- quoted and told: words that say the same everywhere
    Clause{"", "short of", Label::kExceeded},
    Clause{"short of", "", Label::kLimit},
    Clause{"", "/rank", Label::kAllocated},
    Clause{"", "of system ram", Label::kHostTotal},
    Clause{"system ram*", "", Label::kHostUsed, Bare::kNo, Meaning::kOpen},
    Clause{"<ram*", "", Label::kHostUsed, Bare::kNo, Meaning::kOpen},
    Clause{"", "*<ram>", Label::kHostUsed, Bare::kNo, Meaning::kOpen},
    Clause{"max*memory*allocated", "", Label::kPeakAllocated},
    Clause{"max*memory*reserved", "", Label::kPeakReserved},
    Clause{"total capacity", "", Label::kTotal},
    Clause{"capacity", "", Label::kTotal},
    Clause{"", "capacity", Label::kTotal},
    Clause{"<allocated*", "", Label::kAllocated},
    Clause{"<reserved*", "", Label::kReserved},
    Clause{"", "*unallocated", Label::kUnallocated},
    Clause{"", "*<allocated>", Label::kAllocated},
    Clause{"", "*<reserved>", Label::kReserved},
    Clause{"free of", "", Label::kTotal, Bare::kGiga},
    Clause{"", "<free>", Label::kFree},
    Clause{"", "available", Label::kFree},
    Clause{"", "<left>", Label::kFree},
    Clause{"<free*", "", Label::kFree},
    Clause{"available*", "", Label::kFree},
    Clause{"", "memory in use", Label::kUsed},
    Clause{"", "in use", Label::kUsed},
    Clause{"", "<used>", Label::kUsed},
    Clause{"<used*", "", Label::kUsed},
    Clause{"usage*", "", Label::kUsed},
    Clause{"peak*", "", Label::kPeakAllocated, Bare::kNo, Meaning::kOpen},
    Clause{"<limit*", "", Label::kLimit},
    Clause{"", "limit>", Label::kLimit},
    Clause{"<total*", "", Label::kTotal},
    Clause{"", "<total>", Label::kTotal},
    Clause{"required*", "", Label::kTried},
    Clause{"needed*", "", Label::kTried},
    Clause{"", "required>", Label::kTried},
    Clause{"", "needed>", Label::kTried},
    Clause{"to allocate*", "", Label::kTried},
    Clause{"to allocate*(", "", Label::kTried},
    Clause{"<another*", "", Label::kTried},
    Clause{"(#)", "", Label::kBuffer},
    Clause{"^3*", "", Label::kOwnFigure, Bare::kNo, Meaning::kOpen},
    Clause{"logits*", "", Label::kOwnFigure, Bare::kNo, Meaning::kOpen},
    Clause{"<expects*", "", Label::kOwnFigure, Bare::kNo, Meaning::kOpen},
    Clause{"", "after", Label::kUsed, Bare::kNo, Meaning::kOpen},
    Clause{"<buffer*", "", Label::kBuffer},
};

// Labels of what is no size.
bool counts(Label label) {
  switch (label) {
    case Label::kThreshold:
    case Label::kFraction:
    case Label::kTokens:
    case Label::kTokensMost:
    case Label::kElements:
    case Label::kParameters:
    case Label::kBlocks:
    case Label::kCells: return true;
    default: return false;
  }
}

// Characters that may stand between the words and the number.
bool between(char c) {
  constexpr std::string_view kBetween = ":=~<>(['\"`*-|";
  return kBetween.find(c) != kBetween.npos;
}

bool fits(const Squeezed& s, const Figure& figure, const Clause& clause) {
  if (clause.after[0] != '\0') {
    std::size_t i = figure.end;
    bool found = stands_at(s, i, clause.after);
    for (int n = 0; !found && n < 2 && (s.at(i) == ')' || s.at(i) == ']' || s.at(i) == '`'); ++n) {
      found = stands_at(s, ++i, clause.after);
    }
    if (!found) return false;
  }
  if (clause.before[0] == '\0') return true;
  std::size_t end = figure.begin;
  for (int n = 0; n <= 3; ++n) {
    if (stands_before(s, end, clause.before)) return true;
    if (end == 0 || !between(s.text[end - 1])) return false;
    --end;
  }
  return false;
}

// Names of cards end in letters and figures: "RTX 4090 24GB", "A100 80GB".
bool beside_a_card(const Squeezed& s, const Figure& figure) {
  constexpr std::array kCards = {"<a#",    "<h#",  "<b#",  "<l#",    "<l#s",    "<v#",   "<p#",
                                 "<t#",    "rtx#", "gtx#", "rtx#ti", "gtx#ti",  "<mi#x", "<a#g",
                                 "tesla*", "<gh#", "<gb#", "tpuv#",  "geforce*"};
  for (const char* card : kCards) {
    if (stands_before(s, figure.begin, card) || stands_at(s, figure.end, card)) return true;
  }
  return false;
}

}  // namespace

const LabelRow& row_of(Label label) { return kLabels[static_cast<std::size_t>(label)]; }

Reading read_figure(const Squeezed& s, Figure figure) {
  Reading out;
  out.figure = figure;
  const bool bare = figure.unit == Unit::kNone;
  if (figure.of_name) {
    if (is_size(figure.unit)) {
      out.label = figure.unit == Unit::kBytes ? Label::kParameters : Label::kNominal;
      out.meaning = Meaning::kNominal;
    }
  } else {
    for (const Clause& clause : kClauses) {
      if (bare && clause.bare == Bare::kNo) continue;
      if (!fits(s, figure, clause)) continue;
      if (!bare && is_size(figure.unit) == counts(clause.label) &&
          clause.label != Label::kParameters)
        continue;
      if (clause.meaning == Meaning::kOpen && figure.spelling == Spelling::kLetter) continue;
      out.label = clause.label;
      out.meaning = clause.meaning;
      if (bare && clause.bare != Bare::kCount) {
        out.figure.unit = static_cast<Unit>(static_cast<int>(clause.bare) - 1);
        out.figure.shared_unit = true;
      }
      break;
    }
    if (out.label == Label::kUnknown && is_size(figure.unit)) {
      if (beside_a_card(s, figure)) {
        out.label = Label::kNominal;
        out.meaning = Meaning::kNominal;
      } else if (s.at(figure.end) == '/' && is_digit(s.at(figure.end + 1))) {
        out.label = Label::kUsed;
      } else if (figure.begin > 0 && s.text[figure.begin - 1] == '/') {
        out.label = Label::kTotal;
      }
    }
    if (out.label == Label::kUnknown && figure.unit == Unit::kTokens) out.label = Label::kTokens;
    if (out.label == Label::kUnknown && figure.unit == Unit::kElements)
      out.label = Label::kElements;
    if (out.label == Label::kUnknown && figure.unit == Unit::kParameters)
      out.label = Label::kParameters;
  }
  if (!is_size(out.figure.unit) || out.label == Label::kParameters) return out;

  const int power = static_cast<int>(out.figure.unit);
  const bool decimal = out.meaning == Meaning::kDecimal || out.meaning == Meaning::kNominal;
  const double unit = decimal ? decimal_unit(power) : binary(power);
  double half = 0.5;
  for (int i = 0; i < figure.decimals; ++i) half /= 10;
  out.bytes = figure.value * unit;
  out.exact = power == 0;
  if (out.exact) {
    out.low = out.high = out.bytes;
  } else if (out.meaning == Meaning::kFloor) {
    out.low = out.bytes;
    out.high = (figure.value + 2 * half) * unit - 1;
  } else if (out.meaning == Meaning::kOpen && figure.spelling != Spelling::kBinary) {
    out.low = std::ceil((figure.value - half) * decimal_unit(power));
    out.high = std::floor((figure.value + half) * unit);
  } else {
    out.low = std::ceil((figure.value - half) * unit);
    out.high = std::floor((figure.value + half) * unit);
  }
  if (out.bytes >= 0 && out.low < 0) out.low = 0;
  if (out.low > out.high) {  // so many digits that less than a byte is open
    out.low = out.high = std::floor(out.bytes + 0.5);
  }
  return out;
}

}  // namespace ledger::message
