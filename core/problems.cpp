// Writes problems; what was not given and what has no neighbour is left out.
#include "core/problems.hpp"

#include <string>

namespace ledger {

void add_problems(json::Writer& w, const Problems& problems, std::string_view before) {
  for (const Problem& p : problems) {
    const bool joined = !before.empty() && !p.path.empty();
    w.begin_object().key("path").text(std::string(before) + (joined ? "." : "") + p.path);
    w.key("message").text(p.message);
    if (!p.given.empty()) w.key("given").text(p.given);
    if (!p.nearest.empty()) w.key("nearest").text(p.nearest);
    w.end_object();
  }
}

void write_problems(json::Writer& w, const Problems& problems) {
  w.key("problems").begin_list();
  add_problems(w, problems);
  w.end_list();
}

}  // namespace ledger
