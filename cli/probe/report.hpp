#pragma once

#include <string>

#include "ayatori/machine/profile.hpp"

namespace ayatori::cli {

/// The profile for people: hardware, memory, barriers, levels with their models, collectives, and what is
/// wrong.
std::string summary(const machine::Profile& profile);

/// The figures that two profiles have in common, side by side, with their ratio.
std::string comparison(const machine::Profile& a, const std::string& name_of_a, const machine::Profile& b,
                       const std::string& name_of_b);

}  // namespace ayatori::cli
