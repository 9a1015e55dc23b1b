#pragma once

#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ayatori/session/option.hpp"
#include "cli/command_line.hpp"

namespace ayatori::cli {

/// That a number is in this range, in which there may be no upper end.
template <class T>
Check check_of(std::pair<double, double> range_of_values) {
  const auto [least, most] = range_of_values;
  if (least == 0 && most == std::numeric_limits<double>::max()) return non_negative();
  if constexpr (std::is_integral_v<T>) return range(static_cast<int>(least), static_cast<int>(most));
  return range(least, most);
}

/// Declares the options of a table, to be parsed into `request`.
template <class Request>
void declare(Command& command, std::span<const session::Option<Request>> table, Request& request) {
  const auto declare_one = [&](const session::Option<Request>& option, auto& value) {
    using T = std::remove_reference_t<decltype(value)>;
    const std::string name = "--" + option.name;
    if constexpr (std::is_same_v<T, bool>) {
      command.add_flag(name, value, option.help);
    } else {
      Option* const declared = command.add_option(name, value, option.help);
      if (option.only_words)
        declared->check(one_of(option.words));
      else if (!option.words.empty())
        declared->suggest(option.words);
      if (option.range) declared->check(check_of<T>(*option.range));
      if constexpr (std::is_same_v<T, std::vector<std::string>>)
        declared->delimiter(',');
      else if (!option.initial.empty())
        declared->default_str("");
      else if constexpr (std::is_same_v<T, std::string>)
        if (!value.empty()) declared->capture_default_str();
      if constexpr (std::is_arithmetic_v<T>)
        if (option.initial.empty()) declared->capture_default_str();
    }
  };
  for (const auto& option : table)
    std::visit([&](auto place) { declare_one(option, place(request)); }, option.place);
}

}  // namespace ayatori::cli
