#include <array>

#include "ayatori/base/find_named.hpp"
#include "ayatori/network/networks/networks.hpp"

namespace ayatori::network {

std::span<const NetworkType> network_types() {
  static const std::array list{flat, tree, fat_tree, mesh, torus, dragonfly, measured};
  return list;
}

std::unique_ptr<Network> make_network(const std::string& spec, int nodes) {
  const auto colon = spec.find(':');
  const NetworkType& type = find_named(network_types(), spec.substr(0, colon), "network");
  auto network = type.make(colon == std::string::npos ? "" : spec.substr(colon + 1), nodes);
  if (network->nodes() < nodes)
    throw InputError(fmt::format("--network {}: {} nodes, but {} are needed", spec, network->nodes(), nodes));
  return network;
}

}  // namespace ayatori::network
