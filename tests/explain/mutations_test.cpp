// Messages that nobody prints: mutations of public ones are answered all the same.
#include <doctest/doctest.h>

#include "core/explain/compare.hpp"
#include "tests/chance.hpp"
#include "tests/explain/rows.hpp"

namespace ledger {
namespace {

using nlohmann::json;

std::string mutated(const std::vector<json>& rows, Chance& chance) {
  const auto any = [&] { return rows[chance.below(rows.size())].at("message").get<std::string>(); };
  std::string text = any();
  for (std::size_t n = chance.below(6); n-- > 0;) {
    const std::size_t at = chance.below(text.size() + 1);
    const std::string other = any();
    const std::size_t from = chance.below(other.size() + 1);
    switch (chance.below(6)) {
      case 0: text.insert(at, 1, static_cast<char>(chance.below(256))); break;
      case 1: text.erase(at, chance.below(20)); break;
      case 2: text.insert(at, other.substr(from, chance.below(60))); break;
      case 3: text.insert(at, std::string(1 + chance.below(45), '9')); break;
      case 4: text.insert(at, chance.below(2) == 0 ? "\n" : " \r\n  "); break;
      default: text += "\n" + other; break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("mutated messages are answered in one line of JSON, their intervals in order") {
  std::vector<json> rows = oom::read("rows.jsonl.gz");
  for (json& row : oom::read("samples.jsonl.gz")) rows.push_back(std::move(row));
  const std::string scenario =
      R"({"model":{"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"vocab_size":256},)"
      R"("training":{"max_length":32}})";
  Chance chance;
  for (int n = 0; n < 4000; ++n) {
    const std::string text = mutated(rows, chance);
    const std::string explanation = explain(text, n % 16 == 0 ? scenario : "");
    const json answer = json::parse(explanation, nullptr, false);
    REQUIRE_MESSAGE(answer.is_object(), text);
    CHECK(explanation.find('\n') == std::string::npos);
    for (const json& number : answer.at("numbers")) {
      const json& bytes = number.at("bytes");
      if (bytes.is_null()) continue;
      CHECK_MESSAGE(bytes.at("low") <= bytes.at("high"), text);
    }
    const json& request = answer.at("request");
    if (!request.is_null()) CHECK_MESSAGE(request.at("low") <= request.at("high"), text);
    CHECK(!explanation_table(explanation).empty());
    CHECK(json::parse(compare(text), nullptr, false).is_object());
  }
}

}  // namespace ledger
