#pragma once

#include <string>

#include "ayatori/forecast/pattern.hpp"

namespace ayatori::cli {

/// Where the nonzeros of a square matrix are: a file, a generator's spec, or `npb-cg:CLASS`, that of the NAS
/// benchmark. Not collective. Throws InputError, or EnvironmentError where there are more than 2^31 - 1 rows.
forecast::Pattern read_pattern(const std::string& source);

}  // namespace ayatori::cli
