#pragma once

#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::machine {

/// The name of this node.
std::string hostname();

/// The hardware of this node, from hwloc. Throws EnvironmentError.
Node find_node();

/// Whether every thread of this rank is bound to fewer processing units than the node has, or there is only
/// one.
bool threads_are_bound();

/// Collective. The number of every rank's node; nodes are numbered by their lowest rank.
std::vector<int> find_nodes_of_ranks(const comm::Comm& comm);

}  // namespace ayatori::machine
