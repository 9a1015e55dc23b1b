#pragma once

#include <span>
#include <string_view>

#include "ayatori/machine/profile.hpp"

namespace ayatori::machine {

/// A machine that a paper has measured, so that it can be predicted and simulated by name. It holds what the
/// paper's tables say and nothing else.
struct PublishedProfile {
  std::string_view name;
  Profile (*make)();
};

/// The list of what there is.
std::span<const PublishedProfile> published_profiles();

}  // namespace ayatori::machine
