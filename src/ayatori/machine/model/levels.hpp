#pragma once

#include <span>
#include <vector>

namespace ayatori::machine {

/// What a short message between two ranks took, one way.
struct PairTime {
  int first;
  int second;
  double seconds;
};

/// A level of the machine as it shows in the times: ranks of one group reach each other at this level or
/// below.
struct InferredLevel {
  std::vector<int> group_of;  ///< by rank; groups are numbered by their lowest rank
  int groups = 0;
  double least_seconds = 0;  ///< seconds of pairs that meet at this level: in one group here, in two below
  double typical_seconds = 0;
  double most_seconds = 0;
};

/// Infers levels that no library reports (switches, racks, bricks) from pairwise times, nearest first; the
/// last holds all ranks in one group. Two levels are told apart by a gap between times: no time within a
/// factor of 1.25, and groups in which nearly all measured pairs are on the near side. `pairs` may be a
/// sample of all; ranks that no near pair joins are groups of one.
std::vector<InferredLevel> infer_levels(int ranks, std::span<const PairTime> pairs);

/// Levels that show in the times of short messages or of long ones: a wire that is hardly longer may be much
/// narrower. Levels of the long ones that do not nest with those of the short ones are left out. The times of
/// a level are those of short messages.
std::vector<InferredLevel> infer_levels(int ranks, std::span<const PairTime> of_short,
                                        std::span<const PairTime> of_long);

}  // namespace ayatori::machine
