#pragma once

#include <optional>
#include <string>

#include "ayatori/network/message_cost.hpp"
#include "ayatori/network/network.hpp"

namespace ayatori::network {

/// What messages cost, in seconds and bytes per second: the alpha-beta model of two levels, with links that
/// messages share. The defaults are a guess at an InfiniBand cluster of our days, good for comparing
/// placements; a machine profile knows better.
struct CostModel {
  MessageCost inside{0.5e-6, 8e9};  ///< cost of one rank's messages inside a node
  double between_latency = 1.5e-6;  ///< latency between nodes, for the rank that sends or receives a message
  double hop_latency = 0.1e-6;      ///< latency of every link that a message passes
  double link_bandwidth = 12.5e9;   ///< bandwidth of a link of width 1, in each direction
  double port_bandwidth = 12.5e9;   ///< bandwidth of a node, in each direction
  std::string source = "assumed";
  std::optional<double> error = std::nullopt;  ///< typical, of measured times, as a share; of guesses unknown

  /// Latency of a message between nodes, before its bytes.
  double latency(int hops) const { return between_latency + hop_latency * hops; }
};

/// By the nearest and the farthest level of a profile; hop latency as above. Throws InputError if the profile
/// was not measured on several nodes.
CostModel cost_model(const machine::Profile& profile, const std::string& name);

/// Seconds per byte of every link, then of the port out of every node, then of that into it.
std::vector<double> seconds_per_byte(const Network& network, const CostModel& model);

/// Appends the numbers of the links, as above, that a message between two nodes passes, ports included.
void route_with_ports(const Network& network, int from, int to, std::vector<int>& links);

}  // namespace ayatori::network
