#pragma once

#include <memory>

#include "ayatori/sparse/halo/node_route.hpp"

namespace ayatori::sparse {

/// Collective. The exchange of strategy node-aware (by agents) or node-aware-2step (by owners), where ranks
/// that give the same `node` (not negative) share a node: for those who know better than the MPI what a node
/// is, and for tests of several nodes on one machine.
std::unique_ptr<HaloExchange> make_node_aware(const comm::Comm& comm, const RowPartition& partition,
                                              const HaloPlan& plan, int node, Crossing crossing);

}  // namespace ayatori::sparse
