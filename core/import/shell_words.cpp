// Parts a text into lines and words as a shell does.
#include "core/import/shell_words.hpp"

namespace ledger::pasted {

bool is_name(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    const bool fine =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!fine) return false;
  }
  return text.front() < '0' || text.front() > '9';
}

namespace {

constexpr std::size_t kMostWords = 4000;

std::string value_of(const Variables& variables, std::string_view name,
                     std::string_view otherwise) {
  for (std::size_t i = variables.size(); i > 0; --i) {
    if (variables[i - 1].first == name) return variables[i - 1].second;
  }
  return std::string(otherwise);
}

// $NAME, ${NAME} and ${NAME:-otherwise}; what is not known stays as it stands.
std::string expanded(std::string_view text, const Variables& variables) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    if (text[i + 1] == '{') {
      const std::size_t end = text.find('}', i);
      if (end == text.npos) {
        out += text[i];
        continue;
      }
      const std::string_view inside = text.substr(i + 2, end - i - 2);
      const std::size_t at = inside.find(":-");
      const std::string_view name = inside.substr(0, at);
      const std::string_view whole = text.substr(i, end - i + 1);
      out += value_of(variables, name, at == inside.npos ? whole : inside.substr(at + 2));
      i = end;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && is_name(text.substr(i + 1, end - i))) ++end;
    const std::string_view name = text.substr(i + 1, end - i - 1);
    out += name.empty() ? std::string("$") : value_of(variables, name, text.substr(i, end - i));
    i = end - 1;
  }
  return out;
}

}  // namespace

// Lines as a shell sees them: continued ones joined, quotes left whole.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\r') continue;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      std::size_t next = i + 1;
      while (next < text.size() && (text[next] == ' ' || text[next] == '\t' || text[next] == '\r'))
        ++next;
      if (next < text.size() && text[next] == '\n') {
        lines.back() += ' ';
        i = next;
        continue;
      }
      lines.back() += c;
      lines.back() += text[++i];
      continue;
    }
    if (quote == 0 && (c == '"' || c == '\'')) {
      // An apostrophe in a comment opens no quote.
      const std::size_t hash = lines.back().find('#');
      if (hash == std::string::npos) quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    if (c == '\n' && quote == 0) {
      lines.emplace_back();
    } else {
      lines.back() += c == '\n' || c == '\t' ? ' ' : c;
    }
  }
  return lines;
}

// Words of one line up to the end of its first command.
std::vector<std::string> words_of(std::string_view line, const Variables& variables) {
  std::vector<std::string> out;
  std::string word;
  bool open = false;
  char quote = 0;
  const auto end = [&] {
    if (open && out.size() < kMostWords) out.push_back(word);
    word.clear();
    open = false;
  };
  std::string plain;  // of the part that variables may stand in
  const auto flush = [&] {
    word += expanded(plain, variables);
    plain.clear();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\'') {
      if (c == '\'') {
        quote = 0;
      } else {
        word += c;
      }
      continue;
    }
    if (c == '\\' && i + 1 < line.size()) {
      flush();
      word += line[++i];
      open = true;
      continue;
    }
    if (c == '"') {
      quote = quote ? 0 : '"';
      open = true;
      continue;
    }
    if (quote == 0 && c == '\'') {
      flush();
      quote = '\'';
      open = true;
      continue;
    }
    if (quote == 0 && (c == ' ' || c == '\t')) {
      flush();
      end();
      continue;
    }
    if (quote == 0 && !open && c == '#') break;
    if (quote == 0 && (c == '|' || c == ';' || c == '<' || c == '&' || c == '>')) break;
    plain += c;
    open = true;
  }
  flush();
  end();
  return out;
}

}  // namespace ledger::pasted
