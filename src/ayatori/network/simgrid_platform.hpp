#pragma once

#include <string>

#include "ayatori/network/cost_model.hpp"
#include "ayatori/network/network.hpp"

namespace ayatori::network {

/// The first nodes of a network as a platform that SimGrid reads: hosts "node-0", ... of `cores` cores of 1e9
/// operations per second, with exactly the routes, widths of links and ports that an Evaluation goes by.
/// Wires only: every link takes the hop latency; what ranks do for their messages, copies inside nodes
/// included, is work of theirs, and not of the platform. Throws InputError for more nodes than SimGrid's
/// tables of routes are good for.
std::string simgrid_platform(const Network& network, const CostModel& model, int nodes, int cores);

}  // namespace ayatori::network
