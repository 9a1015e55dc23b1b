#pragma once

#include <string>
#include <vector>

#include "ayatori/mapping/graph/comm_graph.hpp"

namespace ayatori::mapping {

/// What is known of a program's communication.
struct Traffic {
  int ranks = 0;
  std::vector<PairVolume> messages;
  std::vector<std::string> hosts;     ///< by rank, where they are known
  std::int64_t collective_bytes = 0;  ///< that members handed to collective calls: in no message
};

/// A trace of libayatori_pmpi.so (docs/trace.schema.json). Collective calls are counted, but not made into
/// messages. Throws InputError that names the file.
Traffic read_trace(const std::string& path);

/// A graph in the format of METIS (its manual, section 4.1.1): each vertex a rank, each edge one message each
/// way, of as many bytes as the weight of the edge, or one byte. Weights and sizes of vertices are skipped: a
/// rank is a rank. Throws InputError that names file and line.
Traffic read_metis_graph(const std::string& path);

}  // namespace ayatori::mapping
