#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/mapping/graph/comm_graph.hpp"
#include "ayatori/mapping/objectives/objective.hpp"

namespace ayatori::mapping {

/// An undirected graph with weights on its edges; each edge is there from both ends.
struct WeightedGraph {
  std::vector<std::int64_t> start;  ///< vertices + 1
  std::vector<int> neighbour;
  std::vector<double> weight;

  int vertices() const { return static_cast<int>(start.size()) - 1; }
};

/// Ranks as vertices, what each pair costs as weights.
WeightedGraph weigh(const CommGraph& graph, const PairCost& cost);

/// One vertex for every group, the edges between two groups as one.
WeightedGraph contract(const WeightedGraph& graph, std::span<const int> group_of, int groups);

/// The part of a graph that some vertices and the edges between them form, numbered in their order.
/// `number_in` has room for all vertices of the graph, holds -1 for each, and does so again afterwards.
WeightedGraph induce(const WeightedGraph& graph, std::span<const int> vertices, std::vector<int>& number_in);

}  // namespace ayatori::mapping
