#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "ayatori/session/option.hpp"
#include "cli/parser/command_line.hpp"

namespace ayatori::cli {

/// Declares the options of a table, to be parsed into `request`. Ranges and words are checked with
/// the request.
template <class Request>
void declare(Command& command, std::span<const session::Option<Request>> table, Request& request) {
  const auto declare_one = [&](const session::Option<Request>& option, auto& value) {
    using T = std::remove_reference_t<decltype(value)>;
    const std::string name =
        option.letter == 0 ? "--" + option.name : fmt::format("-{},--{}", option.letter, option.name);
    const std::string help = description_of(option);
    if constexpr (std::is_same_v<T, bool>) {
      command.add_flag(name, value, help);
    } else {
      Option* const declared = command.add_option(name, value, help);
      declared->suggest(option.words);
      if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        if (!option.one_each) declared->delimiter(',');
      } else if (!option.initial.empty())
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
