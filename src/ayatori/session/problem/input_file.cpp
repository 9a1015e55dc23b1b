#include "ayatori/session/problem/input_file.hpp"

#include <filesystem>

#include "ayatori/base/error.hpp"
#include "ayatori/io/matrix_source.hpp"

namespace ayatori::session {

void check_input(std::string_view option, const std::string& source) {
  std::error_code error;
  if (io::is_standard_input(source) || std::filesystem::exists(io::file_of(source), error)) return;
  throw InputError(fmt::format("{} {}: no such file", option, source));
}

}  // namespace ayatori::session
