#pragma once

#include <string>
#include <vector>

#include "ayatori/machine/profile.hpp"

namespace ayatori::machine {

/// Something that is wrong with a machine, or with how the job uses it.
struct Finding {
  std::string kind;  ///< "oversubscribed", "noise", "memory", "placement", "threads", "levels", "port",
                     ///< "overlap", "cliff", "guideline"
  std::string text;  ///< one sentence with the figure behind it
};

/// What the profile shows to be wrong, gravest first.
std::vector<Finding> diagnose(const Profile& profile);

}  // namespace ayatori::machine
