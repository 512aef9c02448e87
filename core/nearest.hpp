// Nearest spelling: what a person may have meant by a word that is not known.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ledger {

// Edits (insert, delete, replace, swap neighbours) between two words, case ignored; `most + 1` once
// it is certain to be above `most`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most);

// The known words that are close enough to be meant, best first, at most `count`. Close: a third of
// the word's letters differ, or one word holds the other.
std::vector<std::string_view> nearest(std::string_view word,
                                      const std::vector<std::string_view>& known,
                                      std::size_t count);

// Lower case of ASCII letters; everything else as it is.
std::string lower(std::string_view text);

}  // namespace ledger
