#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "ayatori/forecast/joint_placement.hpp"

namespace ayatori::cli {

/// "allreduce:8", "bcast:64K:0.5": an operation, bytes of the buffer, calls for each exchange. Throws
/// InputError.
std::vector<forecast::CollectiveCalls> parse_collective_calls(std::span<const std::string> specs);

/// Prints what every placement makes of exchange and collectives, the best first.
void explain(std::span<const forecast::CollectiveCalls> calls,
             std::span<const forecast::JointPlacement> joint);

nlohmann::ordered_json json_of(std::span<const forecast::CollectiveCalls> calls,
                               std::span<const forecast::JointPlacement> joint);

/// The schedules of a placement, as tables are read. `network`: where the ranks were placed.
nlohmann::ordered_json schedules_json(std::span<const forecast::CollectiveCalls> calls,
                                      const forecast::JointPlacement& joint, const std::string& network);

/// Who sends how many bytes to whom in the collectives of every placement, round by round, as a simulation
/// plays it: in a pipeline every segment is one round behind the segment before it.
nlohmann::ordered_json messages_json(std::span<const forecast::CollectiveCalls> calls,
                                     std::span<const forecast::JointPlacement> joint);

}  // namespace ayatori::cli
