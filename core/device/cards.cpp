// Reads the cards' files and finds one card by what a person would call it.
#include "core/device/cards.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/data/data.hpp"
#include "core/json.hpp"
#include "core/nearest.hpp"

namespace ledger::device {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr double kMiB = 1048576, kGiB = 1073741824;

std::string text_of(const Value& card, std::string_view key) {
  const Value* value = card.find(key);
  return value ? value->text : std::string();
}

std::optional<double> number_of(const Value& card, std::string_view key) {
  const Value* value = card.find(key);
  if (!value || !value->is(Kind::kNumber)) return {};
  return value->number;
}

// MiB that the driver keeps of what nvidia-smi shows, on Linux: the upper ends of what was seen on
// cards of which both figures are known, so a derived size is on the safe side.
double driver_reserve_mib(double smi_mib) {
  constexpr std::array<std::pair<double, double>, 4> kUpTo = {
      {{8, 375}, {16, 465}, {32, 515}, {48, 640}}};
  for (const auto& [gib, reserve] : kUpTo) {
    if (smi_mib <= gib * 1024) return reserve;
  }
  return 1100;
}

std::string source_of(const Value& card, std::string_view figure) {
  const Value* evidence = card.find("evidence");
  const std::string source = evidence ? text_of(*evidence, figure) : std::string();
  return source.empty() ? source : " (" + source + ")";
}

void set_usable(const Value& entry, Card& card) {
  const auto windows = number_of(entry, "torch_total_gib_windows_wsl");
  const auto shown_on_linux = number_of(entry, "smi_total_mib");
  if (shown_on_linux) card.nvidia_smi_bytes = *shown_on_linux * kMiB;
  if (windows) {
    card.usable_bytes_windows = std::floor(*windows * kGiB);
  } else if (shown_on_linux) {  // all that nvidia-smi shows, or one MiB less
    card.usable_bytes_windows = (*shown_on_linux - 1) * kMiB;
  }
  if (const auto torch = number_of(entry, "torch_total_gib")) {
    card.usable_bytes = std::floor(*torch * kGiB);
    card.usable_source = (card.unified ? "what PyTorch can use of the shared memory by default"
                                       : "what PyTorch reports on Linux") +
                         source_of(entry, "torch_total_gib");
  } else if (const auto smi = number_of(entry, "smi_total_mib")) {
    card.usable_bytes = (*smi - driver_reserve_mib(*smi)) * kMiB;
    card.usable_source = "derived: what nvidia-smi shows less what the driver keeps" +
                         source_of(entry, "smi_total_mib");
  } else if (windows) {  // there PyTorch reports all that nvidia-smi shows
    const double shown = std::floor(*windows * 1024);
    card.usable_bytes = (shown - driver_reserve_mib(shown)) * kMiB;
    card.usable_source = "derived: what PyTorch reports on Windows less what the driver keeps" +
                         source_of(entry, "torch_total_gib_windows_wsl");
  } else if (const auto fraction = number_of(entry, "default_gpu_fraction")) {
    card.usable_bytes = std::floor(*fraction * card.nominal_gb * kGiB);
    card.usable_source = "derived: the share of the shared memory that the system allows";
  }
}

Card read(const Value& entry) {
  Card card;
  card.id = text_of(entry, "id");
  card.name = text_of(entry, "name");
  card.vendor = text_of(entry, "vendor");
  card.generation = text_of(entry, "generation");
  card.kind = text_of(entry, "class");
  card.nominal_gb = number_of(entry, "nominal_gb").value_or(0);
  const Value* unified = entry.find("unified");
  card.unified = unified && unified->flag;
  set_usable(entry, card);
  const std::string capability = text_of(entry, "compute_capability");
  if (const auto point = capability.find('.'); point != capability.npos) {
    for (std::size_t i = 0; i < point; ++i) {
      card.compute_major = 10 * card.compute_major + (capability[i] - '0');
    }
    card.compute_minor = capability[point + 1] - '0';
  }
  card.multiprocessors = number_of(entry, "multiprocessors");
  card.threads_per_multiprocessor = number_of(entry, "threads_per_multiprocessor");
  return card;
}

// Letters and digits only, in lower case, without the maker's words in front.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : lower(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out += c;
  }
  for (const std::string_view word :
       {"nvidia", "amd", "intel", "google", "geforce", "tesla", "instinct"}) {
    if (out.starts_with(word) && out.size() > word.size()) out.erase(0, word.size());
  }
  return out;
}

// The text of each card of a file: the objects that stand in a list in the file's one object.
std::vector<std::string_view> entries(std::string_view text) {
  std::vector<std::string_view> found;
  int depth = 0;
  std::size_t start = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth == 3) start = i;
    } else if (c == '}' || c == ']') {
      if (depth-- == 3) found.push_back(text.substr(start, i + 1 - start));
    }
  }
  return found;
}

template <class Visit>
void each_card(Visit visit) {
  for (const data::File& file : data::cards()) {
    for (const std::string_view entry : entries(file.text)) visit(json::parse(entry).value);
  }
}

// The card of exactly this id, without reading the others: what pages and reports ask for.
std::optional<Card> card_of_id(std::string_view id) {
  std::string quoted;
  json::write_text(id, quoted);
  for (const data::File& file : data::cards()) {
    if (file.text.find(quoted) == file.text.npos) continue;
    for (const std::string_view entry : entries(file.text)) {
      if (entry.find(quoted) == entry.npos) continue;
      const Value card = json::parse(entry).value;
      if (text_of(card, "id") == id) return read(card);
    }
  }
  return {};
}

}  // namespace

std::vector<Card> all_cards() {
  std::vector<Card> cards;
  each_card([&](const Value& entry) { cards.push_back(read(entry)); });
  return cards;
}

CardSearch find_card(std::string_view text) {
  CardSearch search;
  search.card = card_of_id(json::shortened(text, 80));
  if (search.card) return search;
  const std::string wanted = plain(json::shortened(text, 80));
  std::vector<std::pair<std::string, std::string>> known;  // a plain spelling, its id
  std::vector<std::string> begun;                          // ids whose spelling begins like this
  each_card([&](const Value& entry) {
    const std::string id = text_of(entry, "id");
    std::vector<std::string> spellings = {plain(id), plain(text_of(entry, "name"))};
    if (const Value* aliases = entry.find("aliases")) {
      for (const Value& alias : aliases->list) spellings.push_back(plain(alias.text));
    }
    bool begins = false;
    for (const std::string& spelling : spellings) {
      if (spelling == wanted && !search.card) search.card = read(entry);
      begins = begins || (wanted.size() >= 2 && spelling.starts_with(wanted));
      known.emplace_back(spelling, id);
    }
    if (begins) begun.push_back(id);
  });
  if (search.card) return search;
  search.near = begun;
  if (search.near.empty()) {
    std::vector<std::string_view> spellings;
    spellings.reserve(known.size());
    for (const auto& [spelling, id] : known) spellings.push_back(spelling);
    for (const std::string_view spelling : nearest(wanted, spellings, 8)) {
      for (const auto& [other, id] : known) {
        const bool listed =
            std::find(search.near.begin(), search.near.end(), id) != search.near.end();
        if (other == spelling && !listed) search.near.push_back(id);
      }
    }
  }
  if (search.near.size() > 6) search.near.resize(6);
  return search;
}

bool kernels_known(const Card& card) {
  const bool new_enough =
      card.compute_major > 7 || (card.compute_major == 7 && card.compute_minor >= 5);
  return new_enough && card.multiprocessors.has_value();
}

double threads_per_multiprocessor(int compute_major, int compute_minor) {
  if (compute_major == 7 && compute_minor == 5) return 1024;
  const bool smaller =
      (compute_major == 8 && compute_minor > 0) || compute_major == 11 || compute_major == 12;
  return smaller ? 1536 : 2048;
}

}  // namespace ledger::device
