#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ayatori/forecast/joint_placement.hpp"
#include "ayatori/mapping/graph/traffic.hpp"
#include "ayatori/mapping/objectives/evaluation.hpp"
#include "ayatori/mapping/placement.hpp"
#include "ayatori/session/map/map_request.hpp"

namespace ayatori::session {

/// What is to be placed, and where.
struct MapQuestion {
  MapRequest request;
  mapping::CommGraph graph;
  std::unique_ptr<network::Network> network;
  network::CostModel model;
  std::vector<std::string> hosts;  ///< by node; empty where they are not known
  std::int64_t collective_bytes;
  std::vector<int> order;                  ///< node of every rank without a placement
  int ranks_per_node;                      ///< at most
  int nodes;                               ///< that are used
  std::vector<std::vector<int>> compared;  ///< node of every rank by placements from elsewhere
  std::vector<forecast::CollectiveCalls> collectives;
};

/// The traffic of a matrix that is spread over this many ranks by a partition of this name; see
/// matrix_traffic().
using MatrixTraffic = std::function<mapping::Traffic(const std::string& partition, int ranks)>;

/// Reads all that the request names. `matrix`: whose halo exchange ranks make; empty where the request names
/// a trace or a graph. Not collective. Throws InputError.
MapQuestion read_question(const MapRequest& request, const MatrixTraffic& matrix = {});

/// Where ranks are to go, and what that is worth. Refers to the question.
struct MapRun {
  mapping::Placement placement;
  mapping::Evaluation order;
  mapping::Evaluation round;
  mapping::Evaluation placed;
  std::vector<mapping::Metrics> compared;
  std::vector<forecast::JointPlacement> joint;  ///< the best first; empty where no collectives are called
  double seconds;                               ///< that placing took
};

/// Not collective. Throws InputError.
MapRun place_ranks(const MapQuestion& question);

/// The content of the launcher's file. Throws InputError where the launcher cannot be told so.
std::string launch_file(const MapQuestion& question, const MapRun& run);

/// How the launcher is called with its file.
std::string launch_command(const MapQuestion& question, const std::string& file);

/// What was found, for people.
std::string summary(const MapQuestion& question, const MapRun& run);

/// Schema "ayatori.placement/1".
nlohmann::ordered_json to_json(const MapQuestion& question, const MapRun& run);

/// The schedules of the best placement, as tables are read. There must be collectives.
nlohmann::ordered_json schedules_json(const MapQuestion& question, const MapRun& run);

/// Who sends how many bytes to whom in the collectives of every placement, round by round, as a simulation
/// plays it: in a pipeline every segment is one round behind the segment before it.
nlohmann::ordered_json messages_json(const MapQuestion& question, const MapRun& run);

/// Who talks to whom, and the load of links, before and after, as SVG.
std::string picture(const MapQuestion& question, const MapRun& run);

}  // namespace ayatori::session
