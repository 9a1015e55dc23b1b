#pragma once

#include <string>
#include <string_view>

namespace ayatori {

/// What stands for standard input and output where a file can be named.
inline constexpr std::string_view standard_stream = "-";

/// Whether a place for results is standard output: "-" or "/dev/stdout".
bool is_standard_output(std::string_view path);

/// Writes to an open file. Throws EnvironmentError that calls it `what`.
void write_all(int descriptor, std::string_view bytes, const std::string& what);

/// After what has been printed before. Throws EnvironmentError.
void write_standard_output(std::string_view bytes);

}  // namespace ayatori
