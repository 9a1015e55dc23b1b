#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/network/network.hpp"

namespace ayatori::mapping {

/// What a launcher's file is made from.
struct LaunchPlan {
  const std::vector<int>& node_of;        ///< by rank
  const std::vector<std::string>& hosts;  ///< by node; may be empty
  const network::Network& network;
};

/// An entry in the list of launchers and their files.
struct Launcher {
  std::string_view name;
  std::string_view usage;  ///< how the file is used; FILE stands for it, N for the number of ranks, K
                           ///< for those of a node
  bool needs_hosts;        ///< whether it cannot do without the names of hosts
  /// The file's content. Throws InputError where the launcher has no words for this network, or
  /// for nodes that take unlike numbers of ranks.
  std::string (*write)(const LaunchPlan& plan);
};

std::span<const Launcher> launchers();

}  // namespace ayatori::mapping
