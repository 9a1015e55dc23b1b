#pragma once

#include <string>
#include <string_view>

namespace ayatori::io {

/// What files are that people hand over and that are not read: one line that names the kind and what helps,
/// or only how the content begins. Never shows bytes that no terminal should see. `known_formats` are those
/// that are read.
std::string describe_unreadable(std::string_view first_bytes, std::string_view known_formats);

}  // namespace ayatori::io
