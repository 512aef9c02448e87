// The messages of a pasted text: found by their anchors, with their numbers read, equal ones of
// several ranks put together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/explain/labels.hpp"
#include "core/explain/producers.hpp"

namespace ledger::message {

// A shape that the message prints: f32[32,4096,4096], shape[59,128,195370] and type float.
struct PrintedShape {
  std::vector<double> sizes;
  int width = 4;        // bytes per element
  std::string printed;  // as it stands in the text
};

struct Message {
  const Anchor* anchor = nullptr;  // the one that says who speaks
  Producer producer = Producer::kUnknown;
  Severity severity = Severity::kError;
  std::size_t begin = 0, end = 0;  // in the squeezed text
  std::string_view versions;
  std::string rank;    // "rank 7", "GPU 2"; empty where nothing says
  std::string tensor;  // a tensor's name that is printed
  std::optional<PrintedShape> shape;
  std::vector<Reading> readings;

  // The first reading under that label, or null.
  const Reading* find(Label label) const;
};

// Equal messages: of the same program with the same clauses, raised at the same line.
struct Group {
  std::size_t first = 0;  // index of the first
  std::size_t count = 0;
  std::vector<std::string> ranks;
  double tried_low = 0, tried_high = 0;  // bytes, of all; 0 where none is printed
};

struct Paste {
  Squeezed text;
  std::vector<Message> messages;  // in order
  std::vector<Group> groups;
  std::vector<Reading> around;        // numbers outside of messages
  std::size_t left_out = 0;           // messages beyond the most that are read
  std::size_t numbers_left_out = 0;   // likewise
  std::optional<std::size_t> chosen;  // the message to be explained: the first fatal one
};

Paste read_paste(std::string_view text);

}  // namespace ledger::message
