#pragma once

#include <string>
#include <vector>

#include "ayatori/machine/profile.hpp"

namespace ayatori::machine {

/// Something that is wrong with a machine, or with how the job uses it.
struct Finding {
  std::string kind;  ///< "oversubscribed", "memory", "threads", "cliff", "levels", "guideline", "noise"
  std::string text;  ///< one sentence with the figure behind it
};

/// What the profile shows to be wrong, gravest first.
std::vector<Finding> diagnose(const Profile& profile);

}  // namespace ayatori::machine
