// libFuzzer over the door: whatever comes in, one line of valid JSON goes out, and it answers or
// says why not.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), count);
  const std::string report_text = ledger::estimate(text);
  if (report_text.find('\n') != std::string::npos) std::abort();
  const nlohmann::json report = nlohmann::json::parse(report_text, nullptr, false);
  if (!report.is_object() || !report.contains("problems")) std::abort();
  if (report["problems"].empty() && !report.contains("peak")) std::abort();
  return 0;
}
