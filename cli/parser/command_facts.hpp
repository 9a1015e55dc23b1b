#pragma once

#include <string>
#include <vector>

namespace ayatori::cli {

/// What the parser knows of an option or an argument, for manual pages and completion.
struct OptionFacts {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument, its name alone
  bool is_argument = false;
  std::string value;     ///< what it takes, as "FLOAT"; empty for a flag
  std::string initial;   ///< the value without it; empty if it has none
  bool repeats = false;  ///< whether it takes several values
  bool required = false;
  std::string description;
  std::vector<std::string> words;  ///< values that it may have; empty where that is open
};

/// `ayatori` or a subcommand, with all below it.
struct CommandFacts {
  std::string path;  ///< "ayatori collectives search"
  std::string description;
  std::vector<OptionFacts> options;
  std::vector<CommandFacts> commands;

  /// The last word of the path.
  std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

/// The manual page of one command, in the macros of man(7); its subcommands have their own.
std::string manual_page(const CommandFacts& command);

/// The name of that page: "ayatori-collectives-search".
std::string manual_name(const CommandFacts& command);

/// A script that completes commands, options and the values that are words, of all below `root`.
std::string bash_completion(const CommandFacts& root);
std::string zsh_completion(const CommandFacts& root);

/// This command and all below it, each before those below it.
std::vector<const CommandFacts*> with_descendants(const CommandFacts& command);

}  // namespace ayatori::cli
