#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"

namespace ayatori::session {

/// Where the value of an option is kept in a request, which tells its type as well.
template <class Request>
using OptionPlace =
    std::variant<std::string& (*)(Request&), bool& (*)(Request&), int& (*)(Request&),
                 std::int64_t& (*)(Request&), double& (*)(Request&), std::optional<int>& (*)(Request&),
                 std::optional<double>& (*)(Request&), std::vector<std::string>& (*)(Request&)>;

/// An option of a request, as every face offers it: `--max-iterations N` on the command line,
/// `max_iterations=N` in Python. Its default is what a new request holds.
template <class Request>
struct Option {
  std::string name;  ///< "max-iterations"
  OptionPlace<Request> place;
  std::string help;
  std::vector<std::string> words;                  ///< values that have names
  bool only_words = false;                         ///< whether there are no other values
  std::optional<std::pair<double, double>> range;  ///< bounds of a number
  std::string initial;                          ///< what to say of the default where its value says nothing
  bool (*is_obeyed)(const Request&) = nullptr;  ///< by what the request asks for; nullptr: always
  bool is_decision = false;                     ///< that a replay repeats
  char letter = 0;                              ///< on the command line: 'o' for `-o`
  bool one_each = false;                        ///< values of a list may hold commas
};

/// What there is to say of an option: its help, and what numbers it takes.
template <class Request>
std::string description_of(const Option<Request>& option) {
  if (!option.range || option.range->second == std::numeric_limits<double>::max()) return option.help;
  return fmt::format("{} ({} to {})", option.help, option.range->first, option.range->second);
}

/// The value of an option in a request.
template <class Request>
auto value_of(const Option<Request>& option, const Request& request) {
  using Value = std::variant<std::string, bool, int, std::int64_t, double, std::optional<int>,
                             std::optional<double>, std::vector<std::string>>;
  auto& place_of_it = const_cast<Request&>(request);  // for a place that is read here and not written to
  return std::visit([&](auto place) { return Value(place(place_of_it)); }, option.place);
}

/// Whether the request holds another value than a new one does.
template <class Request>
bool is_given(const Option<Request>& option, const Request& request) {
  static const Request untouched;
  return value_of(option, request) != value_of(option, untouched);
}

/// "rcn: did you mean rcm? There are auto, natural, rcm" where the request holds another word than the option
/// has; else empty.
template <class Request>
std::string complaint_of_word(const Option<Request>& option, const Request& request) {
  if (!option.only_words || !is_given(option, request)) return {};
  const auto value = value_of(option, request);
  const auto* const word = std::get_if<std::string>(&value);
  if (word == nullptr || std::ranges::find(option.words, *word) != option.words.end()) return {};
  return fmt::format("{}: {}", *word, choose_from(*word, option.words));
}

/// "11: want 0 to 10" where the request holds a number out of the option's range, or a word that it does not
/// have; else empty.
template <class Request>
std::string complaint(const Option<Request>& option, const Request& request) {
  if (const auto wrong = complaint_of_word(option, request); !wrong.empty()) return wrong;
  if (!option.range || !is_given(option, request)) return {};
  const double least = option.range->first;
  const double most = option.range->second;
  return std::visit(
      [&](const auto& value) -> std::string {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::optional<int>> ||
                      std::is_same_v<T, std::optional<double>>) {
          const auto given = std::optional(value).value();  // see is_given()
          const auto number = static_cast<double>(given);
          if (number >= least && number <= most) return {};
          return most == std::numeric_limits<double>::max()
                     ? fmt::format("{}: want {} or more", given, least)
                     : fmt::format("{}: want {} to {}", given, least, most);
        }
        return {};
      },
      value_of(option, request));
}

/// Writes `name_of(option)` wherever the text calls an option by its name on the command line.
template <class Request, class NameOf>
void rename_options(std::span<const Option<Request>> table, std::string& text, const NameOf& name_of) {
  const auto goes_on = [](char c) { return c == '-' || (c >= 'a' && c <= 'z'); };
  for (const auto& option : table) {
    const std::string flag = "--" + option.name;
    const std::string name = name_of(option);
    for (std::size_t at = text.find(flag); at != std::string::npos; at = text.find(flag, at + 1))
      if (at + flag.size() == text.size() || !goes_on(text[at + flag.size()]))
        text.replace(at, flag.size(), name);
  }
}

/// Throws InputError for a number out of its option's range, or a word that it does not have. The option is
/// called by its name on the command line.
template <class Request>
void check_values(std::span<const Option<Request>> table, const Request& request) {
  for (const auto& option : table) {
    if (const auto wrong = complaint(option, request); !wrong.empty())
      throw InputError(fmt::format("--{} {}", option.name, wrong));
  }
}

}  // namespace ayatori::session
