// Reads `allocator`: PyTorch's own options, as an object or as the text of PYTORCH_ALLOC_CONF.
#include <algorithm>
#include <cmath>

#include "core/nearest.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

using Options = AllocatorOptions;

constexpr std::string_view kPath = "allocator";
constexpr std::string_view kKeys[] = {"expandable_segments",          "max_split_size_mb",
                                      "max_non_split_rounding_mb",    "roundup_power2_divisions",
                                      "garbage_collection_threshold", "per_process_memory_fraction",
                                      "large_segment_size_mb"};

// Other options of PyTorch 2.14 (c10/core/AllocatorConfig.h, c10/cuda/CUDAAllocatorConfig.h).
constexpr std::string_view kOfTheHost[] = {
    "pinned_use_background_threads", "pinned_max_round_threshold_mb",
    "pinned_max_cached_size_mb",     "pinned_use_cuda_host_register",
    "pinned_use_hip_host_register",  "pinned_reserve_segment_size_mb",
    "pinned_num_register_threads",   "pinned_free_catch_all",
    "release_lock_on_cudamalloc",    "release_lock_on_hipmalloc"};
constexpr std::string_view kNotModelled[] = {"throw_on_cudamalloc_oom",
                                             "graph_capture_record_stream_reuse"};

bool is_among(std::string_view key, std::span<const std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string path_of(std::string_view key) { return std::string(kPath) + "." + std::string(key); }

std::uint64_t bytes(double mib) { return static_cast<std::uint64_t>(mib) * Options::kMiB; }
double in_mib(std::uint64_t bytes) { return static_cast<double>(bytes / Options::kMiB); }

bool power_of_two(double number) {
  int exponent = 0;
  return number >= 1 && std::frexp(number, &exponent) == 0.5;
}

std::string trimmed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') out += c;
  }
  return out;
}

// A word of PYTORCH_ALLOC_CONF: True, False, a number, or a text.
Value word(std::string_view text) {
  if (text == "True" || text == "False") return Value::of_flag(text == "True");
  const json::Parsed parsed = json::parse(text);
  const bool number = parsed.error.empty() && parsed.value.is(Kind::kNumber);
  return number ? parsed.value : Value::of_text(text);
}

constexpr std::size_t kLongest = 2000;  // characters; all options together take fewer

// The members of "key:value,key:[value,value]".
Value options_of(const std::string& text, Findings& findings) {
  Value out = Value::object();
  if (text.size() > kLongest) {
    findings.add(std::string(kPath), "allocator is too long for a text of PYTORCH_ALLOC_CONF.",
                 json::shortened(text, 60));
    return out;
  }
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    for (bool list = false; end < text.size() && (list || text[end] != ','); ++end) {
      if (text[end] == '[' || text[end] == ']') list = text[end] == '[';
    }
    const std::string part = text.substr(at, end - at);
    at = end + 1;
    const std::size_t colon = part.find(':');
    if (part.empty()) continue;
    if (colon == 0 || colon == part.npos || colon + 1 == part.size()) {
      findings.add(std::string(kPath),
                   "allocator has " + quoted(part) +
                       "; as a text it must be like PYTORCH_ALLOC_CONF, "
                       "\"expandable_segments:True,max_split_size_mb:128\".",
                   part);
      continue;
    }
    const std::string key = part.substr(0, colon);
    if (const Value* before = out.find(key)) {
      findings.add(path_of(json::shortened(key, 60)),
                   "allocator gives " + json::shortened(key, 60) +
                       " twice; which one is meant cannot be known.",
                   *before);
      continue;
    }
    out.add(key, word(part.substr(colon + 1)));
  }
  return out;
}

void refuse_divisions(const Value& value, Findings& findings) {
  const std::string path = path_of("roundup_power2_divisions");
  findings.add(path,
               path + " is " + as_given(value) +
                   "; it must be a power of two, or a list of sizes in MiB and divisions, all "
                   "powers of two, like \"[256:1,512:2,1024:4,>:8]\".",
               value);
}

// PyTorch's list: sizes below the first that is named have the first's divisions, those between
// two that are named have none, and > stands for all after the last; of a list that begins with it,
// for all but the first.
bool read_divisions(std::string_view list, Options& options) {
  auto& divisions = options.roundup_power2_divisions;
  std::size_t next = 1;  // the interval after the last that was named
  bool first = true;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view entry = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    const std::size_t colon = entry.find(':');
    if (colon == entry.npos) return false;
    const std::string_view key = entry.substr(0, colon);
    const Value count = word(entry.substr(colon + 1));
    const bool sound = count.is(Kind::kNumber) && count.number <= 65536 &&
                       (count.number == 0 || power_of_two(count.number));
    if (!sound) return false;
    const auto number = static_cast<std::uint32_t>(count.number);
    if (key == ">") {
      std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(next), divisions.end(), number);
      continue;
    }
    const Value size = word(key);
    if (!size.is(Kind::kNumber) || !power_of_two(size.number)) return false;
    const std::size_t interval = static_cast<std::size_t>(std::ilogb(size.number));
    const std::size_t below = std::min(interval, Options::kIntervals);
    if (first) std::fill_n(divisions.begin(), below, number);
    if (interval < Options::kIntervals) divisions[interval] = number;
    next = std::min(interval + 1, Options::kIntervals);
    first = false;
  }
  return true;
}

void read_roundup(const Value* value, Options& options, Findings& findings) {
  if (!value || value->is_null()) return;
  auto& divisions = options.roundup_power2_divisions;
  bool sound = false;
  if (value->is(Kind::kNumber)) {
    sound = power_of_two(value->number) && value->number <= 65536;
    if (sound) divisions.fill(static_cast<std::uint32_t>(value->number));
  } else if (value->is(Kind::kText) && value->text.size() <= kLongest) {
    const std::string list = trimmed(value->text);
    const bool bracketed = list.size() >= 2 && list.front() == '[' && list.back() == ']';
    sound = bracketed && read_divisions(std::string_view(list).substr(1, list.size() - 2), options);
  }
  if (!sound) refuse_divisions(*value, findings);
  for (std::uint32_t& number : divisions) number = number == 1 ? 0 : number;  // no division either
}

// Options of PyTorch that are not read here, each with its reason; the rest of the object.
Value without_others(const Value& given, Findings& findings) {
  Value rest = Value::object();
  for (const json::Member& member : given.members) {
    const std::string path = path_of(member.key);
    if (member.key == "backend") {
      const bool native = member.value.is(Kind::kText) && member.value.text == "native";
      if (native || member.value.is_null()) continue;
      findings.add(path,
                   path + " is " + as_given(member.value) +
                       "; only PyTorch's native allocator is replayed. With cudaMallocAsync the "
                       "driver's own pool decides what is reserved, and it is not modelled.",
                   member.value, "native");
    } else if (is_among(member.key, kOfTheHost)) {
      findings.add(path, path + " changes nothing of the device's memory; leave it out.",
                   member.value);
    } else if (is_among(member.key, kNotModelled)) {
      findings.add(path, path + " is not modelled yet; leave it out.", member.value);
    } else {
      rest.add(member.key, member.value);
    }
  }
  return rest;
}

}  // namespace

AllocatorOptions read_allocator(const Value* value, Findings& findings) {
  Options options;
  if (!value || value->is_null()) return options;
  Value given;
  if (value->is(Kind::kText)) {
    given = options_of(trimmed(value->text), findings);
  } else if (value->is(Kind::kObject)) {
    given = *value;
  } else {
    findings.add(std::string(kPath),
                 "allocator is " + as_given(*value) +
                     "; it must be an object of PyTorch's options, or the text of "
                     "PYTORCH_ALLOC_CONF.",
                 *value);
    return options;
  }
  given = without_others(given, findings);
  check_keys(given, kPath, kKeys, findings);
  const auto figure = [&](std::string_view key) {
    return number(given.find(key), limit_of(path_of(key)), findings);
  };
  options.expandable_segments =
      flag(given.find("expandable_segments"), path_of("expandable_segments"), findings)
          .value_or(false);
  if (const auto mib = figure("large_segment_size_mb")) options.large_segment_size = bytes(*mib);
  options.max_non_split_rounding = options.large_segment_size;  // unless given
  const auto no_smaller = [&](std::string_view key, std::uint64_t& field) {
    const auto mib = figure(key);
    if (mib) field = bytes(*mib);
    if (field >= options.large_segment_size) return;
    findings.add(path_of(key),
                 path_of(key) + " is " + as_given(*given.find(key)) +
                     ", below large_segment_size_mb, which PyTorch refuses; it must be at least " +
                     grouped(in_mib(options.large_segment_size)) + ".",
                 *given.find(key));
  };
  no_smaller("max_split_size_mb", options.max_split_size);
  no_smaller("max_non_split_rounding_mb", options.max_non_split_rounding);
  read_roundup(given.find("roundup_power2_divisions"), options, findings);
  options.garbage_collection_threshold = figure("garbage_collection_threshold").value_or(0);
  options.per_process_memory_fraction = figure("per_process_memory_fraction");
  if (const Value* threshold = given.find("garbage_collection_threshold")) {
    const double share = threshold->number;
    if (threshold->is(Kind::kNumber) && (share == 0 || share == 1)) {
      const std::string path = path_of("garbage_collection_threshold");
      findings.add(path, path + " is " + as_given(*threshold) + "; it must lie between 0 and 1.",
                   *threshold);
    }
  }
  return options;
}

Value allocator_of(const AllocatorOptions& options) {
  if (options == Options()) return Value();
  Value out = Value::object();
  const auto mib = [](std::uint64_t bytes) { return Value::of_number(in_mib(bytes)); };
  out.add_flag("expandable_segments", options.expandable_segments);
  out.add("max_split_size_mb",
          options.max_split_size == Options::kNever ? Value() : mib(options.max_split_size));
  const bool usual = options.max_non_split_rounding == options.large_segment_size;
  out.add("max_non_split_rounding_mb", usual ? Value() : mib(options.max_non_split_rounding));
  const auto& divisions = options.roundup_power2_divisions;
  const bool alike =
      std::all_of(divisions.begin(), divisions.end(),
                  [&divisions](std::uint32_t number) { return number == divisions.front(); });
  if (alike) {
    out.add_number("roundup_power2_divisions", std::max(divisions.front(), std::uint32_t{1}));
  } else {
    std::string list;
    for (std::size_t i = 0; i < divisions.size(); ++i) {
      list += list.empty() ? "[" : ",";
      json::write_number(static_cast<double>(std::uint32_t{1} << i), list);
      list += ':';
      json::write_number(divisions[i], list);
    }
    out.add_text("roundup_power2_divisions", list + "]");
  }
  const double threshold = options.garbage_collection_threshold;
  out.add("garbage_collection_threshold", threshold > 0 ? Value::of_number(threshold) : Value());
  const auto& fraction = options.per_process_memory_fraction;
  out.add("per_process_memory_fraction", fraction ? Value::of_number(*fraction) : Value());
  out.add("large_segment_size_mb", mib(options.large_segment_size));
  return out;
}

}  // namespace ledger::reading
