#pragma once

#include <optional>
#include <string>

#include "ayatori/machine/profile.hpp"

namespace ayatori::mapping {

/// What messages cost, in seconds and bytes per second: the alpha-beta model of two levels, with links that
/// messages share. The defaults are a guess at an InfiniBand cluster of our days, good for comparing
/// placements; a machine profile knows better.
struct CostModel {
  double inside_latency = 0.5e-6;   ///< of a message inside a node
  double inside_bandwidth = 8e9;    ///< of one rank's messages inside a node
  double between_latency = 1.5e-6;  ///< of a message between nodes, for the rank that sends or receives it
  double hop_latency = 0.1e-6;      ///< of every link that a message passes
  double link_bandwidth = 12.5e9;   ///< of a link of width 1, in each direction
  double port_bandwidth = 12.5e9;   ///< of a node, in each direction
  std::string source = "assumed";
  std::optional<double> error = std::nullopt;  ///< typical, of measured times, as a share; of guesses unknown
};

/// By the nearest and the farthest level of a profile; hop latency as above. Throws InputError if the profile
/// was not measured on several nodes.
CostModel cost_model(const machine::Profile& profile, const std::string& name);

}  // namespace ayatori::mapping
