// JSON in and out: mistakes are placed, limits hold, and what is written reads back.
#include "core/json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

using namespace ledger;

TEST_CASE("values keep their kind, and members their order") {
  const json::Parsed parsed = json::parse(R"({"b":[1,-2.5,true,null],"a":"x\u00e9\n"})");
  REQUIRE(parsed.error.empty());
  REQUIRE(parsed.value.members.size() == 2);
  CHECK(parsed.value.members[0].key == "b");
  CHECK(parsed.value.find("b")->list[1].number == -2.5);
  CHECK(parsed.value.find("b")->list[3].is_null());
  CHECK(parsed.value.find("a")->text == "xé\n");
  CHECK(parsed.value.find("c") == nullptr);
}

TEST_CASE("what is written reads back, and other readers agree") {
  const std::string text =
      R"({"z":[1,2.5,9007199254740992,-7,1e300],"a":{"t":"\"\\\u0001é😀"},"n":null,"f":false})";
  const std::string written = json::write(json::parse(text).value);
  CHECK(nlohmann::json::parse(written) == nlohmann::json::parse(text));
  CHECK(json::write(json::parse(written).value) == written);
}

TEST_CASE(
    "whole numbers are written without exponent and point, others as short as they are exact") {
  const auto written = [](double number) {
    std::string out;
    json::write_number(number, out);
    return out;
  };
  CHECK(written(70553706496) == "70553706496");
  CHECK(written(9007199254740992) == "9007199254740992");
  CHECK(written(0.1) == "0.1");
  CHECK(written(-3) == "-3");
  CHECK(written(std::numeric_limits<double>::infinity()) == "null");
}

TEST_CASE("bytes that are not UTF-8 are replaced when written") {
  std::string out;
  json::write_text("a\xff\xc0\x80\xed\xa0\x80z", out);
  CHECK(nlohmann::json::accept(out));
  CHECK(json::shortened("a\xffz", 10) == "a?z");
}

TEST_CASE("a text is cut between characters") {
  CHECK(json::shortened("ééé", 4) == "éé…");
  CHECK(json::shortened("ééé", 5) == "éé…");
  CHECK(json::shortened("ééé", 6) == "ééé");
}

TEST_CASE("an error says where it is") {
  CHECK(json::parse("{\"a\":1,\n \"b\":}").error.find("line 2, column 6") == 0);
  CHECK_FALSE(json::parse("").error.empty());
  CHECK_FALSE(json::parse("1 2").error.empty());
}

TEST_CASE("keys given twice are noted with their path, once each") {
  const json::Parsed parsed = json::parse(R"({"a":{"b":1,"b":2,"b":3},"c":1,"c":2})");
  REQUIRE(parsed.duplicates.size() == 2);
  CHECK(parsed.duplicates[0].path == "a.b");
  CHECK(parsed.duplicates[1].path == "c");
}

TEST_CASE("depth and number of values have a limit") {
  const std::string deepest = std::string(json::kMaxDepth, '[') + std::string(json::kMaxDepth, ']');
  CHECK(json::parse(deepest).error.empty());
  CHECK(json::parse("[" + deepest + "]").error.find("nested") != std::string::npos);
  std::string many = "[1";
  for (std::size_t i = 0; i < json::kMaxValues; ++i) many += ",1";
  CHECK(json::parse(many + "]").error.find("values") != std::string::npos);
}
