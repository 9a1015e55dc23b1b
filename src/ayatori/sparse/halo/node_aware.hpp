#pragma once

#include <memory>

#include "ayatori/sparse/halo.hpp"

namespace ayatori::sparse {

/// Collective. The exchange of strategy node-aware, where ranks that give the same `node` share a node: for
/// strategies that know better than the MPI what a node is, and for tests of several nodes on one machine.
std::unique_ptr<HaloExchange> make_node_aware(const comm::Comm& comm, const RowPartition& partition,
                                              const HaloPlan& plan, int node);

}  // namespace ayatori::sparse
