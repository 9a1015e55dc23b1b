#include "ayatori/session/terminal/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

namespace ayatori::session {

namespace {

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

/// Breaks at blanks; a word that is longer than the width stays whole.
std::string wrap(const std::string& text, std::size_t width, const std::string& between) {
  std::istringstream words(text);
  std::string wrapped;
  std::size_t used = 0;
  for (std::string word; words >> word; used += word.size()) {
    if (used > 0 && used + 1 + word.size() > width) {
      wrapped += between;
      used = 0;
    } else if (used > 0) {
      wrapped += ' ';
      ++used;
    }
    wrapped += word;
  }
  return wrapped;
}

}  // namespace

Terminal find_terminal() {
  Terminal terminal;
  terminal.is_there = isatty(STDERR_FILENO) != 0;
  if (!terminal.is_there) return terminal;
  const char* const kind = std::getenv("TERM");
  const bool is_dumb = kind == nullptr || std::strcmp(kind, "dumb") == 0;
  terminal.has_colours = !is_set("NO_COLOR") && !is_dumb;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.columns = size.ws_col;
  return terminal;
}

std::string paint(const Terminal& terminal, Style style, const std::string& text) {
  if (!terminal.has_colours) return text;
  switch (style) {
    case Style::bold:
      return "\x1b[1m" + text + "\x1b[0m";
    case Style::faint:
      return "\x1b[2m" + text + "\x1b[0m";
    case Style::good:
      return "\x1b[32m" + text + "\x1b[0m";
    case Style::bad:
      return "\x1b[31m" + text + "\x1b[0m";
  }
  return text;
}

std::string lay_out(const Terminal& terminal, const std::string& table, Style style) {
  constexpr std::size_t label_width = 11;
  const auto columns = static_cast<std::size_t>(terminal.columns);
  if (!terminal.is_there || columns < 3 * label_width) return table;
  std::istringstream lines(table);
  std::string shown;
  for (std::string line; std::getline(lines, line); shown += '\n') {
    if (line.size() <= label_width) {
      shown += line;
      continue;
    }
    const std::string label = line.substr(0, label_width);
    const auto text =
        wrap(line.substr(label_width), columns - label_width, std::string("\n").append(label_width, ' '));
    shown += paint(terminal, Style::bold, label);
    shown += label.starts_with("result ") ? paint(terminal, style, text) : text;
  }
  return shown;
}

}  // namespace ayatori::session
