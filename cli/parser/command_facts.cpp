#include "cli/parser/command_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ayatori/base/version.hpp"

namespace ayatori::cli {

namespace {

/// Text that troff shows as it is: without this, hyphens and quotes become typographic ones, which nobody can
/// paste into a shell, and a line that begins with a dot disappears.
std::string troff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      case '.':
        escaped += escaped.empty() ? "\\&." : ".";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

/// In bold, which is how manual pages show what is typed as it stands.
std::string bold(const std::string& text) {
  return "\\fB" + troff(text) + "\\fR";
}

std::string sentence(const OptionFacts& option) {
  std::string text = troff(option.description) + ".";
  if (option.required) text += " Required.";
  if (!option.words.empty()) text += troff(fmt::format(" One of: {}.", fmt::join(option.words, ", ")));
  if (!option.initial.empty()) text += " Default: " + bold(option.initial) + ".";
  return text;
}

std::string entry(const OptionFacts& option) {
  std::string tag;
  for (const auto& name : option.names) tag += (tag.empty() ? "" : ", ") + bold(name);
  if (!option.is_argument && !option.value.empty()) tag += " \\fI" + troff(option.value) + "\\fR";
  if (option.repeats) tag += " ...";
  return fmt::format(".TP\n{}\n{}\n", tag, sentence(option));
}

std::string synopsis(const CommandFacts& command) {
  std::string text = bold(command.path) + " [\\fIoptions\\fR]";
  if (!command.commands.empty()) text += " \\fIcommand\\fR";
  for (const auto& option : command.options) {
    if (!option.is_argument) continue;
    const auto name = fmt::format("\\fI{}\\fR{}", troff(option.names.front()), option.repeats ? " ..." : "");
    text += option.required ? " " + name : " [" + name + "]";
  }
  return text;
}

/// What holds of every command.
constexpr const char* ending = R"(.SH EXIT STATUS
.TP
.B 0
Done; of a solve, converged by the true residual.
.TP
.B 1
Not converged: the best x found is written all the same, and said to be that.
.TP
.B 2
Bad input or usage.
.TP
.B 3
The environment failed: memory, files, MPI.
.SH ENVIRONMENT
.TP
.B OMP_NUM_THREADS
Threads per rank, where no option says it.
.TP
.B AYATORI_PROFILE
The machine's profile, a file or
.BR none .
.TP
.B AYATORI_KNOWLEDGE
The folder of what solves have taught, or
.BR none .
.TP
.B AYATORI_COLLECTIVES
Tables of schedules, separated by colons.
.TP
.B NO_COLOR
If not empty, output to terminals has no colours.
)";

/// A word of a shell, in single quotes.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// The lines "'path word') body ;;" of a case statement over command and previous word, for options with
/// values.
template <class Body>
std::string value_cases(const CommandFacts& root, const Body& body) {
  std::string text;
  for (const auto* command : with_descendants(root)) {
    for (const auto& option : command->options) {
      if (option.is_argument || option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const auto& name : option.names) patterns.push_back(quoted(command->path + " " + name));
      text += fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), body(option));
    }
  }
  return text;
}

/// The patterns of a case statement that lead from a command to a subcommand.
std::string path_patterns(const CommandFacts& root) {
  std::vector<std::string> patterns;
  for (const auto* command : with_descendants(root))
    if (command != &root) patterns.push_back(quoted(command->path));
  return fmt::format("{}", fmt::join(patterns, "|\\\n      "));
}

std::string names_of(const CommandFacts& command, bool are_options) {
  std::vector<std::string> names;
  if (are_options) {
    for (const auto& option : command.options)
      if (!option.is_argument) names.insert(names.end(), option.names.begin(), option.names.end());
  } else {
    for (const auto& below : command.commands) names.push_back(below.name());
    for (const auto& option : command.options)
      if (option.is_argument) names.insert(names.end(), option.words.begin(), option.words.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

/// An entry of zsh's _describe: colons separate name and description.
std::string described(const std::string& name, const std::string& description) {
  std::string text;
  for (const char c : name) text += c == ':' ? std::string("\\:") : std::string(1, c);
  return quoted(text + ":" + description);
}

std::string described_options(const CommandFacts& command) {
  std::string text;
  for (const auto& option : command.options) {
    if (option.is_argument) continue;
    for (const auto& name : option.names) text += " " + described(name, option.description);
  }
  return text;
}

std::string described_words(const CommandFacts& command) {
  std::string text;
  for (const auto& below : command.commands) text += " " + described(below.name(), below.description);
  for (const auto& option : command.options)
    if (option.is_argument)
      for (const auto& word : option.words) text += " " + described(word, option.description);
  return text;
}

}  // namespace

std::vector<const CommandFacts*> with_descendants(const CommandFacts& command) {
  std::vector<const CommandFacts*> all{&command};
  for (const auto& below : command.commands) {
    const auto more = with_descendants(below);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::string manual_name(const CommandFacts& command) {
  std::string name = command.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string manual_page(const CommandFacts& command) {
  const auto name = manual_name(command);
  std::string text = fmt::format(".TH {} 1 \"\" \"Ayatori {}\" \"Ayatori\"\n", troff(upper(name)), version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", troff(name), troff(command.description));
  text += fmt::format(".SH SYNOPSIS\n{}\n", synopsis(command));
  if (!command.commands.empty()) {
    text += ".SH COMMANDS\n";
    for (const auto& below : command.commands)
      text += fmt::format(".TP\n.BR {} (1)\n{}.\n", troff(manual_name(below)), troff(below.description));
  }
  for (const bool is_argument : {true, false}) {
    std::string entries;
    for (const auto& option : command.options)
      if (option.is_argument == is_argument) entries += entry(option);
    if (!entries.empty()) text += (is_argument ? ".SH ARGUMENTS\n" : ".SH OPTIONS\n") + entries;
  }
  text += ending;
  if (const auto space = command.path.rfind(' '); space != std::string::npos) {
    CommandFacts above;
    above.path = command.path.substr(0, space);
    text += fmt::format(".SH SEE ALSO\n.BR {} (1)\n", troff(manual_name(above)));
  }
  return text;
}

std::string bash_completion(const CommandFacts& root) {
  std::string commands;
  for (const auto* command : with_descendants(root))
    commands += fmt::format("    {}) options={}; words={} ;;\n", quoted(command->path),
                            quoted(names_of(*command, true)), quoted(names_of(*command, false)));
  const auto values = value_cases(root, [](const OptionFacts& option) {
    return fmt::format("words={}", quoted(fmt::format("{}", fmt::join(option.words, " "))));
  });
  return fmt::format(R"(# bash completion of ayatori {}, made by `ayatori completion bash`
_ayatori() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} path={} options words i
  COMPREPLY=()
  # bash takes --option=value apart at the sign
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$path ${{COMP_WORDS[i]}}" in
      {}) path+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  # without words there, bash offers files
  case "$path $previous" in
{}    *)
  case $path in
{}  esac
  if [[ $current == -* ]]; then words=$options; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o bashdefault -o default -F _ayatori ayatori
)",
                     version, quoted(root.path), path_patterns(root), values, commands);
}

std::string zsh_completion(const CommandFacts& root) {
  std::string commands;
  for (const auto* command : with_descendants(root))
    commands += fmt::format("    {})\n      options=({})\n      entries=({}) ;;\n", quoted(command->path),
                            described_options(*command), described_words(*command));
  const auto values = value_cases(root, [](const OptionFacts& option) {
    if (option.words.empty()) return std::string("_files");
    std::string words;
    for (const auto& word : option.words) words += " " + quoted(word);
    return "compadd --" + words;
  });
  return fmt::format(R"(#compdef ayatori
# zsh completion of ayatori {}, made by `ayatori completion zsh`
_ayatori() {{
  local path_={} word
  local -a options entries
  for word in ${{words[2,CURRENT-1]}}; do
    case "$path_ $word" in
      {}) path_+=" $word" ;;
    esac
  done
  local previous=${{words[CURRENT-1]}}
  if [[ $PREFIX == --*=* ]]; then  # --option=value
    previous=${{PREFIX%%=*}}
    compset -P '*='
  fi
  case "$path_ $previous" in
{}    *)
      case $path_ in
{}      esac
      if [[ $PREFIX == -* ]]; then
        _describe -o option options
      elif (( $#entries )); then
        _describe command entries
      else
        _files
      fi ;;
  esac
}}
if [[ $funcstack[1] == _ayatori ]]; then _ayatori "$@"; else compdef _ayatori ayatori; fi
)",
                     version, quoted(root.path), path_patterns(root), values, commands);
}

}  // namespace ayatori::cli
