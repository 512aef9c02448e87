// The cards of core/data/cards: found by id, name or alias, with the bytes that PyTorch can use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ledger::device {

struct Card {
  std::string id, name, vendor, generation, kind;  // kind: consumer, laptop, workstation, ...
  double nominal_gb = 0;                           // as sold
  bool unified = false;                            // shares its memory with the CPU
  // Bytes. Absent where nobody's figure is known; nothing is derived from the nominal size.
  std::optional<double> usable_bytes;
  std::string usable_source;                   // a clause: where usable_bytes comes from
  std::optional<double> usable_bytes_windows;  // as reported on Windows and WSL2
  std::optional<double> nvidia_smi_bytes;      // what nvidia-smi shows as the whole card
  int compute_major = 0, compute_minor = 0;    // 0.0: not a CUDA device
  std::optional<double> multiprocessors, threads_per_multiprocessor;
};

// Every card, in the order of the files.
std::vector<Card> all_cards();

struct CardSearch {
  std::optional<Card> card;
  std::vector<std::string> near;  // ids that may be meant, best first; empty if found
};

// Looks among ids, names and aliases, whatever the case, spaces and punctuation, with or without
// the maker's name. A name that fits several cards ("A100") finds none and lists them.
CardSearch find_card(std::string_view text);

// Whether the sizes that follow the kernels (workspaces, scratch) are known for this card: the
// PyTorch that is modelled runs on compute capability 7.5 and later.
bool kernels_known(const Card& card);

// Threads of one multiprocessor, by compute capability.
double threads_per_multiprocessor(int compute_major, int compute_minor);

}  // namespace ledger::device
