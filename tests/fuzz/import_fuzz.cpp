// libFuzzer over the door for settings of other programs: whatever comes in, one line of valid JSON
// goes out. Zero bytes part files from each other; one that is JSON may also come as the tree that
// a YAML reader made of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/import/import.hpp"
#include "core/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  using ledger::json::Value;
  std::string_view rest(reinterpret_cast<const char*>(bytes), count);
  std::vector<Value> files;
  while (files.size() < 4) {
    const std::size_t zero = rest.find('\0');
    const std::string_view text = rest.substr(0, zero);
    Value file = Value::object();
    const ledger::json::Parsed parsed = ledger::json::parse(text);
    if (parsed.error.empty()) {
      file.add("tree", parsed.value);
    } else {
      file.add_text("text", text);
    }
    files.push_back(std::move(file));
    if (zero == rest.npos) break;
    rest.remove_prefix(zero + 1);
  }
  Value request = Value::object();
  request.add("files", Value::of_list(std::move(files)));
  const std::string answer = ledger::import_files(ledger::json::write(request));
  if (answer.find('\n') != std::string::npos) std::abort();
  const nlohmann::json value = nlohmann::json::parse(answer, nullptr, false);
  if (!value.is_object() || !value.contains("problems")) std::abort();
  ledger::import_table(answer);
  ledger::import_files({reinterpret_cast<const char*>(bytes), count});
  return 0;
}
