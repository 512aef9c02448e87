// The program `ledger`: the core's door from a shell.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog.hpp"
#include "core/events.hpp"
#include "core/explain/compare.hpp"
#include "core/explain/explain.hpp"
#include "core/json.hpp"
#include "core/report.hpp"
#include "core/shell/import.hpp"
#include "core/table.hpp"

namespace {

constexpr int kAnswered = 0, kDoesNotFit = 1, kProblems = 2;

constexpr const char* kHelp =
    "Memory Ledger: the memory of a training step, to the byte.\n"
    "\n"
    "usage: ledger estimate FILE|-           a report (JSON) for the scenario in FILE or standard "
    "input\n"
    "       ledger estimate --table FILE|-   the same as a table for people, in GiB and GB\n"
    "       ledger estimate --lines [FILE|-] one scenario a line in, one report a line out\n"
    "       ledger events FILE|- [STEP]      every allocation and free of a step (2 unless said), "
    "for "
    "comparison with a recorded run\n"
    "       ledger explain [--scenario FILE] [--json] FILE|-\n"
    "                                        what an out-of-memory message says: its numbers in "
    "true\n"
    "                                        units, the cause, the tensor, what to change first\n"
    "       ledger compare FILE|-            measured memory beside the estimate (JSON: scenario, "
    "measured)\n"
    "       ledger import [--json | --scenario] [--card CARD] [--model ID] [--format ID] "
    "FILE...|-\n"
    "                                        settings of other programs (Axolotl, LLaMA-Factory, "
    "torchtune,\n"
    "                                        TrainingArguments, trl, accelerate, DeepSpeed, verl, "
    "a "
    "command\n"
    "                                        line, config.json) as a scenario, and what each key "
    "became\n"
    "       ledger catalog                   everything a scenario can choose from, with the "
    "defaults (JSON)\n"
    "       ledger --help | --version\n"
    "\n"
    "The smallest scenario is {\"model\": \"Qwen/Qwen3-0.6B\"}.\n"
    "Exit status: 0 answered, 1 does not fit the named card, 2 problems with the input;\n"
    "with --lines 0 whenever every line got a report or its problems.\n";

int refuse(const std::string& sentence) {
  std::fprintf(stderr, "ledger: %s\n", sentence.c_str());
  return kProblems;
}

bool write(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

struct Text {
  std::string bytes;
  bool ended_by_newline = false;
};

// Reads a line or a whole file, but keeps no more of it than it takes for the core to refuse it as
// too long.
Text read_text(std::FILE* file, bool one_line) {
  Text text;
  for (int c = std::getc(file); c != EOF; c = std::getc(file)) {
    if (one_line && c == '\n') {
      text.ended_by_newline = true;
      break;
    }
    if (text.bytes.size() <= ledger::json::kMaxBytes) {
      text.bytes.push_back(static_cast<char>(c));
    } else if (!one_line) {
      break;  // the rest of a line has to be skipped, the rest of a file need not
    }
  }
  return text;
}

int exit_status(std::string_view report_text) {
  const ledger::json::Value report = ledger::json::parse(report_text).value;
  const ledger::json::Value* problems = report.find("problems");
  if (problems == nullptr || !problems->list.empty()) return kProblems;
  const ledger::json::Value* verdict = report.find("verdict");
  const ledger::json::Value* fits = verdict != nullptr ? verdict->find("fits") : nullptr;
  return fits != nullptr && fits->text == "no" ? kDoesNotFit : kAnswered;
}

int refuse_output() { return refuse("standard output could not be written."); }

int refuse_input(const std::string& name) { return refuse(name + " could not be read."); }

int estimate_lines(std::FILE* file, const std::string& name) {
  for (;;) {
    const Text line = read_text(file, true);
    if (std::ferror(file) != 0) return refuse_input(name);
    if (!line.ended_by_newline && line.bytes.empty()) return kAnswered;
    if (!write(ledger::estimate(line.bytes) + "\n")) return refuse_output();
  }
}

int estimate_one(std::FILE* file, const std::string& name, bool as_table) {
  const Text scenario = read_text(file, false);
  if (std::ferror(file) != 0) return refuse_input(name);
  const std::string report = ledger::estimate(scenario.bytes);
  if (!write(as_table ? ledger::table(report) : report + "\n")) return refuse_output();
  return exit_status(report);
}

int estimate(const std::vector<std::string_view>& arguments) {
  bool lines = false, as_table = false;
  std::vector<std::string> names;
  for (const std::string_view argument : arguments) {
    if (argument == "--lines") {
      lines = true;
    } else if (argument == "--table") {
      as_table = true;
    } else if (argument.size() > 1 && argument.front() == '-') {
      return refuse("estimate knows --lines and --table, not " + std::string(argument) + ".");
    } else {
      names.emplace_back(argument);
    }
  }
  if (lines && as_table) return refuse("--lines and --table exclude each other.");
  if (names.empty() && lines) names.emplace_back("-");
  if (names.size() != 1)
    return refuse("estimate needs one file, or - for standard input; see ledger --help.");
  const std::string& name = names.front();
  std::FILE* file = name == "-" ? stdin : std::fopen(name.c_str(), "rb");
  if (file == nullptr) return refuse(name + " could not be opened: " + std::strerror(errno) + ".");
  const int status = lines ? estimate_lines(file, name) : estimate_one(file, name, as_table);
  if (file != stdin) std::fclose(file);
  return status;
}

struct Input {
  std::string text;
  int status = kAnswered;  // else why it could not be read
};

Input read_input(const std::string& name) {
  std::FILE* file = name == "-" ? stdin : std::fopen(name.c_str(), "rb");
  if (file == nullptr)
    return {{}, refuse(name + " could not be opened: " + std::strerror(errno) + ".")};
  Input input{read_text(file, false).bytes, kAnswered};
  if (std::ferror(file) != 0) input.status = refuse_input(name);
  if (file != stdin) std::fclose(file);
  return input;
}

int explain(const std::vector<std::string_view>& arguments) {
  bool as_json = false;
  std::string scenario_name, name;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string argument(arguments[i]);
    if (argument == "--json") {
      as_json = true;
    } else if (argument == "--scenario" && i + 1 < arguments.size()) {
      scenario_name = arguments[++i];
    } else if (argument.size() > 1 && argument.front() == '-') {
      return refuse("explain knows --scenario FILE and --json, not " + argument + ".");
    } else if (name.empty()) {
      name = argument;
    } else {
      return refuse("explain needs one file, or - for standard input; see ledger --help.");
    }
  }
  if (name.empty() || (name == "-" && scenario_name == "-"))
    return refuse("explain needs one file, or - for standard input; see ledger --help.");
  Input scenario;
  if (!scenario_name.empty()) scenario = read_input(scenario_name);
  if (scenario.status != kAnswered) return scenario.status;
  const Input message = read_input(name);
  if (message.status != kAnswered) return message.status;
  const std::string explanation = ledger::explain(message.text, scenario.text);
  if (!write(as_json ? explanation + "\n" : ledger::explanation_table(explanation)))
    return refuse_output();
  const ledger::json::Value answer = ledger::json::parse(explanation).value;
  return answer.find("problems")->list.empty() ? kAnswered : kProblems;
}

int compare(const std::vector<std::string_view>& arguments) {
  if (arguments.size() != 1)
    return refuse("compare needs one file, or - for standard input; see ledger --help.");
  const Input input = read_input(std::string(arguments[0]));
  if (input.status != kAnswered) return input.status;
  const std::string comparison = ledger::compare(input.text);
  if (!write(comparison + "\n")) return refuse_output();
  const ledger::json::Value answer = ledger::json::parse(comparison).value;
  return answer.find("problems")->list.empty() ? kAnswered : kProblems;
}

int events(const std::vector<std::string_view>& arguments) {
  if (arguments.empty() || arguments.size() > 2) {
    return refuse("events needs one file, or - for standard input, and perhaps the step: 1 or 2.");
  }
  int step = 2;
  if (arguments.size() == 2) {
    if (arguments[1] != "1" && arguments[1] != "2") return refuse("events knows steps 1 and 2.");
    step = arguments[1] == "1" ? 1 : 2;
  }
  const std::string name(arguments[0]);
  std::FILE* file = name == "-" ? stdin : std::fopen(name.c_str(), "rb");
  if (file == nullptr) return refuse(name + " could not be opened: " + std::strerror(errno) + ".");
  const Text scenario = read_text(file, false);
  if (file != stdin) std::fclose(file);
  return write(ledger::events_of_step(scenario.bytes, step)) ? kAnswered : refuse_output();
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string_view> arguments(values + std::min(count, 1), values + count);
  if (arguments.empty()) return refuse("nothing was asked; see ledger --help.");
  const std::string_view command = arguments.front();
  if (command == "--help" || command == "-h" || arguments.back() == "--help")
    return write(kHelp) ? kAnswered : kProblems;
  if (command == "estimate") return estimate({arguments.begin() + 1, arguments.end()});
  if (command == "explain") return explain({arguments.begin() + 1, arguments.end()});
  if (command == "compare") return compare({arguments.begin() + 1, arguments.end()});
  if (command == "import")
    return ledger::shell::import_command({arguments.begin() + 1, arguments.end()});
  if (command == "events") return events({arguments.begin() + 1, arguments.end()});
  if (arguments.size() > 1)
    return refuse(std::string(command) + " takes nothing after it; see ledger --help.");
  if (command == "catalog") return write(ledger::catalog() + "\n") ? kAnswered : kProblems;
  if (command == "--version") return write("ledger " LEDGER_VERSION "\n") ? kAnswered : kProblems;
  return refuse("there is no command " + std::string(command) + "; see ledger --help.");
}
