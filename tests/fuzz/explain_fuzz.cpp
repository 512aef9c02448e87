// libFuzzer over the doors for messages and measurements: whatever comes in, one line of valid JSON
// goes out. A zero byte parts the message from the scenario.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/explain/compare.hpp"
#include "core/explain/explain.hpp"

namespace {

nlohmann::json checked(const std::string& text) {
  if (text.find('\n') != std::string::npos) std::abort();
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (!value.is_object() || !value.contains("problems")) std::abort();
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), count);
  const std::size_t zero = input.find('\0');
  const std::string_view scenario = zero == input.npos ? "" : input.substr(zero + 1);
  const std::string explanation = ledger::explain(input.substr(0, zero), scenario);
  const nlohmann::json value = checked(explanation);
  for (const nlohmann::json& number : value.value("numbers", nlohmann::json::array())) {
    const nlohmann::json& size = number.at("bytes");
    if (size.is_object() && size.at("low").get<double>() > size.at("high").get<double>())
      std::abort();
  }
  ledger::explanation_table(explanation);
  checked(ledger::compare(input));
  return 0;
}
