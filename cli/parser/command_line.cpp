#include "cli/parser/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ayatori::cli {

namespace {

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts{.is_argument = option.get_positional(),
                    .initial = option.get_default_str(),
                    .repeats = option.get_expected_max() > 1,
                    .required = option.get_required(),
                    .description = option.get_description()};
  for (const auto& name : option.get_snames()) facts.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) facts.names.push_back("--" + name);
  if (facts.is_argument) facts.names = {option.get_name(true)};
  // CLI11 appends to the type what checks say.
  if (option.get_items_expected_max() > 0)
    facts.value = option.get_type_name().substr(0, option.get_type_name().find(':'));
  return facts;
}

/// The validator, which says what is wanted of a value that it refuses.
Check in_words(const CLI::Validator& validator, const std::string& wanted) {
  CLI::Validator speaking = validator;
  speaking.operation([validator, wanted](std::string& value) {
    return validator(value).empty() ? "" : fmt::format("{}: {}", value, wanted);
  });
  return Check(speaking);
}

}  // namespace

Check::Check(const CLI::Validator& validator, std::vector<std::string> words)
    : validator_(std::make_shared<CLI::Validator>(validator)), words_(std::move(words)) {}

Check positive() {
  return in_words(CLI::PositiveNumber, "want more than 0");
}
Check non_negative() {
  return in_words(CLI::NonNegativeNumber, "want 0 or more");
}
Check range(int least, int most) {
  return in_words(CLI::Range(least, most), fmt::format("want {} to {}", least, most));
}
Check range(double least, double most) {
  return in_words(CLI::Range(least, most), fmt::format("want {} to {}", least, most));
}
Check one_of(const std::vector<std::string>& words) {
  CLI::Validator validator = CLI::IsMember(words);
  validator.operation([words](const std::string& word) {
    const bool is_known = std::ranges::find(words, word) != words.end();
    return is_known ? "" : fmt::format("{}: {}", word, choose_from(word, words));
  });
  return Check(validator, words);
}

bool Option::is_called(const std::string& name) const {
  return option_->check_name(name);
}
Option::operator bool() const {
  return static_cast<bool>(*option_);
}
Option* Option::check(const Check& check) {
  option_->check(check.validator());
  if (!check.words().empty()) words_ = check.words();
  return this;
}
Option* Option::suggest(std::vector<std::string> words) {
  words_ = std::move(words);
  return this;
}
Option* Option::group(const std::string& heading) {
  option_->group(heading);
  return this;
}
void Option::show_words() {
  const std::string text = option_->get_description();
  const std::string words = fmt::format("{}", fmt::join(words_, ", "));
  // What a check allows is named already, and so may be the rest.
  if (words_.empty() || option_->get_type_name().find(':') != std::string::npos ||
      text.find(words) != std::string::npos)
    return;
  description_ = text;
  option_->description(fmt::format("{} [{}]", text, words));
}
Option* Option::required() {
  option_->required();
  return this;
}
Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}
Option* Option::default_str(const std::string& text) {
  option_->default_str(text);
  return this;
}
Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}
Option* Option::delimiter(char character) {
  option_->delimiter(character);
  return this;
}
Option* Option::one_at_a_time() {
  option_->allow_extra_args(false);
  return this;
}
Option* Option::as_size() {
  option_->transform(CLI::AsSizeValue(false));
  return this;
}
Option* Option::needs(Option* other) {
  option_->needs(other->option_);
  return this;
}
Option* Option::excludes(Option* other) {
  option_->excludes(other->option_);
  return this;
}

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  commands_.push_back(std::make_unique<Command>(*app_.add_subcommand(name, description)));
  return commands_.back().get();
}
Command* Command::require_subcommand(int count) {
  app_.require_subcommand(count);
  return this;
}
template <class T>
Option* Command::add_option(const std::string& names, T& value, const std::string& description) {
  return &options_.emplace_back(app_.add_option(names, value, description));
}
Option* Command::add_flag(const std::string& names, bool& value, const std::string& description) {
  return &options_.emplace_back(app_.add_flag(names, value, description));
}
Option* Command::option(const std::string& name) {
  for (Option& option : options_)
    if (option.is_called(name)) return &option;
  throw std::logic_error("no option is called " + name);
}
Command* Command::groups(const std::vector<HelpGroup>& groups) {
  for (const auto& [heading, options] : groups)
    for (const char* name : options) option(name)->group(heading);
  return this;
}
Command* Command::examples(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::string text = "Examples:";
  for (const auto& [line, does] : lines) text += fmt::format("\n  {}\n      {}", line, does);
  app_.footer(text + "\n");
  return this;
}
void Command::show_words() {
  for (Option& option : options_) option.show_words();
  for (const auto& command : commands_) command->show_words();
}
Command* Command::callback(const std::function<void()>& act) {
  app_.callback(act);
  return this;
}

std::string Command::help(const std::string& path, std::span<const std::string> words) const {
  for (const auto& command : commands_) {
    const std::string name = command->app_.get_name();
    if (!words.empty() && words.front() == name) return command->help(path + " " + name, words.subspan(1));
  }
  return app_.get_formatter()->make_help(&app_, path, CLI::AppFormatMode::Normal);
}

CommandFacts Command::facts(const std::string& above) const {
  CommandFacts facts{.path = above.empty() ? app_.get_name() : above + " " + app_.get_name(),
                     .description = app_.get_description(),
                     .options = {},
                     .commands = {}};
  for (const CLI::Option* declared : std::as_const(app_).get_options()) {
    facts.options.push_back(facts_of(*declared));
    for (const Option& option : options_) {
      if (!option.wraps(declared)) continue;
      facts.options.back().words = option.words();
      if (!option.description().empty()) facts.options.back().description = option.description();
    }
  }
  for (const auto& command : commands_) facts.commands.push_back(command->facts(facts.path));
  return facts;
}

void throw_missing(const std::string& what) {
  throw CLI::RequiredError(what);
}

void throw_wrong(const std::string& what) {
  throw CLI::ValidationError(what);
}

// The types of options: another one is a line here.
#define AYATORI_OPTION_TYPE(...) \
  template Option* Command::add_option(const std::string&, __VA_ARGS__&, const std::string&)
AYATORI_OPTION_TYPE(int);
AYATORI_OPTION_TYPE(std::int64_t);
AYATORI_OPTION_TYPE(double);
AYATORI_OPTION_TYPE(std::string);
AYATORI_OPTION_TYPE(std::optional<int>);
AYATORI_OPTION_TYPE(std::optional<double>);
AYATORI_OPTION_TYPE(std::pair<double, double>);
AYATORI_OPTION_TYPE(std::vector<int>);
AYATORI_OPTION_TYPE(std::vector<std::int64_t>);
AYATORI_OPTION_TYPE(std::vector<std::string>);
#undef AYATORI_OPTION_TYPE

}  // namespace ayatori::cli
