// A pasted text as the matchers read it: lower case and without white space, so that neither case
// nor line breaks in the middle of a word or number matter; with the way back to the original.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ledger::message {

// What stood before a character.
enum class Gap : std::uint8_t { kNone, kBlank, kBreak, kBreakAndBlank };

struct Squeezed {
  std::string_view original;
  std::string text;
  std::vector<std::uint32_t> from;  // by character: offset in the original; one more for the end
  std::vector<Gap> gap;             // by character, and one more for the end

  std::size_t size() const { return text.size(); }
  char at(std::size_t i) const { return i < text.size() ? text[i] : '\0'; }
  bool begins_word(std::size_t i) const;  // nothing of a word stands right before it
  bool ends_word(std::size_t i) const;    // a word may end before this character
  // The original between two characters, white space as single blanks.
  std::string printed(std::size_t begin, std::size_t end) const;
};

// Escape sequences of terminals, the frames of tracebacks and "\n" written out count as white
// space.
Squeezed squeeze(std::string_view original);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Whether a pattern stands right before `end`, or begins at `begin`. In a pattern white space does
// not count; '*' is any few characters of one clause, '#' a number, '<' and '>' a word's border.
bool stands_before(const Squeezed& s, std::size_t end, const char* pattern);
bool stands_at(const Squeezed& s, std::size_t begin, const char* pattern);
// Whether it stands anywhere between two characters.
bool stands_within(const Squeezed& s, std::size_t begin, std::size_t end, const char* pattern);

}  // namespace ledger::message
