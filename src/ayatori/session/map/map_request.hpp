#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/forecast/joint_placement.hpp"
#include "ayatori/session/option.hpp"

namespace ayatori::session {

/// What may be asked about placing ranks on nodes, beside a matrix. Words are those of the table below.
struct MapRequest {
  std::string trace;
  std::string graph;
  std::optional<int> ranks;
  std::optional<int> ranks_per_node;
  std::string partition = "rows";
  std::string network = "flat";
  std::string profile;
  std::string objective = "time";
  std::vector<std::string> collectives;
  int finalists = 4;
  std::string launcher;
  std::string hosts;
  std::vector<std::string> compare;
};

/// The table of options: what a line here declares, every face offers.
std::span<const Option<MapRequest>> map_options();

/// Throws InputError for numbers and names that mean nothing. Options are called by their names on the
/// command line.
void check(const MapRequest& request);

/// "allreduce:8", "bcast:64K:0.5": an operation, bytes of the buffer, calls for each exchange. Throws
/// InputError.
std::vector<forecast::CollectiveCalls> parse_collective_calls(std::span<const std::string> specs);

}  // namespace ayatori::session
