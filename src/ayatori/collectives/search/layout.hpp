#pragma once

#include <optional>
#include <vector>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/collectives/words/exchange.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::collectives {

/// Which ranks do the word, and in which order they are numbered: see WordPlan.
struct Layout {
  std::vector<int> order;
  std::vector<int> groups;
  Exchange fold = Exchange::direct;
  std::vector<int> leaders;  ///< their ranks
};

/// All ranks in their own order, and by the levels of the machine; where `may_group`, also led by one rank of
/// every group of a level, and by a power of two of ranks.
std::vector<Layout> layouts_of(Operation operation, int ranks, const machine::Profile& profile,
                               bool may_group);

/// How many leaders a group of every level has, if that is the same for all: radices, the nearest first.
std::optional<std::vector<int>> radices_of_levels(const machine::Profile& profile, const Layout& layout);

}  // namespace ayatori::collectives
