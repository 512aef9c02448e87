// Nearest spellings: edits are counted, and only words that may be meant are offered.
#include "core/nearest.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ledger;

TEST_CASE("insertions, deletions, replacements and swapped neighbours are one edit each") {
  CHECK(edit_distance("optim", "optim", 5) == 0);
  CHECK(edit_distance("optim", "OPTIM", 5) == 0);
  CHECK(edit_distance("optim", "optims", 5) == 1);
  CHECK(edit_distance("optim", "opti", 5) == 1);
  CHECK(edit_distance("optim", "optin", 5) == 1);
  CHECK(edit_distance("lenght", "length", 5) == 1);
  CHECK(edit_distance("kitten", "sitting", 5) == 3);
}

TEST_CASE("the count stops above the bound") {
  CHECK(edit_distance("kitten", "sitting", 2) == 3);
  CHECK(edit_distance("a", "abcdefgh", 3) == 4);
  CHECK(edit_distance(std::string(1000, 'x'), std::string(1000, 'x'), 3) == 4);
}

TEST_CASE("the best comes first, and nothing comes that is far away") {
  const std::vector<std::string_view> known = {"max_length", "optim", "optim_args", "bf16"};
  CHECK(nearest("optmi", known, 1) == std::vector<std::string_view>{"optim"});
  CHECK(nearest("max_lenght", known, 3) == std::vector<std::string_view>{"max_length"});
  CHECK(nearest("colour", known, 3).empty());
  CHECK(nearest("", known, 3).empty());
  CHECK(nearest("x", known, 3).empty());
}

TEST_CASE("a word with something added or left out at its end is near") {
  CHECK(nearest("Llama-3.1-8B-Instruct", {"Llama-3.3-70B-Instruct", "Llama-3.1-8B"}, 1).front() ==
        "Llama-3.1-8B");
  CHECK(nearest("adamw", {"adamw_torch_fused", "adamw_torch"}, 1).front() == "adamw_torch");
  CHECK(nearest("adam", {"adamw_torch_fused", "adamw_torch", "adamw_8bit"}, 1).front() ==
        "adamw_torch");
  CHECK(nearest("lion", {"paged_lion_8bit", "lion_8bit", "lion_32bit"}, 1).front() == "lion_8bit");
}
