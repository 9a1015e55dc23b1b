#pragma once

#include <memory>
#include <span>

#include "ayatori/sparse/halo.hpp"

namespace ayatori::sparse {

class NodeAwareExchange : public HaloExchange {
 public:
  /// The messages that this rank sends to other nodes, in elements.
  virtual std::span<const comm::Neighbour> sent_abroad() const = 0;
};

/// Collective. The exchange of strategy node-aware, where ranks that give the same `node` (not negative)
/// share a node: for those who know better than the MPI what a node is, and for tests of several nodes on one
/// machine.
std::unique_ptr<NodeAwareExchange> make_node_aware(const comm::Comm& comm, const RowPartition& partition,
                                                   const HaloPlan& plan, int node);

}  // namespace ayatori::sparse
