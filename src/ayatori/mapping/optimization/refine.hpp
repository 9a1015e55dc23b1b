#pragma once

#include <span>
#include <vector>

#include "ayatori/mapping/objectives/evaluation.hpp"
#include "ayatori/mapping/objectives/objective.hpp"
#include "ayatori/mapping/optimization/weighted_graph.hpp"

namespace ayatori::mapping {

/// Exchanges pairs of vertices between nodes while that makes the sum of weight times distance smaller: each
/// vertex with those on the nodes of its neighbours, and of their neighbours. Only vertices of the same size
/// change places (`sizes` empty: all are alike). Ends early where there are too many edges: it would take
/// minutes. Gives the number of exchanges.
std::int64_t refine_sum(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
                        std::span<const int> sizes, std::vector<int>& node_of);

/// Goes on from where refine_sum() has ended: this many times a few vertices are brought to the node of a
/// neighbour, and what was touched is refined anew; what does not make the sum smaller is undone (iterated
/// local search). `sizes` as above.
void shake_sum(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
               std::span<const int> sizes, std::int64_t kicks, std::vector<int>& node_of);

/// Exchanges ranks while that makes the objective's true value smaller: those whose messages fill the busiest
/// link, and the busiest rank with its peers. Gives the number of exchanges. Takes a bounded number of
/// trials.
std::int64_t refine_peak(Evaluation& evaluation, const Objective& objective);

}  // namespace ayatori::mapping
