#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ayatori/base/find_named.hpp"
#include "ayatori/base/printable.hpp"
#include "ayatori/io/generator.hpp"
#include "cli/parser/command_line.hpp"

namespace ayatori::cli {

namespace {

/// ": did you mean solve?", if one of the names is near.
std::string guess(const std::string& word, const std::vector<std::string>& names) {
  const std::string near = did_you_mean(word, names);
  return near.empty() ? near : ": " + near;
}

/// Whether a word is meant for a matrix: a file, or the spec of a generator.
bool names_a_matrix(const std::string& word) {
  std::error_code error;
  return word.find_first_of("./:") != std::string::npos || io::is_generator(word) ||
         std::filesystem::exists(word, error);
}

std::vector<std::string> option_names(const CommandFacts& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options)
    if (!option.is_argument) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

constexpr std::size_t longest_shown = 60;

}  // namespace

const CommandFacts& last_command(const CommandFacts& root, std::span<const std::string> words) {
  if (words.empty()) return root;
  const auto below = std::ranges::find(root.commands, words.front(), &CommandFacts::name);
  return below == root.commands.end() ? root : last_command(*below, words.subspan(1));
}

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
      if (command == &root && names_a_matrix(word))
        return fmt::format("{0} has no command {1}: say {0} solve {1} to solve a system of it", root.path,
                           printable(word, longest_shown));
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
