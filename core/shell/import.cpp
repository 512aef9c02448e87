// Reads the files that `ledger import` is given, YAML through libyaml, and prints what they became.
#include "core/shell/import.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/import/import.hpp"
#include "core/json.hpp"
#include "core/shell/yaml.hpp"

namespace ledger::shell {
namespace {

using json::Value;

constexpr int kAnswered = 0, kProblems = 2;

int refuse(const std::string& sentence) {
  std::fprintf(stderr, "ledger: %s\n", sentence.c_str());
  return kProblems;
}

struct Options {
  bool as_json = false, scenario_only = false, formats = false;
  std::string format, card, model;
  std::vector<std::string> names;
};

// The sentence that refuses, or none.
std::string read_options(const std::vector<std::string_view>& arguments, Options& options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string argument(arguments[i]);
    const auto takes = [&](std::string_view name, std::string& value) {
      if (argument != name) return false;
      if (i + 1 < arguments.size()) value = arguments[++i];
      return true;
    };
    if (argument == "--json") {
      options.as_json = true;
    } else if (argument == "--scenario") {
      options.scenario_only = true;
    } else if (argument == "--formats") {
      options.formats = true;
    } else if (takes("--format", options.format) || takes("--card", options.card) ||
               takes("--model", options.model)) {
      continue;
    } else if (argument.size() > 1 && argument.front() == '-') {
      return "import knows --json, --scenario, --formats, --format ID, --card CARD and --model ID, "
             "not " +
             argument + ".";
    } else {
      options.names.push_back(argument);
    }
  }
  if (options.names.empty() && !options.formats)
    return "import needs a file or several, or - for standard input; see ledger --help.";
  return {};
}

struct Text {
  std::string bytes, error;
};

Text read_file(const std::string& name) {
  std::FILE* file = name == "-" ? stdin : std::fopen(name.c_str(), "rb");
  if (file == nullptr) return {{}, name + " could not be opened: " + std::strerror(errno) + "."};
  Text text;
  for (int c = std::getc(file); c != EOF && text.bytes.size() <= json::kMaxBytes;
       c = std::getc(file))
    text.bytes.push_back(static_cast<char>(c));
  if (std::ferror(file) != 0) text.error = name + " could not be read.";
  if (file != stdin) std::fclose(file);
  return text;
}

Value request_of(const Options& options, const std::vector<Value>& files) {
  Value request = Value::object();
  request.add("files", Value::of_list(files));
  if (!options.format.empty()) request.add_text("format", options.format);
  Value with = Value::object();
  if (!options.card.empty()) with.add_text("card", options.card);
  if (!options.model.empty()) with.add_text("model", options.model);
  request.add("with", std::move(with));
  return request;
}

bool write(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

// Puts the tree of every file that the answer names in the place of its text.
std::string read_yaml_files(const Value& answer, std::vector<Value>& files) {
  for (const Value& name : answer.find("yaml")->list) {
    for (Value& file : files) {
      if (file.find("name")->text != name.text || !file.find("text")) continue;
      Yaml yaml = read_yaml(file.find("text")->text);
      if (!yaml.error.empty())
        return name.text + " is not YAML that can be read: " + yaml.error + ".";
      Value read = Value::object();
      read.add_text("name", name.text);
      read.add("tree", std::move(yaml.tree));
      if (yaml.more) read.add_number("documents", 2);
      file = std::move(read);
    }
  }
  return {};
}

}  // namespace

int import_command(const std::vector<std::string_view>& arguments) {
  Options options;
  if (const std::string wrong = read_options(arguments, options); !wrong.empty())
    return refuse(wrong);
  if (options.formats) return write(import_formats() + "\n") ? kAnswered : kProblems;
  std::vector<Value> files;
  for (const std::string& name : options.names) {
    Text text = read_file(name);
    if (!text.error.empty()) return refuse(text.error);
    Value file = Value::object();
    file.add_text("name", name == "-" ? "standard input" : name);
    file.add_text("text", text.bytes);
    files.push_back(std::move(file));
  }
  std::string answer_text = import_files(json::write(request_of(options, files)));
  Value answer = json::parse(answer_text).value;
  if (!answer.find("yaml")->list.empty()) {
    if (const std::string wrong = read_yaml_files(answer, files); !wrong.empty())
      return refuse(wrong);
    answer_text = import_files(json::write(request_of(options, files)));
    answer = json::parse(answer_text).value;
  }
  const bool whole = answer.find("whole")->flag;
  std::string out = options.as_json ? answer_text + "\n" : import_table(answer_text);
  if (options.scenario_only) {
    for (const Value& problem : answer.find("problems")->list)
      std::fprintf(stderr, "ledger: %s\n", problem.find("message")->text.c_str());
    out = json::write(*answer.find("scenario")) + "\n";
  }
  if (!write(out)) return refuse("standard output could not be written.");
  return whole ? kAnswered : kProblems;
}

}  // namespace ledger::shell
