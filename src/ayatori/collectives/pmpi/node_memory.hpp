#pragma once

#include <memory>

#include "ayatori/collectives/pmpi/library.hpp"
#include "ayatori/comm/node_channel.hpp"

namespace ayatori::pmpi {

/// Collective. A channel for the ranks of `comm` on this node; null where there is nobody else, or no memory
/// to share. `comm` returns errors. Throws MpiError.
std::unique_ptr<comm::NodeChannel> make_node_channel(MPI_Comm comm);

/// Collective over all processes, before MPI ends: frees the memory of all channels, which may not be used
/// any more.
void free_node_memory();

}  // namespace ayatori::pmpi
