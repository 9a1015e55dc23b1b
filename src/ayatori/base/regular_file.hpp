#pragma once

#include <cstdint>
#include <string>

namespace ayatori {

/// Opens a regular file for reading, or the one that a symbolic link names, and gives its descriptor. Neither
/// a pipe that nobody writes to nor a device that has no end can hold the caller up. Throws InputError that
/// says what is wrong, without the name of the file: the caller knows best what to call it.
int open_regular_file(const std::string& path);

/// The content of a regular file of at most `most_bytes`. Throws as open_regular_file(), and for more bytes.
std::string read_regular_file(const std::string& path, std::int64_t most_bytes);

/// Throws InputError with the name of the file unless it is one that read_regular_file() would open: for
/// readers that have streams of their own.
void check_regular_file(const std::string& path);

}  // namespace ayatori
