// Values by name: the part of std::map that is needed here, kept in one sorted row. Maps of a few
// dozen names are not slower for it, and a fifth of their code.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ledger {

template <class T>
class Named {
 public:
  using Row = std::vector<std::pair<std::string, T>>;
  using const_iterator = typename Row::const_iterator;

  const_iterator begin() const { return row_.begin(); }
  const_iterator end() const { return row_.end(); }
  bool empty() const { return row_.empty(); }
  std::size_t size() const { return row_.size(); }
  const_iterator find(std::string_view name) const {
    const std::size_t at = place(name);
    return is_at(at, name) ? begin() + static_cast<std::ptrdiff_t>(at) : end();
  }
  std::size_t count(std::string_view name) const { return find(name) != end() ? 1 : 0; }
  const T& at(std::string_view name) const { return find(name)->second; }  // which must be there
  T& operator[](std::string_view name) {
    const std::size_t at = place(name);
    if (!is_at(at, name)) {
      row_.emplace_back(std::string(name), T());
      for (std::size_t i = row_.size() - 1; i > at; --i) std::swap(row_[i], row_[i - 1]);
    }
    return row_[at].second;
  }
  void erase(std::string_view name) {
    const std::size_t at = place(name);
    if (!is_at(at, name)) return;
    for (std::size_t i = at; i + 1 < row_.size(); ++i) std::swap(row_[i], row_[i + 1]);
    row_.pop_back();
  }

 private:
  bool is_at(std::size_t at, std::string_view name) const {
    return at < row_.size() && row_[at].first == name;
  }
  std::size_t place(std::string_view name) const {
    std::size_t at = 0;
    while (at < row_.size() && std::string_view(row_[at].first) < name) ++at;
    return at;
  }
  Row row_;
};

}  // namespace ledger
