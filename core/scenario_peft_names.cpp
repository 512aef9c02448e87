// Reads what `peft` names beside target_modules: parameters of experts, modules and rows that are
// trained whole, ranks of some linears.
#include <algorithm>
#include <utility>

#include "core/nearest.hpp"
#include "core/scenario_reader.hpp"

namespace ledger::reading {
namespace {

// Among so many, ids that are given twice are found.
constexpr std::size_t kCompared = 1000;

}  // namespace

// The name of the embedding in transformers' module.
std::string_view embedding_of(const Value& type) {
  const Value* name = type.find("embedding");
  return name ? std::string_view(name->text) : "embed_tokens";
}

// Parameters of experts, which no module's name reaches.
std::vector<std::string> read_parameters(const Value* given, const std::string& path, bool alone,
                                         const Value& type, Findings& findings) {
  std::vector<std::string> names;
  if (!given || given->is_null()) return names;
  const std::vector<std::string> parameters = texts(type.find("expert_parameters"));
  const std::vector<std::string_view> known(parameters.begin(), parameters.end());
  if (!given->is(Kind::kList)) {
    findings.add(path, path + " is " + as_given(*given) + "; it must be a list of names.", *given);
    return names;
  }
  for (const Value& item : given->list) {
    const auto is_meant = [&](std::string_view whole) {
      return item.is(Kind::kText) && !item.text.empty() &&
             (item.text == whole || whole.ends_with("." + item.text));
    };
    if (std::any_of(known.begin(), known.end(), is_meant)) {
      names.push_back(item.text);
      continue;
    }
    findings.add(path,
                 path + " has " + as_given(item) +
                     (known.empty() ? "; adapters on parameters are not modelled for this "
                                      "model type, only on modules."
                                    : ", which matches no parameter of experts; there are " +
                                          listed(known, "and") + "."),
                 item, known.empty() ? "" : std::string(known.front()));
  }
  if (!names.empty() && !alone) {
    findings.add(path, path + ": more than one adapter on parameters of experts is not modelled.");
  }
  return names;
}

// Whole modules that are copied and trained.
std::vector<std::string> read_saved(const Value* given, const std::string& path, const Value& type,
                                    Findings& findings) {
  std::vector<std::string> names;
  if (!given || given->is_null()) return names;
  const std::vector<std::string_view> known = {embedding_of(type), "lm_head"};
  if (!given->is(Kind::kList)) {
    findings.add(path,
                 path + " is " + as_given(*given) + "; it must be a list of " + listed(known) + ".",
                 *given);
    return names;
  }
  for (const Value& item : given->list) {
    const std::string_view name = last_name(item.text);
    if (item.is(Kind::kText) && std::find(known.begin(), known.end(), name) != known.end()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
      continue;
    }
    if (findings.full()) break;
    const std::vector<std::string> linears = texts(type.find("linears"));
    const bool linear = std::find(linears.begin(), linears.end(), name) != linears.end();
    const auto near = nearest(item.text, known, 1);
    findings.add(path,
                 path + " has " + as_given(item) +
                     (linear ? ", a linear of the layers, which is not modelled as trained whole; "
                             : ", which matches no module that can be trained whole here; ") +
                     "there are " + listed(known, "and") + ".",
                 item, near.empty() ? "" : std::string(near.front()));
  }
  return names;
}

// Rows of the embedding: a list of token ids, or an object that gives the embedding one.
std::vector<double> read_tokens(const Value* given, const std::string& path, const Peft& peft,
                                const ModelReading& model, Findings& findings) {
  std::vector<double> rows;
  if (!given || given->is_null()) return rows;
  const std::string_view embedding = embedding_of(model.type);
  const Value* list = given;
  if (given->is(Kind::kObject)) {
    const bool one = given->members.size() == 1 && given->members.front().key == embedding;
    list = one ? &given->members.front().value : nullptr;
  }
  if (!list || !list->is(Kind::kList)) {
    findings.add(path,
                 path + " is " + as_given(*given) + "; it must be a list of token ids, or {" +
                     quoted(embedding) + ": […]}.",
                 *given);
    return rows;
  }
  Limit limit{path, 0, std::max(0.0, model.config.number("vocab_size") - 1)};
  for (const Value& item : list->list) {
    const auto id = number(&item, limit, findings);
    if (!id) return rows;
    if (rows.size() > kCompared || std::find(rows.begin(), rows.end(), *id) == rows.end()) {
      rows.push_back(*id);
    }
  }
  const auto named = [&](const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return last_name(name) == embedding; });
  };
  if (!rows.empty() && (named(peft.modules_to_save) || named(peft.target_modules))) {
    findings.add(path, path + " trains rows of " + std::string(embedding) +
                           ", which modules_to_save or target_modules name as well; peft wraps a "
                           "module once.");
  }
  return rows;
}

std::vector<std::pair<std::string, double>> read_rank_pattern(const Value* given,
                                                              const std::string& path,
                                                              const Value& type,
                                                              Findings& findings) {
  std::vector<std::pair<std::string, double>> ranks;
  const Value* pattern = object(given, path, findings);
  if (!pattern) return ranks;
  const std::vector<std::string> linears = texts(type.find("linears"));
  const std::vector<std::string_view> known(linears.begin(), linears.end());
  Limit limit = limit_of("peft.r");
  if (pattern->members.size() > kCompared) {
    findings.add(path, path + " has more than " + grouped(kCompared) + " names.");
    return ranks;
  }
  for (const json::Member& member : pattern->members) {
    const std::string at = path + "." + json::shortened(member.key, 120);
    limit.path = at;
    if (std::find(known.begin(), known.end(), last_name(member.key)) == known.end()) {
      const auto near = nearest(member.key, known, 1);
      findings.add(at,
                   at + " matches no linear of this model; there are " + listed(known, "and") + ".",
                   quoted(member.key), near.empty() ? "" : std::string(near.front()));
    } else if (const auto r = number(&member.value, limit, findings)) {
      ranks.emplace_back(member.key, *r);
    }
  }
  return ranks;
}

}  // namespace ledger::reading
