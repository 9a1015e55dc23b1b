#pragma once

#include <memory>

#include "ayatori/io/byte_source.hpp"

namespace ayatori::io {

/// Standard input, to its end, as a source that can be read at any place: a file on it is read where it lies,
/// and what comes through a pipe is kept in a temporary file without a name. Throws EnvironmentError.
std::unique_ptr<ByteSource> standard_input();

}  // namespace ayatori::io
