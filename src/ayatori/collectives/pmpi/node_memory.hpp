#pragma once

#include <memory>

#include "ayatori/collectives/pmpi/route.hpp"
#include "ayatori/comm/node_channel.hpp"

namespace ayatori::pmpi {

/// Collective over the ranks of a route. A channel for those of them that are on this node; null where there
/// is nobody else, or no memory to share, which is said on stderr, once. Throws MpiError.
std::unique_ptr<comm::NodeChannel> make_node_channel(const Route& route);

}  // namespace ayatori::pmpi
