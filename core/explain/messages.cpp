// Cuts a text into messages by their anchors and reads the numbers of each.
#include "core/explain/messages.hpp"

#include <algorithm>

#include "core/explain/message_parts.hpp"

namespace ledger::message {
namespace {

// Bounds that keep any text within the second: what is beyond them is counted, not read.
constexpr std::size_t kMostMessages = 256;
constexpr std::size_t kMostNumbers = 64;  // of a message
constexpr std::size_t kMostAround = 256;  // outside of messages
constexpr std::size_t kLongest = 6000;    // characters of a message without white space
constexpr std::size_t kNear = 500;        // characters between parts of one message
constexpr std::size_t kFar = 1500;

// Programs that tell one failure in several lines.
bool tells_in_parts(Producer producer) {
  switch (producer) {
    case Producer::kGgml:
    case Producer::kNccl:
    case Producer::kRay:
    case Producer::kKernel:
    case Producer::kXla:
    case Producer::kXlaTpu:
    case Producer::kVllm:
    case Producer::kKilled:
    case Producer::kKubernetes:
    case Producer::kPython:
    case Producer::kMlx: return true;
    default: return false;
  }
}

// A message while its anchors are being collected.
struct Open {
  Message message;
  std::size_t last = 0;  // where its last anchor stands
  bool begun = false;    // by an anchor that begins one
};

// Whether the anchor belongs to the message that is open.
bool belongs(const Open& open, const Anchor& anchor, std::size_t at) {
  const std::size_t distance = at - open.last;
  const Message& m = open.message;
  if (m.severity == Severity::kLog) {
    return anchor.producer == m.producer && anchor.severity == Severity::kLog && distance < kFar;
  }
  if (anchor.severity == Severity::kLog) return anchor.producer == m.producer && distance < kFar;
  // What the launcher says of a process whose end is told already.
  if (anchor.producer == Producer::kKilled && m.severity == Severity::kError)
    return distance < kNear;
  if (anchor.begins) {
    if (!open.begun) return distance < kNear;
    if (m.severity == Severity::kWarning) {
      // "Failed to clone() tensor …: CUDA out of memory." is one warning.
      return m.producer == Producer::kCuda && anchor.producer == Producer::kCuda &&
             distance < kNear;
    }
    if (anchor.severity == Severity::kWarning) return false;
    return anchor.producer == m.producer && tells_in_parts(m.producer) && distance < kNear;
  }
  return distance < kFar;
}

std::size_t start_of_line(const Squeezed& s, std::size_t i, std::size_t least) {
  while (i > least && s.gap[i] != Gap::kBreak && s.gap[i] != Gap::kBreakAndBlank) --i;
  return i;
}

std::vector<Reading> readings_of(const Squeezed& s, std::size_t begin, std::size_t end,
                                 std::size_t most, bool bare_ones) {
  std::vector<Reading> out;
  for (const Figure& figure : figures_of(s, begin, end, most * 8)) {
    if (figure.unit == Unit::kNone && !bare_ones) continue;
    const Reading reading = read_figure(s, figure);
    if (reading.label == Label::kUnknown && !is_size(reading.figure.unit)) continue;
    // K, M and G behind a number are sizes only where a clause says so.
    if (reading.label == Label::kUnknown && figure.spelling == Spelling::kLetter) continue;
    out.push_back(reading);
    if (out.size() >= most) break;
  }
  return out;
}

std::vector<Message> find_messages(const Squeezed& s, std::size_t& left_out) {
  std::vector<Message> out;
  std::optional<Open> open;
  std::vector<std::size_t> anchors;  // by message: where its own anchor stands
  const auto close = [&] {
    if (!open) return;
    if (out.size() < kMostMessages) {
      out.push_back(open->message);
      anchors.push_back(open->last);
    } else {
      ++left_out;
    }
    open.reset();
  };
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (!is_letter(s.text[i]) && s.text[i] != '[' && s.text[i] != '|' && s.text[i] != '$' &&
        s.text[i] != '\'')
      continue;
    if (!s.begins_word(i)) continue;
    const Anchor* anchor = anchor_at(s, i);
    if (!anchor) continue;
    if (open && belongs(*open, *anchor, i)) {
      Message& m = open->message;
      if (m.producer == Producer::kWords || (anchor->begins && !open->begun)) {
        m.producer = anchor->producer;
        m.severity = anchor->severity;
        m.anchor = anchor;
      }
      open->begun = open->begun || anchor->begins;
      open->last = i;
      continue;
    }
    close();
    open.emplace();
    open->message.anchor = anchor;
    open->message.producer = anchor->producer;
    open->message.severity = anchor->severity;
    open->message.begin = i;
    open->last = i;
    open->begun = anchor->begins;
  }
  close();
  return out;
}

void group(Paste& paste) {
  std::vector<std::string> keys;
  for (std::size_t n = 0; n < paste.messages.size(); ++n) {
    const Message& m = paste.messages[n];
    std::string key =
        std::to_string(static_cast<int>(m.producer) * 4 + static_cast<int>(m.severity));
    for (const Reading& r : m.readings) key += "," + std::to_string(static_cast<int>(r.label));
    key += frame_of(paste.text, m.begin);
    std::size_t at = 0;
    while (at < keys.size() && keys[at] != key) ++at;
    if (at == keys.size()) {
      keys.push_back(key);
      paste.groups.push_back({n, 0, {}, 0, 0});
    }
    Group& g = paste.groups[at];
    ++g.count;
    if (!m.rank.empty() && std::find(g.ranks.begin(), g.ranks.end(), m.rank) == g.ranks.end())
      g.ranks.push_back(m.rank);
    if (const Reading* tried = m.find(Label::kTried)) {
      g.tried_low = g.count == 1 ? tried->low : std::min(g.tried_low, tried->low);
      g.tried_high = std::max(g.tried_high, tried->high);
    }
  }
}

}  // namespace

const Reading* Message::find(Label label) const {
  for (const Reading& r : readings) {
    if (r.label == label) return &r;
  }
  return nullptr;
}

Paste read_paste(std::string_view text) {
  Paste paste;
  paste.text = squeeze(text);
  const Squeezed& s = paste.text;
  paste.messages = find_messages(s, paste.left_out);
  std::size_t end_of_last = 0;
  std::vector<std::size_t> anchors;
  for (Message& m : paste.messages) {
    anchors.push_back(m.begin);
    m.begin = start_of_line(s, m.begin, std::max(end_of_last, m.begin > kFar ? m.begin - kFar : 0));
    end_of_last = m.begin;
  }
  std::size_t read_to = 0;
  const auto read_around = [&](std::size_t begin, std::size_t end) {
    if (paste.around.size() >= kMostAround) return;
    for (const Reading& r : readings_of(s, begin, end, kMostAround - paste.around.size(), true))
      paste.around.push_back(r);
  };
  for (std::size_t n = 0; n < paste.messages.size(); ++n) {
    Message& m = paste.messages[n];
    const std::size_t next = n + 1 < paste.messages.size() ? paste.messages[n + 1].begin : s.size();
    m.end = std::min(next, anchors[n] + kLongest);
    read_around(read_to, m.begin);
    m.readings = readings_of(s, m.begin, m.end, kMostNumbers, true);
    m.versions = versions_of(s, m.begin, m.end, m.producer);
    if (m.producer == Producer::kRawCuda && stands_within(s, m.begin, m.end, "ggml"))
      m.producer = Producer::kGgml;
    m.rank = rank_of(s, m, anchors[n]);
    m.tensor = tensor_of(s, m);
    m.shape = shape_of(s, m);
    read_to = m.end;
  }
  read_around(read_to, s.size());
  // No known words, but figures that say what they are: somebody tells of it.
  if (paste.messages.empty() && !paste.around.empty()) {
    Message told;
    told.anchor = &words_of_nobody();
    told.producer = Producer::kWords;
    told.end = std::min(s.size(), kLongest);
    for (const Reading& r : paste.around) {
      if (r.figure.begin < told.end) told.readings.push_back(r);
    }
    told.shape = shape_of(s, told);
    told.severity = told.find(Label::kTried) ? Severity::kError : Severity::kLog;
    bool any = false;
    for (const Reading& r : told.readings) any = any || r.label != Label::kUnknown;
    if (any) {
      paste.messages.push_back(told);
      paste.around.clear();
    }
  }
  group(paste);
  // The first that ends the program, one that tells more than words if there is any; else the
  // first of all.
  for (const bool words : {false, true}) {
    for (std::size_t n = 0; n < paste.messages.size() && !paste.chosen; ++n) {
      const Message& m = paste.messages[n];
      if (m.severity == Severity::kError && (words || m.producer != Producer::kWords))
        paste.chosen = n;
    }
  }
  for (const Severity severity : {Severity::kWarning, Severity::kLog}) {
    for (std::size_t n = 0; n < paste.messages.size() && !paste.chosen; ++n) {
      if (paste.messages[n].severity == severity) paste.chosen = n;
    }
  }
  return paste;
}

}  // namespace ledger::message
