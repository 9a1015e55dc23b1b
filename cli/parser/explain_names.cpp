#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "ayatori/base/printable.hpp"
#include "cli/parser/command_line.hpp"

namespace ayatori::cli {

namespace {

/// Letters to insert, leave out, replace, or exchange with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> current(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(current));
  }
  return last.back();
}

/// ": did you mean solve?", if one of the names is near.
std::string guess(const std::string& word, const std::vector<std::string>& names) {
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  std::string nearest;
  for (const auto& name : names) {
    const std::size_t steps = distance(word, name);
    if (steps < least) {
      least = steps;
      nearest = name;
    }
  }
  return nearest.empty() ? "" : fmt::format(": did you mean {}?", nearest);
}

std::vector<std::string> option_names(const CommandFacts& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options)
    if (!option.is_argument) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

constexpr std::size_t longest_shown = 60;

}  // namespace

std::string explain_names(const CommandFacts& root, const std::vector<std::string>& words) {
  const CommandFacts* command = &root;
  for (const auto& word : words) {
    if (word == "--") break;
    if (word.starts_with("--")) {
      const auto names = option_names(*command);
      const std::string name = word.substr(0, word.find('='));
      if (std::ranges::find(names, name) != names.end()) continue;
      return fmt::format("{} has no option {}{}", command->path, printable(name, longest_shown),
                         guess(name, names));
    }
    if (command->commands.empty() || word.starts_with('-')) continue;
    const auto below = std::ranges::find(command->commands, word, &CommandFacts::name);
    if (below == command->commands.end()) {
      std::vector<std::string> names;
      for (const auto& known : command->commands) names.push_back(known.name());
      return fmt::format("{} has no command {}{}", command->path, printable(word, longest_shown),
                         guess(word, names));
    }
    command = &*below;
  }
  return "";
}

}  // namespace ayatori::cli
