#pragma once

#include <cstdint>
#include <vector>

#include "ayatori/sparse/halo.hpp"

namespace ayatori::sparse {

/// What a rank sends and receives while a stage of its route is under way. Places are those of `NodeRoute`.
struct RouteStage {
  Array<std::int64_t> index;          ///< places of what leaves, grouped by receiver
  std::vector<comm::Neighbour> to;    ///< pieces of `index`
  std::vector<comm::Neighbour> from;  ///< pieces of the places
};

/// The stages of a halo exchange that knows nodes, as data. A rank has places for all elements that it
/// meets: for its own elements of x first, then for its ghosts, then for what it passes on or is given in
/// the order in which it arrives. An element arrives on a rank at most once.
struct NodeRoute {
  /// A ghost that arrives among what is passed on.
  struct Copy {
    std::int64_t from;
    std::int64_t to;
  };
  std::vector<RouteStage> stages;
  int crossing = 0;                    ///< the stage between the nodes, with all that stays in one
  std::vector<std::int64_t> elements;  ///< by place after the ghosts: the element of x, by its global number
  std::vector<Copy> copies;            ///< after all stages
};

/// Who sends to another node.
enum class Crossing {
  by_agents,  ///< three steps: what a node has for another is gathered on one rank, crosses, and is dealt out
  by_owners   ///< two steps: every rank sends what it has for a node to one rank there, which deals it out
};

/// Collective. The route of this rank, where ranks that give the same `node` (not negative) share a node.
/// Between each pair of nodes (by agents), or each rank and node (by owners), there is one message, in which
/// every element travels once. Agents share out the nodes that their own has to do with; those who take what
/// crosses are agents, too, or (by owners) ranks that want much of it.
NodeRoute make_node_route(const comm::Comm& comm, const RowPartition& partition, const HaloPlan& plan,
                          int node, Crossing crossing);

}  // namespace ayatori::sparse
