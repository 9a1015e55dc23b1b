#pragma once

#include <string>
#include <vector>

#include "ayatori/collectives/schedule.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::collectives {

/// What the slowest messages of a stage ask of the machine.
struct StageLoad {
  std::size_t level;  ///< of the profile
  bool both_ways;     ///< ranks send and receive at once
  bool many;          ///< several pairs at once
  double share;       ///< of the buffer, in one message
  double reduced;     ///< of the buffer, combined on arrival
};

/// A schedule as a list of loads; of a stage that uses several levels, one load for each. Throws InputError
/// if the profile has fewer ranks, or no level at which two ranks meet.
std::vector<std::vector<StageLoad>> loads_of(const Schedule& schedule, const machine::Profile& profile);

/// Imamura's model: alpha + beta x by level and by how many send at once, stage after stage, the slowest
/// message of a stage counts; and what reducing takes, where the profile knows. `bytes`: of the buffer, which
/// is that of all blocks where the operation is by rank.
double predict_seconds(const std::vector<std::vector<StageLoad>>& loads, const machine::Profile& profile,
                       double bytes);

}  // namespace ayatori::collectives
