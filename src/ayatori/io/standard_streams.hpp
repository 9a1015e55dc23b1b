#pragma once

#include <memory>
#include <string_view>

#include "ayatori/io/byte_source.hpp"

namespace ayatori::io {

/// What stands for standard input and output where a file can be named.
inline constexpr std::string_view standard_stream = "-";

/// Standard input, to its end, as a source that can be read at any place: a file on it is read where it lies,
/// and what comes through a pipe is kept in a temporary file without a name. Throws EnvironmentError.
std::unique_ptr<ByteSource> standard_input();

/// Throws EnvironmentError.
void write_standard_output(std::string_view bytes);

}  // namespace ayatori::io
