#pragma once

#include <vector>

#include "ayatori/collectives/schedule.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::collectives {

/// What the slowest messages of a stage at one level ask of the machine.
struct LevelLoad {
  std::size_t level;  ///< of the profile
  bool both_ways;     ///< ranks send and receive at once
  bool many;          ///< several ranks send at once
  int messages;       ///< that a rank sends, at most
  double share;       ///< of the buffer, in the longest message
  double reduced;     ///< of the buffer, combined on arrival
};

struct StageLoad {
  std::vector<LevelLoad> levels;  ///< that the stage uses
  bool by_same_rank = false;      ///< some rank sends at several of them, so they cannot go on at once
};

/// What every stage of a schedule asks of the machine. Throws InputError if the profile has fewer ranks, or
/// no level at which two ranks meet.
std::vector<StageLoad> loads_of(const Schedule& schedule, const machine::Profile& profile);

/// Imamura's model: alpha + beta x by level and by how many send at once, stage after stage, the slowest
/// message of a stage counts. A further message of a rank costs its bytes, or what the profile's bursts take
/// from one short message to the next (alpha, where it has none). And what reducing takes, where the profile
/// knows. `bytes`: of the buffer, which is that of all blocks where the operation is by rank.
double predict_seconds(const std::vector<StageLoad>& loads, const machine::Profile& profile, double bytes);

}  // namespace ayatori::collectives
