// Public messages of programs that ran out of memory: every number in its true unit, and the
// tensor that the thread found by arithmetic.
#include <doctest/doctest.h>

#include <iostream>

#include "tests/explain/rows.hpp"

namespace ledger {
namespace {

using nlohmann::json;

// As expected, or what differs.
std::string difference(const json& row, const json& answer) {
  std::string out;
  const json& wanted = row.at("numbers");
  const json& numbers = answer.at("numbers");
  if (numbers.size() != wanted.size())
    out += "there are " + std::to_string(numbers.size()) + " numbers, not " +
           std::to_string(wanted.size()) + "; ";
  for (std::size_t i = 0; i < std::min(numbers.size(), wanted.size()); ++i) {
    const json& number = numbers.at(i);
    const json& want = wanted.at(i);  // [printed, id, bytes or null]
    if (number.at("printed") != want.at(0)) out += "not " + want.at(0).dump() + "; ";
    if (number.at("id") != want.at(1))
      out +=
          want.at(0).dump() + " is " + number.at("id").dump() + ", not " + want.at(1).dump() + "; ";
    if (want.at(2).is_null() != number.at("bytes").is_null()) {
      out += want.at(0).dump() + " has another unit; ";
    } else if (!want.at(2).is_null()) {
      const json& bytes = number.at("bytes");
      const double exact = want.at(2);
      if (exact < bytes.at("low").get<double>() || exact > bytes.at("high").get<double>())
        out += want.at(0).dump() + " is not " + want.at(2).dump() + " bytes; ";
    }
  }
  return out;
}

}  // namespace

TEST_CASE("every number of every public message is labelled in its true unit") {
  for (const char* file : {"rows.jsonl.gz", "samples.jsonl.gz"}) {
    const std::vector<json> rows = oom::read(file);
    REQUIRE(rows.size() >= 80);
    for (const json& row : rows) {
      const json answer = oom::explained(row.at("message"));
      CHECK_MESSAGE(difference(row, answer).empty(), row.at("ref").dump()
                                                         << ": " << difference(row, answer));
    }
  }
}

TEST_CASE("the tensor that the arithmetic of a public message finds is named first") {
  int in_scope = 0, right = 0;
  std::string table;
  for (const json& row : oom::read("rows.jsonl.gz")) {
    REQUIRE((row.at("scope") == "in" || !row.at("reason").get<std::string>().empty()));
    if (row.at("scope") != "in") continue;
    ++in_scope;
    // The moment is told as people tell it: before the message.
    const std::string stage =
        row.contains("stage") ? row.at("stage").get<std::string>() + ": " : "";
    const json answer =
        oom::explained(stage + row.at("message").get<std::string>(), row.at("scenario"));
    const json& found = answer.at("candidates");
    const bool good = !found.empty() && found.at(0).at("kind") == row.at("kind");
    right += good;
    table += (good ? "  right  " : "  WRONG  ") + row.at("ref").get<std::string>() + ": " +
             row.at("tensor").get<std::string>() + " | ";
    table += found.empty() ? std::string("nothing")
                           : found.at(0).at("found").get<std::string>() + " " +
                                 found.at(0).at("kind").get<std::string>() + ": " +
                                 found.at(0).at("what").get<std::string>() + " " +
                                 found.at(0).at("where").get<std::string>() + " " +
                                 found.at(0).at("figures").get<std::string>();
    table += "\n";
  }
  table += std::to_string(right) + " of " + std::to_string(in_scope) + " named first\n";
  std::cout << table;
  CHECK(in_scope >= 30);
  CHECK(right * 100 >= in_scope * 95);
}

TEST_CASE("a first candidate has just the bytes that the thread computed") {
  for (const json& row : oom::read("rows.jsonl.gz")) {
    if (row.at("scope") != "in" || !row.contains("computed_bytes")) continue;
    const std::string stage =
        row.contains("stage") ? row.at("stage").get<std::string>() + ": " : "";
    const json answer =
        oom::explained(stage + row.at("message").get<std::string>(), row.at("scenario"));
    const json& found = answer.at("candidates");
    REQUIRE(!found.empty());
    if (found.at(0).at("found") == "solved") continue;  // of an interval of tokens
    const double bytes = found.at(0).at("bytes"), computed = row.at("computed_bytes");
    // Logits may lack the last token of each row, which no label scores.
    CHECK_MESSAGE(std::abs(bytes - computed) <= computed / 500, row.at("ref").dump()
                                                                    << ": " << found.at(0).dump());
  }
}

}  // namespace ledger
