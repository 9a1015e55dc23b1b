#pragma once

#include <string>
#include <string_view>

namespace ayatori::session {

/// Throws InputError unless the file that an option names is there, or it is standard input. Called on rank
/// 0, before anything takes long.
void check_input(std::string_view option, const std::string& source);

}  // namespace ayatori::session
