#pragma once

#include <string>
#include <vector>

#include "ayatori/machine/profile.hpp"

namespace ayatori::machine {

/// The network ports of this node that are up, with what they have carried since the node was started:
/// Ethernet and the like, and InfiniBand. Not the loopback, nor bridges and tunnels, which lead through
/// others. `root`: where proc/ and sys/ are. Empty where the operating system tells nothing.
std::vector<PortFigure> find_network_ports(const std::string& root = "/");

/// What the ports carried from `before` to `after`.
std::vector<PortFigure> traffic_between(const std::vector<PortFigure>& before,
                                        const std::vector<PortFigure>& after);

}  // namespace ayatori::machine
