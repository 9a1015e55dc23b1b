#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/base/find_named.hpp"
#include "cli/parser/command_facts.hpp"

// The command line as the subcommands declare it. CLI11 does the work, behind this: its header takes seconds
// to compile, in one file instead of all.

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace ayatori::cli {

/// What a value has to be.
class Check {
 public:
  explicit Check(const CLI::Validator& validator, std::vector<std::string> words = {});
  const CLI::Validator& validator() const { return *validator_; }
  /// The only values that pass, where they are words.
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
  std::vector<std::string> words_;
};
Check positive();
Check non_negative();
Check range(int least, int most);
Check range(double least, double most);
Check one_of(const std::vector<std::string>& words);

/// An option or a positional argument. All but the destructor give it back, to go on with.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  /// Whether it was given; for callbacks.
  explicit operator bool() const;
  Option* check(const Check& check);
  Option* required();
  Option* capture_default_str();
  Option* default_str(const std::string& text);
  Option* type_name(const std::string& name);
  /// Between values in one word.
  Option* delimiter(char character);
  /// One value each time that a list is given: what follows is another argument.
  Option* one_at_a_time();
  /// "4M" is a number, by powers of 1024.
  Option* as_size();
  Option* needs(Option* other);
  Option* excludes(Option* other);
  Option* excludes(Option* one, Option* other) { return excludes(one)->excludes(other); }
  /// The heading of the help that it stands under; "Options" unless told.
  Option* group(const std::string& heading);
  /// Values that the help, manual pages and completion name; others are not forbidden.
  Option* suggest(std::vector<std::string> words);
  bool wraps(const CLI::Option* option) const { return option_ == option; }
  bool is_called(const std::string& name) const;
  const std::vector<std::string>& words() const { return words_; }
  /// Has the help name the words, which must be known by now.
  void show_words();
  /// Without the words, if they are shown; else empty.
  const std::string& description() const { return description_; }

 private:
  CLI::Option* option_;
  std::vector<std::string> words_;
  std::string description_;  ///< without the words, once they are shown
};

/// A heading of the help, with the options below it.
struct HelpGroup {
  const char* heading;
  std::vector<const char*> options;
};

/// `ayatori` or a subcommand.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(app) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& description);
  Command* require_subcommand(int count);
  /// `value` keeps what it has unless the option is given, and has to outlive the parsing. The types that
  /// there are: see the end of command_line.cpp.
  template <class T>
  Option* add_option(const std::string& names, T& value, const std::string& description);
  Option* add_flag(const std::string& names, bool& value, const std::string& description);
  /// One that has been declared, by a name such as "--quick".
  Option* option(const std::string& name);
  Command* groups(const std::vector<HelpGroup>& groups);
  /// Command lines that the help shows at its end, each with what it does.
  Command* examples(const std::vector<std::pair<std::string, std::string>>& lines);
  /// To be called once all is declared, here and below: the help names the values that options have.
  void show_words();
  /// What to do once all of it is parsed.
  Command* callback(const std::function<void()>& act);
  /// What --help says of the command that the words lead to, as far as they do. `path` is that of this one.
  std::string help(const std::string& path, std::span<const std::string> words) const;
  /// All that has been declared so far. `above`: the path of the command that this one is below.
  CommandFacts facts(const std::string& above = "") const;

 private:
  CLI::App& app_;
  std::deque<Option> options_;
  std::vector<std::unique_ptr<Command>> commands_;
};

/// What is wrong with words that were refused, where a name is unknown: says which one was meant, if one is
/// near. Empty where all names are known.
std::string explain_names(const CommandFacts& root, const std::vector<std::string>& words);

/// The last command that the words lead to from `root`.
const CommandFacts& last_command(const CommandFacts& root, std::span<const std::string> words);

/// For callbacks: `what` is required.
[[noreturn]] void throw_missing(const std::string& what);

/// For callbacks: the command line is wrong.
[[noreturn]] void throw_wrong(const std::string& what);

/// Thrown by callbacks that answer from the declarations alone: the text is printed, without MPI.
struct Answer {
  std::string text;
};

}  // namespace ayatori::cli
