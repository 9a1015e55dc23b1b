#pragma once

#include <span>
#include <utility>
#include <vector>

#include "ayatori/machine/model/levels.hpp"

namespace ayatori::machine {

using Pairs = std::vector<std::pair<int, int>>;

/// A rank's part in something that disjoint pairs do.
struct Role {
  int partner = -1;  ///< -1: none
  bool is_first = false;

  bool takes_part() const { return partner >= 0; }
};

Role role_of(int rank, std::span<const std::pair<int, int>> pairs);

/// Disjoint pairs that meet at a level and not below: of neighbouring groups of the level below, rank by
/// rank.
struct LevelPairs {
  Pairs pairs;
  int sharing =
      1;  ///< this many of the first ones are between the same two groups: they share what connects them
};

LevelPairs pairs_at(std::span<const InferredLevel> levels, std::size_t level);

}  // namespace ayatori::machine
