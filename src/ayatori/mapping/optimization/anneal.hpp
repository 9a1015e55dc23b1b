#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/mapping/objectives/evaluation.hpp"
#include "ayatori/mapping/objectives/objective.hpp"
#include "ayatori/mapping/optimization/weighted_graph.hpp"
#include "ayatori/network/network.hpp"

namespace ayatori::mapping {

/// Goes on from where refine_sum() has ended, by simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science
/// 1983): this many times a vertex is to change places with one on a node of its neighbours, or next to one,
/// which happens even at a loss, the less likely the larger and the later. Gives the best that was met; the
/// same for the same input.
void anneal_sum(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
                std::int64_t proposals, std::vector<int>& node_of);

/// Likewise from the placement of an Evaluation, for a value that is no sum over pairs; takes about a second.
std::vector<int> anneal_value(const Evaluation& evaluation, double (*value)(const Evaluation& evaluation));

}  // namespace ayatori::mapping
