// Reads a pasted command line, as a shell would part it into words.
#include "core/import/command_line.hpp"

#include <array>
#include <utility>

#include "core/import/sheet.hpp"
#include "core/import/shell_words.hpp"

namespace ledger::pasted {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_any(std::string_view word, std::initializer_list<std::string_view> of) {
  for (const std::string_view one : of) {
    if (one == word) return true;
  }
  return false;
}

bool starts_program(std::string_view word) {
  const std::string_view name = base_name(word);
  return name.starts_with("python") ||
         is_any(name, {"accelerate", "torchrun", "deepspeed", "axolotl", "llamafactory-cli",
                       "llamafactory", "lmf", "tune", "trl"});
}

bool is_option(std::string_view word) {
  return word.size() > 2 && word.starts_with("--") && word[2] != '-' && word[2] != ' ';
}

bool is_override(std::string_view word) {
  while (word.starts_with("+") || word.starts_with("~")) word.remove_prefix(1);
  const std::size_t at = word.find('=');
  const std::size_t dot = word.find('.');
  return at != word.npos && dot != word.npos && dot < at && dot > 0;
}

// The words of the command within a line, from its program on; none where it holds none.
std::vector<std::string> command_of(std::vector<std::string> words) {
  while (!words.empty() && is_any(words.front(), {"$", "%", ">", "!", "&&", "(base)"}))
    words.erase(words.begin());
  if (!words.empty() && words.front().starts_with("!")) words.front().erase(0, 1);
  std::size_t options = 0, overrides = 0;
  for (const std::string& word : words) {
    options += is_option(word);
    overrides += is_override(word);
  }
  for (std::size_t i = 0; i < words.size() && i < 24; ++i) {
    if (starts_program(words[i]) && i + 1 < words.size())
      return {words.begin() + static_cast<std::ptrdiff_t>(i), words.end()};
  }
  if (!words.empty() && (is_option(words.front()) || is_override(words.front())))
    return options + overrides > 0 ? words : std::vector<std::string>();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].ends_with(".py") && options + overrides > 0)
      return {words.begin() + static_cast<std::ptrdiff_t>(i), words.end()};
  }
  return {};
}

struct Commands {
  std::vector<std::vector<std::string>> all;
};

Commands commands_of(std::string_view text) {
  Commands commands;
  Variables variables;
  for (const std::string& line : lines_of(text)) {
    if (commands.all.size() >= 50) break;
    std::vector<std::string> words = words_of(line, variables);
    if (words.empty()) continue;
    std::size_t at = is_any(words.front(), {"export", "set", "local"}) ? 1 : 0;
    bool assigns = true;
    for (std::size_t i = at; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      assigns = assigns && equals != std::string::npos &&
                is_name(std::string_view(words[i]).substr(0, equals));
    }
    if (assigns) {
      for (std::size_t i = at; i < words.size() && variables.size() < 500; ++i) {
        const std::size_t equals = words[i].find('=');
        variables.emplace_back(words[i].substr(0, equals),
                               json::shortened(words[i].substr(equals + 1), 400));
      }
      continue;
    }
    std::vector<std::string> command = command_of(std::move(words));
    if (!command.empty()) commands.all.push_back(std::move(command));
  }
  return commands;
}

Value value_of_word(std::string_view word) {
  if (!word.empty() && (word.front() == '[' || word.front() == '{')) {
    const json::Parsed parsed = json::parse(word);
    if (parsed.error.empty()) return parsed.value;
  }
  const Value text = Value::of_text(word);
  double number = 0;
  return is_number(text, number) ? Value::of_number(number) : text;
}

std::string key_of_option(std::string_view option) {
  std::string key(option.substr(option.starts_with("--") ? 2 : 1));
  for (char& c : key) {
    if (c == '-') c = '_';
  }
  return key;
}

bool is_file(std::string_view word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json");
}

// Launchers' options that stand alone.
bool stands_alone(std::string_view key) {
  return is_any(key, {"multi_gpu", "use_fsdp", "use_deepspeed", "same_network", "standalone",
                      "debug", "quiet", "cpu", "no_python", "use_megatron_lm", "no_local_rank"});
}

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& words) : words_(words) {}

  CommandLine read() {
    std::string program;
    std::string format;
    while (at_ < words_.size()) {
      const std::string_view word = base_name(words_[at_]);
      if (word == "accelerate") {
        ++at_;
        if (at_ < words_.size() && words_[at_] == "launch") ++at_;
        launcher();
      } else if (word == "torchrun" || word == "deepspeed") {
        ++at_;
        launcher();
      } else if (word == "tune") {
        ++at_;
        if (at_ < words_.size() && words_[at_] == "run") ++at_;
        launcher();
        format = "torchtune";
        if (at_ < words_.size() && !is_option(words_[at_])) program = words_[at_++];
        break;
      } else if (word == "axolotl" || word == "trl" || word == "llamafactory-cli" ||
                 word == "llamafactory" || word == "lmf") {
        format = word == "axolotl" ? "axolotl" : word == "trl" ? "trainer" : "llamafactory";
        ++at_;
        if (at_ < words_.size() && !is_option(words_[at_]) && !is_file(words_[at_]))
          program = words_[at_++];
        break;
      } else if (word.starts_with("python")) {
        ++at_;
        while (at_ < words_.size() && words_[at_].size() == 2 && words_[at_][0] == '-' &&
               words_[at_] != "-m")
          ++at_;  // -u, -O
        if (at_ + 1 < words_.size() && words_[at_] == "-m" && !module(program, format)) continue;
        if (program.empty() && at_ < words_.size() && words_[at_].ends_with(".py"))
          program = base_name(words_[at_++]);
        break;
      } else if (words_[at_] == "-m" && at_ + 1 < words_.size()) {
        if (!module(program, format)) continue;
        break;
      } else if (word.ends_with(".py")) {
        program = word;
        ++at_;
        break;
      } else {
        break;
      }
    }
    Piece piece;
    piece.program = program;
    piece.format = format;
    piece.tree = Value::object();
    arguments(piece);
    if (!piece.tree.members.empty() || out_.pieces.empty()) out_.pieces.push_back(std::move(piece));
    return std::move(out_);
  }

 private:
  // `-m NAME`. False where the module is a launcher itself.
  bool module(std::string& program, std::string& format) {
    const std::string name = words_[at_ + 1];
    at_ += 2;
    if (name == "torch.distributed.run" || name == "torch.distributed.launch" ||
        name == "accelerate.commands.launch") {
      launcher();
      return false;
    }
    program = name;
    if (name.starts_with("axolotl")) format = "axolotl";
    if (name.starts_with("verl")) format = "verl";
    if (name.starts_with("llamafactory")) format = "llamafactory";
    return true;
  }

  void launcher() {
    Piece piece;
    piece.format = "accelerate";
    piece.tree = Value::object();
    while (at_ < words_.size() && words_[at_].starts_with("-") && words_[at_] != "-m") {
      std::string word = words_[at_++];
      const std::size_t equals = word.find('=');
      std::string key = key_of_option(word.substr(0, equals));
      if (key.starts_with("fsdp_")) key = "fsdp_config." + key;
      if (equals != std::string::npos) {
        set_path(piece.tree, key, value_of_word(word.substr(equals + 1)));
      } else if (!stands_alone(key) && at_ < words_.size() && !words_[at_].starts_with("-") &&
                 !words_[at_].ends_with(".py")) {
        set_path(piece.tree, key, value_of_word(words_[at_++]));
      } else {
        set_path(piece.tree, key, Value::of_flag(true));
      }
    }
    if (!piece.tree.members.empty()) out_.pieces.push_back(std::move(piece));
  }

  void arguments(Piece& piece) {
    while (at_ < words_.size()) {
      const std::string word = words_[at_++];
      if (is_option(word)) {
        option(piece, word);
        continue;
      }
      const std::size_t equals = word.find('=');
      if (equals != std::string::npos && equals > 0 && word[0] != '-') {
        std::string_view key = std::string_view(word).substr(0, equals);
        while (key.starts_with("+") || key.starts_with("~")) key.remove_prefix(1);
        if (!key.empty())
          set_path(piece.tree, key, value_of_word(std::string_view(word).substr(equals + 1)));
      } else if (is_file(word)) {
        out_.files.push_back(word);
      }
    }
  }

  void option(Piece& piece, const std::string& word) {
    const std::size_t equals = word.find('=');
    std::string key = key_of_option(word.substr(0, equals));
    if (equals != std::string::npos) {
      set_path(piece.tree, key, value_of_word(std::string_view(word).substr(equals + 1)));
      return;
    }
    std::vector<std::string> values;
    while (at_ < words_.size() && !is_option(words_[at_]) && !is_override(words_[at_]) &&
           values.size() < 200)
      values.push_back(words_[at_++]);
    if (values.empty()) {
      const bool negated = key.starts_with("no_") && key.size() > 3;
      set_path(piece.tree, negated ? key.substr(3) : key, Value::of_flag(!negated));
    } else if (values.size() == 1) {
      set_path(piece.tree, key, value_of_word(values.front()));
    } else {
      set_path(piece.tree, key, list_of(values));
    }
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  CommandLine out_;
};

}  // namespace

bool is_command_line(std::string_view text) {
  const Commands commands = commands_of(text);
  for (const std::vector<std::string>& command : commands.all) {
    // "python: 3.11" in YAML begins a line with a program's name; a command has no colon after it.
    if (command.size() > 1 && !command.front().ends_with(":")) return true;
    if (command.size() == 1 && (is_option(command.front()) || is_override(command.front())))
      return true;
  }
  return false;
}

CommandLine read_command_line(std::string_view text) {
  const Commands commands = commands_of(text);
  // Of several, the one that says most.
  const std::vector<std::string>* best = nullptr;
  std::size_t most = 0;
  for (const std::vector<std::string>& command : commands.all) {
    std::size_t options = 1;
    for (const std::string& word : command) options += is_option(word) || is_override(word);
    if (options > most) {
      most = options;
      best = &command;
    }
  }
  CommandLine out;
  if (best) out = Reader(*best).read();
  out.commands = commands.all.size();
  return out;
}

}  // namespace ledger::pasted
