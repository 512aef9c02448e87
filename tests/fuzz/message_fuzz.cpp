// libFuzzer over the reading of messages alone: no scenario is replayed, so that a second holds
// thousands of inputs (explain_fuzz takes scenarios as well, and some hundred). Whatever comes in,
// one line of valid JSON goes out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/explain/explain.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), count);
  // A scenario without a model is a problem, and takes the place of those guessed from the text.
  const std::string explanation = ledger::explain(input, "{}");
  if (explanation.find('\n') != std::string::npos) std::abort();
  const nlohmann::json value = nlohmann::json::parse(explanation, nullptr, false);
  if (!value.is_object() || !value.contains("problems")) std::abort();
  for (const nlohmann::json& number : value.value("numbers", nlohmann::json::array())) {
    const nlohmann::json& size = number.at("bytes");
    if (size.is_object() && size.at("low").get<double>() > size.at("high").get<double>())
      std::abort();
  }
  return 0;
}
