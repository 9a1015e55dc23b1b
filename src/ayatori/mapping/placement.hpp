#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/mapping/objectives/evaluation.hpp"
#include "ayatori/mapping/objectives/objective.hpp"

namespace ayatori::mapping {

/// Ranks in their order, this many on each node, the last node perhaps with fewer.
std::vector<int> in_order(int ranks, int ranks_per_node);

/// Ranks dealt round the nodes, for comparison; as many on each node as `order` puts there.
std::vector<int> dealt_round(std::span<const int> order);

/// A way to place the ranks, and what it came to.
struct Attempt {
  std::string how;
  double value;                                 ///< value of the objective
  std::optional<double> closer = std::nullopt;  ///< what a closer look says, where there was one
};

struct Placement {
  std::vector<int> node_of;
  std::vector<Attempt> attempts;  ///< the order of ranks first
  std::string how;                ///< which of them this is
  bool is_order;                  ///< nothing was better than the order of ranks
};

/// Places ranks on the first nodes of a network, on each exactly as many as `order` has there: the node of
/// every rank as it is, or would be, and every node of them has a rank. Of several starts (that order; groups
/// of minimum cut, put onto the network by bisection; ranks put there by bisection) each is refined by
/// exchanges, the best ones by the true value of the objective; where that has a closer look, it chooses
/// among these. Never worse than the order, by either. The same for the same input. Throws InputError if the
/// network is too small.
Placement place(const CommGraph& graph, const network::Network& network, const network::CostModel& model,
                std::span<const int> order, const Objective& objective);

}  // namespace ayatori::mapping
