#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/base/error.hpp"

namespace ayatori {

/// The names in a list of alternatives, "a, b, c".
template <class T>
std::string names_of(std::span<const T> list) {
  std::string names;
  for (const T& item : list) names.append(names.empty() ? "" : ", ").append(item.name);
  return names;
}

/// The same one by one, after others.
template <class List>
std::vector<std::string> names_in(const List& list, std::vector<std::string> before = {}) {
  for (const auto& item : list) before.emplace_back(item.name);
  return before;
}

/// "did you mean solve?", if one of the names is near the word; else empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

/// What to say where a word is none of the names: the one that may have been meant, and all.
std::string choose_from(std::string_view word, const std::vector<std::string>& names);

/// The alternative of this name. Throws InputError that says what the alternatives are; `what` is the kind of
/// thing.
template <class T>
const T& find_named(std::span<const T> list, std::string_view name, std::string_view what) {
  for (const T& item : list) {
    if (item.name == name) return item;
  }
  throw InputError(fmt::format("unknown {} '{}': {}", what, name, choose_from(name, names_in(list))));
}

}  // namespace ayatori
