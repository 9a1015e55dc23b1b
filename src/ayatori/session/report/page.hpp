#pragma once

#include <string>
#include <vector>

namespace ayatori::session {

/// A result as a command has written it: JSON text with a schema of ours, or a drawing (SVG).
struct NamedText {
  std::string name;  ///< name of the file, or what else to call it
  std::string text;
};

/// One HTML page, whole in itself, that shows the results in their order; schedules of up to 64 ranks are
/// drawn. Throws InputError that names the result which is none.
std::string report_page(const std::vector<NamedText>& results);

}  // namespace ayatori::session
