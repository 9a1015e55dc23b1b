#pragma once

#include <span>

#include "ayatori/machine/profile.hpp"
#include "ayatori/network/cost_model.hpp"
#include "ayatori/network/network.hpp"

namespace ayatori::forecast {

/// The machine that ranks see once they are placed on the nodes of a network, as the search for collectives
/// reads machines: ranks of a node are a group, and where the network is nested, so are nodes that share the
/// outer digits of their addresses; elsewhere pairs of nodes are as far apart as they have links between
/// them. The port of a group carries what the routes let through when all in it talk to all outside.
/// `node_of`: of every rank.
machine::Profile placed_machine(const network::Network& network, const network::CostModel& model,
                                std::span<const int> node_of);

}  // namespace ayatori::forecast
