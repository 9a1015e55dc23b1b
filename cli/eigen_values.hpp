#pragma once

#include <span>
#include <string>

namespace ayatori::cli {

/// Lines of a summary with eigenvalues for people: all of a few, else the first ten and the last ten.
std::string value_lines(std::span<const double> values);

}  // namespace ayatori::cli
