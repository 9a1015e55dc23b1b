#pragma once

#include <memory>

#include "ayatori/collectives/pmpi/messages/tag_space.hpp"
#include "ayatori/comm/shared_memory/node_channel.hpp"

namespace ayatori::pmpi {

/// Collective over the ranks of a tag space. A channel for those of them that are on this node; null where
/// there is nobody else, or no memory to share, which is said on stderr, once. Throws MpiError.
std::unique_ptr<comm::NodeChannel> make_node_channel(const TagSpace& space);

}  // namespace ayatori::pmpi
