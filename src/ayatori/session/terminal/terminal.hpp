#pragma once

#include <string>

namespace ayatori::session {

/// What stderr is shown on.
struct Terminal {
  bool is_there = false;  ///< a terminal, and no file or pipe
  bool has_colours =
      false;  ///< it is there, and neither NO_COLOR (https://no-color.org) nor TERM=dumb forbids
  int columns = 80;
};
Terminal find_terminal();

enum class Style { bold, faint, good, bad };
/// The text between the terminal's marks of a style; as it is, where there are no colours.
std::string paint(const Terminal& terminal, Style style, const std::string& text);

/// Lines "label      what is said of it" as a table for a terminal: labels in bold, the text of the label
/// `result` as `style` says, and what is longer than a line goes on below the text. As it is, elsewhere.
std::string lay_out(const Terminal& terminal, const std::string& table, Style style);

}  // namespace ayatori::session
