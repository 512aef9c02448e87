// JSON in and out: mistakes are placed, limits hold, and what is written reads back.
#include "core/json.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
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

TEST_CASE("a decimal number becomes the double that is nearest to it, as strtod says") {
  const auto read = [](const std::string& text) { return json::parse(text).value.number; };
  // Halfway between two doubles, and next to it; the largest and the least; many digits.
  for (const std::string text :
       {"9007199254740993", "9007199254740993.0000000000000000000000000000001", "9007199254740995",
        "1.7976931348623157e308", "1.7976931348623158e308", "4.9e-324", "2.4703282292062327e-324",
        "2.4703282292062328e-324", "2.2250738585072011e-308", "1e23", "0.1",
        "123456789012345678901234567890", "5e-1000", "0.000000000000000000000000001e27"}) {
    CAPTURE(text);
    CHECK(read(text) == std::strtod(text.c_str(), nullptr));
  }
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int digits = 1 + i % 30; digits > 0; --digits) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += static_cast<char>('0' + (state >> 33) % 10);
      if (text.size() == 1) text += '.';
    }
    if (text.back() == '.') text += '0';
    text += "e" + std::to_string(static_cast<int>((state >> 40) % 640) - 330);
    const double wanted = std::strtod(text.c_str(), nullptr);
    CAPTURE(text);
    if (wanted <= std::numeric_limits<double>::max()) {
      CHECK(read(text) == wanted);
    } else {
      CHECK(json::parse(text).error.find("overflow") != std::string::npos);
    }
  }
}

TEST_CASE("what nlohmann's reader accepts and refuses is accepted and refused, with one value") {
  for (const std::string text : {"[]",
                                 "{}",
                                 " [ 1 , 2 ] ",
                                 "[1,]",
                                 "{\"a\":1,}",
                                 "{,}",
                                 "{\"a\" 1}",
                                 "{1:2}",
                                 "[1 2]",
                                 "tru",
                                 "nulll",
                                 "01",
                                 "-",
                                 "+1",
                                 "1.",
                                 ".5",
                                 "1e",
                                 "1e+",
                                 "-0",
                                 "\"\\u00e9\"",
                                 "\"\\ud83d\\ude00\"",
                                 "\"\\ud83d\"",
                                 "\"\\ud83dx\"",
                                 "\"\\ude00\"",
                                 "\"\\q\"",
                                 "\"a",
                                 "\"\t\"",
                                 "\"\xc3\xa9\"",
                                 "\"\xff\"",
                                 "\"\xed\xa0\x80\"",
                                 "\xef\xbb\xbf[1]",
                                 "// 1",
                                 "{",
                                 "["}) {
    CAPTURE(text);
    const json::Parsed parsed = json::parse(text);
    CHECK(parsed.error.empty() == nlohmann::json::accept(text));
    if (!parsed.error.empty()) continue;
    CHECK(nlohmann::json::parse(json::write(parsed.value)) == nlohmann::json::parse(text));
  }
}
