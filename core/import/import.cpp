// Reads pasted settings: which format each file has, what its keys become, one scenario of all of
// them.
#include "core/import/import.hpp"

#include <algorithm>
#include <utility>

#include "core/import/answer.hpp"
#include "core/import/command_line.hpp"
#include "core/import/formats.hpp"

namespace ledger {
namespace pasted {
namespace {

constexpr std::size_t kMostFiles = 16;
constexpr std::size_t kMostBytes = 1u << 20;  // of all; settings have a few thousand

bool is_scenario(const Value& tree) {
  const Value* model = tree.find("model");
  const Value* training = tree.find("training");
  return model &&
         ((training && training->is(Kind::kObject)) || tree.find("peft") ||
          tree.find("quantization") || tree.find("attn_implementation")) &&
         !tree.find("output_dir") && !(model->is(Kind::kObject) && model->find("_component_"));
}

// A whole config.json is one value: the model.
void read_config(Reading& reading, const Value& tree, const std::string& file) {
  const std::size_t index = reading.sheets.keys.size();
  const Value* type = tree.find("model_type");
  Key key;
  key.file = file;
  key.path = "(all of it)";
  key.given = type ? type->text : std::string();
  key.status = Status::kBecame;
  key.why = "the model; its keys are checked with the scenario";
  reading.sheets.keys.push_back(std::move(key));
  reading.sheets.settings.push_back({"model", tree, Setting::kGiven, index, {}});
  for (const std::string_view name : {"dtype", "torch_dtype"}) {
    const Value* dtype = tree.find(name);
    if (!dtype || !dtype->is(Kind::kText)) continue;
    reading.sheets.settings.push_back({"dtype", *dtype, Setting::kCheckpoint, Setting::kNoKey,
                                       "the checkpoint's own type, by its config.json"});
    break;
  }
}

void read_scenario_of_ours(Reading& reading, const Value& tree, const std::string& file) {
  for (const json::Member& member : tree.members) {
    const std::size_t index = reading.sheets.keys.size();
    Key key;
    key.file = file;
    key.path = json::shortened(member.key, 120);
    key.given = as_written(member.value);
    key.status = Status::kBecame;
    reading.sheets.keys.push_back(std::move(key));
    reading.sheets.settings.push_back({member.key, member.value, Setting::kGiven, index, {}});
  }
}

struct Guess {
  const Format* format = nullptr;
  bool certain = false;
};

Guess guess_format(const Value& tree) {
  Guess best;
  double most = 0, second = 0;
  for (const Format& format : formats()) {
    if (format.id == "config" || format.id == "deepspeed_plugin") continue;
    const double score = likeness(format, tree);
    // Of two alike the one that implies least: trl's and transformers' arguments are of any script.
    if (score > most || (score == most && score > 0 && format.id == "trainer")) {
      second = most;
      most = score;
      best.format = &format;
    } else if (score > second) {
      second = score;
    }
  }
  best.certain = most >= 2 * second && most >= 4;
  return best;
}

bool is_config(const Value& tree) {
  const Value* type = tree.find("model_type");
  return type && type->is(Kind::kText) && !tree.find("base_model") &&
         (tree.find("architectures") || tree.find("hidden_size") || tree.find("n_embd") ||
          tree.find("text_config") || tree.find("d_model") || tree.find("num_hidden_layers"));
}

void read_tree(Reading& reading, const Value& tree, const std::string& file,
               const std::string& program, std::string_view wanted) {
  if (!tree.is(Kind::kObject)) {
    reading.problems.push_back(
        {file,
         file + " holds no settings: " + as_written(tree) + " is no object of keys and values.",
         as_written(tree), ""});
    return;
  }
  const auto recognise = [&](std::string_view id, std::string_view name, std::string_view versions,
                             bool certain) {
    reading.formats.push_back({file, id, name, versions,
                               !wanted.empty() ? "said"
                               : certain       ? "certain"
                                               : "likely"});
  };
  if (wanted == "scenario" || (wanted.empty() && is_scenario(tree))) {
    recognise("scenario", "a scenario of Memory Ledger", "", true);
    read_scenario_of_ours(reading, tree, file);
    return;
  }
  if (wanted == "config" || (wanted.empty() && is_config(tree))) {
    const Format* format = find_format("config");
    recognise(format->id, format->name, format->versions, true);
    read_config(reading, tree, file);
    return;
  }
  Guess guess{find_format(wanted), true};
  if (!guess.format) guess = guess_format(tree);
  if (!guess.format) {
    std::string known;
    for (const Format& format : formats()) {
      if (format.id == "deepspeed_plugin") continue;
      known += (known.empty() ? "" : ", ") + std::string(format.name);
    }
    reading.problems.push_back(
        {file, file + " has no key of a format that is known here; those are: " + known + ".", "",
         ""});
    return;
  }
  recognise(guess.format->id, guess.format->name, guess.format->versions, guess.certain);
  Sheet sheet{reading.sheets, *guess.format, tree, file, program};
  read_sheet(sheet);
}

void read_text(Reading& reading, std::string_view text, const std::string& file,
               std::string_view wanted) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) {
    reading.problems.push_back({file, file + " is empty.", "", ""});
    return;
  }
  if (text[begin] == '{' || text[begin] == '[') {
    const json::Parsed parsed = json::parse(text);
    if (parsed.error.empty()) {
      for (const json::Duplicate& twice : parsed.duplicates)
        reading.sheets.notes.push_back("In " + file + " the key " +
                                       json::shortened(twice.path, 120) +
                                       " is given twice; the first is taken.");
      read_tree(reading, parsed.value, file, {}, wanted);
      return;
    }
    if (text[begin] == '{' && file.ends_with(".json")) {
      reading.problems.push_back(
          {file, file + " is not JSON that can be read: " + parsed.error + ".", "", ""});
      return;
    }
  } else if (is_command_line(text)) {
    CommandLine line = read_command_line(text);
    const bool says = !line.files.empty() ||
                      std::any_of(line.pieces.begin(), line.pieces.end(),
                                  [](const Piece& piece) { return !piece.tree.members.empty(); });
    if (!says) {
      reading.problems.push_back(
          {file,
           file + " has no option that sets anything: a command line has --key value or key=value. "
                  "Programs are not run; give their arguments as such a line, or as JSON or YAML.",
           json::shortened(text.substr(begin), 120), ""});
      return;
    }
    if (line.commands > 1)
      reading.sheets.notes.push_back("Of several commands in " + file +
                                     ", the one with the most options is read.");
    for (Piece& piece : line.pieces) {
      const bool launcher = piece.format == "accelerate";
      read_tree(reading, piece.tree, launcher ? file + ": launcher" : file, piece.program,
                launcher || wanted.empty() ? std::string_view(piece.format) : wanted);
    }
    for (const std::string& name : line.files) reading.sheets.missing.push_back(name);
    return;
  }
  reading.yaml.push_back(file);
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Files that others name, as far as they are not among those that were given.
void check_missing(Reading& reading, const std::vector<std::string>& given) {
  for (const std::string& name : reading.sheets.missing) {
    const bool there = std::any_of(given.begin(), given.end(), [&](const std::string& own) {
      return base_name(own) == base_name(name);
    });
    if (there) {
      for (Key& key : reading.sheets.keys) {
        if (key.status == Status::kUnsupported && base_name(key.given) == base_name(name)) {
          key.status = Status::kIgnored;
          key.why = "given, and read with this one";
        }
      }
      continue;
    }
    reading.sheets.notes.push_back(json::shortened(name, 120) +
                                   " is named but was not given; give it as well.");
  }
}

std::string refused(std::string_view message) {
  Reading reading;
  reading.problems.push_back({"files", std::string(message), "", ""});
  return answer(reading, {}, {});
}

std::string imported(std::string_view text) {
  if (text.size() > kMostBytes)
    return refused("These files are longer than settings are; give the settings alone.");
  const json::Parsed parsed = json::parse(text);
  if (!parsed.error.empty()) return refused("The request is not JSON: " + parsed.error + ".");
  const Value* files = parsed.value.find("files");
  if (!files || !files->is(Kind::kList) || files->list.empty())
    return refused("No file is given: files is a list of objects with a name and a text.");
  if (files->list.size() > kMostFiles)
    return refused("These are more files than are read at once.");
  Reading reading;
  std::vector<std::string> names;
  const Value* wanted = parsed.value.find("format");
  for (const Value& file : files->list) {
    const Value* name = file.find("name");
    const Value* own = file.find("format");
    const Value* tree = file.find("tree");
    const Value* content = file.find("text");
    names.push_back(name && name->is(Kind::kText) && !name->text.empty()
                        ? json::shortened(name->text, 120)
                        : "settings");
    std::string_view format;
    if (wanted && wanted->is(Kind::kText) && files->list.size() == 1) format = wanted->text;
    if (own && own->is(Kind::kText)) format = own->text;
    if (!format.empty() && format != "scenario" && !find_format(format)) {
      reading.problems.push_back({"format", std::string(format) + " is no format that is known.",
                                  std::string(format), ""});
      format = {};
    }
    const Value* documents = file.find("documents");
    if (tree && documents && documents->number > 1)
      reading.sheets.notes.push_back("Of several documents in " + names.back() +
                                     ", the first is read.");
    if (tree) {
      read_tree(reading, *tree, names.back(), {}, format);
    } else {
      read_text(reading, content ? std::string_view(content->text) : std::string_view(),
                names.back(), format);
    }
  }
  check_missing(reading, names);
  const Value* keep = parsed.value.find("keep");
  const Value* with = parsed.value.find("with");
  return answer(reading, keep ? *keep : Value(), with ? *with : Value());
}

}  // namespace
}  // namespace pasted

std::string import_files(std::string_view request_json) { return pasted::imported(request_json); }
std::string import_formats() { return pasted::format_list(); }

}  // namespace ledger
