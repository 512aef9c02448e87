// Edit distance with a bound, and the search for the nearest of a list of words.
#include "core/nearest.hpp"

#include <algorithm>
#include <utility>

#include "core/short_sort.hpp"

namespace ledger {
namespace {
constexpr std::size_t kLongest = 64;  // longer words are not compared: nobody mistypes them

// Parts, as in adamw_torch or Llama-3.1-8B, that the longer of two words has beyond the shorter. Of
// names of one family with as many parts the first in the list is meant: lists begin with the
// usual.
std::size_t parts_beyond(std::string_view a, std::string_view b) {
  const std::string_view longer = a.size() > b.size() ? a : b;
  std::size_t parts = 0;
  for (const char c : longer.substr(std::min(a.size(), b.size()))) {
    parts += c == '_' || c == '-' || c == '/';
  }
  return parts;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most) {
  const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > most || a.size() > kLongest || b.size() > kLongest) return most + 1;
  const std::string x = lower(a), y = lower(b);
  std::vector<std::size_t> before(y.size() + 1), above(y.size() + 1), row(y.size() + 1);
  for (std::size_t j = 0; j <= y.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= x.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= y.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (x[i - 1] != y[j - 1])});
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return std::min(above[y.size()], most + 1);
}

std::vector<std::string_view> nearest(std::string_view word,
                                      const std::vector<std::string_view>& known,
                                      std::size_t count) {
  if (word.size() < 2 || word.size() > kLongest) return {};
  const std::string wanted = lower(word);
  std::vector<std::pair<std::size_t, std::string_view>> found;  // a rank, lower is nearer
  for (const std::string_view candidate : known) {
    const std::size_t most = std::max<std::size_t>(1, std::min(word.size(), candidate.size()) / 3);
    const std::size_t edits = edit_distance(word, candidate, most);
    const std::string other = lower(candidate);
    const bool long_enough = wanted.size() >= 3 && other.size() >= 3;
    const bool begins = long_enough && (other.starts_with(wanted) || wanted.starts_with(other));
    const bool holds =
        long_enough && (other.find(wanted) != other.npos || wanted.find(other) != wanted.npos);
    if (begins && edits > 1) {  // something was left out or added at the end: few parts before many
      found.emplace_back(kLongest + parts_beyond(wanted, other), candidate);
    } else if (edits <= most) {
      found.emplace_back(edits <= 1 ? edits : 3 * kLongest + edits, candidate);
    } else if (holds) {
      found.emplace_back(5 * kLongest + other.size(), candidate);
    }
  }
  short_sort(found, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < std::min(count, found.size()); ++i) out.push_back(found[i].second);
  return out;
}

}  // namespace ledger
