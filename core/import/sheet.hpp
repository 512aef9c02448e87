// What the readers of pasted settings share: a format's table of keys, and the sheet on which one
// file is read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"

namespace ledger::pasted {

using json::Value;
using Kind = json::Value::Kind;

// What a key of another program's settings comes to.
enum class Act : std::uint8_t {
  kAsIs,         // becomes `to` with the same value
  kFlag,         // becomes `to`, a boolean
  kNumber,       // becomes `to`, a number
  kText,         // becomes `to`, a text
  kIgnored,      // memory does not depend on it; `why`
  kUnsupported,  // memory does, but that is not modelled; `why` says what it means for the estimate
  kOther,        // read together with others by the format's own function
  kNested,       // an object of the format `to`, or the name of a file that holds one
};

// One key. The next format is one file of these.
struct KeyRow {
  std::string_view key;  // dotted path; one that ends in * stands for all that begin so
  Act act = Act::kIgnored;
  std::string_view to{};   // path in the scenario
  std::string_view why{};  // a clause, without a full stop
  bool telling = false;    // other formats have no such key
};

enum class Status : std::uint8_t { kBecame, kIgnored, kUnsupported, kUnknown, kPending };

// A value of the scenario, and where it comes from. The higher rank wins.
struct Setting {
  enum Rank : std::uint8_t { kCheckpoint, kImplied, kGiven };
  std::string path;
  Value value;
  Rank rank = kGiven;
  std::size_t key = kNoKey;  // index into Sheets::keys
  std::string why;           // of what is implied
  static constexpr std::size_t kNoKey = static_cast<std::size_t>(-1);
};

// One key of one file, and what it came to.
struct Key {
  std::string file, path, given;
  Status status = Status::kPending;
  std::string why, nearest;
  std::string_view pending_why{};  // where the format's own function says nothing
};

// What several files have to say together before it can be settled.
struct Together {
  double world = 0;      // processes; 0: not said
  std::string strategy;  // of the scenario's parallel; empty: none is asked for
  std::size_t strategy_key = Setting::kNoKey;
  std::vector<Setting> options;  // of parallel, once the strategy is taken
  double all_sequences = 0;      // of one optimizer step over all processes; 0: not said
  std::size_t all_sequences_key = Setting::kNoKey;
  std::string mixed_precision;  // accelerate's
  std::size_t mixed_precision_key = Setting::kNoKey;
};

// All that is read of all files.
struct Sheets {
  std::vector<Key> keys;
  std::vector<Setting> settings;
  std::size_t unknown = 0;         // keys, of which only the first are compared with the known ones
  std::vector<std::string> notes;  // sentences
  std::vector<std::string> missing;  // files that are named but were not given
  Together together;
};

struct Format;

// One file, read as one format.
struct Sheet {
  Sheets& all;
  const Format& format;
  const Value& tree;
  std::string file;
  std::string program{};  // the script or program of a command line; empty for a file
  std::size_t first_key = 0;

  // The value of a dotted path; null where it is absent or null.
  const Value* at(std::string_view path) const;
  bool has(std::string_view path) const { return at(path) != nullptr; }
  bool flag(std::string_view path, bool otherwise = false) const;
  double number(std::string_view path, double otherwise = 0) const;
  std::string text(std::string_view path) const;  // empty where it is no text

  // What the format's own function says of a key that stands in the file.
  void became(std::string_view key, std::string_view to, Value value, std::string_view why = {});
  void ignored(std::string_view key, std::string_view why);
  void unsupported(std::string_view key, std::string_view why);
  // A value of the format that the file does not name.
  void implied(std::string_view to, Value value, std::string_view why,
               Setting::Rank rank = Setting::kImplied);
  void note(std::string_view sentence);
  std::size_t key_of(std::string_view path) const;
};

struct Format {
  std::string_view id, name, versions;
  std::span<const KeyRow> keys;
  void (*finish)(Sheet& sheet);
};

std::span<const Format> formats();
const Format* find_format(std::string_view id);

// Walks the whole tree by the format's table, then asks its own function.
void read_sheet(Sheet& sheet);

// How well the keys of a tree fit a format.
double likeness(const Format& format, const Value& tree);

// --- Values as people write them: settings come as JSON, as YAML and from command lines

// "yes", "True", 1 as booleans. Null where it is none.
bool is_flag(const Value& value, bool& out);
bool is_number(const Value& value, double& out);
// A list, or a text parted at commas.
std::vector<std::string> words(const Value* value);
Value list_of(const std::vector<std::string>& words);
bool asks_for_nothing(const Value& value);   // null, false, 0, "", "no", "none", an empty list
std::string as_written(const Value& value);  // compact, shortened
bool is_auto(const Value* value);
void set_member(Value& object, std::string_view key, Value value);  // in the place of an older one
void set_path(Value& root, std::string_view path, Value value);
const Value* get_path(const Value& root, std::string_view path);
bool remove_path(Value& root, std::string_view path);

}  // namespace ledger::pasted
