#pragma once

#include <string>

namespace ayatori::gpu {

/// Throws EnvironmentError. Device code does not see the headers of errors, which its compiler is slow to
/// read.
[[noreturn]] void throw_failure(const std::string& text);

}  // namespace ayatori::gpu
