#pragma once

#include <span>
#include <vector>

#include "ayatori/mapping/objectives/objective.hpp"
#include "ayatori/mapping/optimization/weighted_graph.hpp"
#include "ayatori/network/network.hpp"

namespace ayatori::mapping {

/// Puts exactly capacities[n] vertices on node n, for the first nodes of the network: dual recursive
/// bisection (Pellegrini, SHPCC 1994). The nodes are halved where they are widest, or where a tree branches,
/// and the vertices with them, so that little weight crosses, and as near as can be to what they talk to
/// elsewhere. Another `seed` of METIS, another placement.
std::vector<int> assign_by_bisection(const WeightedGraph& graph, const network::Network& network,
                                     const PairCost& cost, std::span<const int> capacities, int seed = 1);

}  // namespace ayatori::mapping
