#include "ayatori/network/cost_model.hpp"

#include <algorithm>

#include "ayatori/base/error.hpp"

namespace ayatori::network {

CostModel cost_model(const machine::Profile& profile, const std::string& name) {
  const auto curve_of = [&](const machine::Level& level) {
    const machine::TransferCurve* curve = level.curve("one-way", 1);
    if (curve == nullptr || curve->model.pieces.empty() || curve->model.bandwidth() <= 0)
      throw InputError(fmt::format("{}: no transfer times {}", name, level.name));
    return curve;
  };
  if (profile.nodes() < 2 || profile.levels.size() < 2)
    throw InputError(
        fmt::format("{}: a profile of one node, or of one level, tells nothing about a network: "
                    "measure on several nodes (ayatori probe)",
                    name));
  const auto is_between = [](const machine::Level& level) { return level.name == "between nodes"; };
  const auto nearest_between = std::ranges::find_if(profile.levels, is_between);
  if (is_between(profile.levels.front()) || nearest_between == profile.levels.end())
    throw InputError(fmt::format(
        "{}: it does not tell what messages inside a node take: measure with several ranks on each", name));
  const auto* inside = curve_of(profile.levels.front());
  const auto* between = curve_of(profile.levels.back());
  CostModel model;
  model.inside = {inside->model.latency(), inside->model.bandwidth()};
  model.between_latency = between->model.latency();
  model.link_bandwidth = between->model.bandwidth();
  model.port_bandwidth = machine::link_sharing(*nearest_between).capacity;
  model.source = name;
  model.error = std::max(inside->model.error, between->model.error);
  return model;
}

std::vector<double> seconds_per_byte(const Network& network, const CostModel& model) {
  std::vector<double> seconds;
  for (const Link& link : network.links()) seconds.push_back(1 / (link.width * model.link_bandwidth));
  seconds.resize(seconds.size() + 2 * static_cast<std::size_t>(network.nodes()), 1 / model.port_bandwidth);
  return seconds;
}

void route_with_ports(const Network& network, int from, int to, std::vector<int>& links) {
  const int ports = static_cast<int>(network.links().size());
  network.route(from, to, links);
  links.push_back(ports + from);
  links.push_back(ports + network.nodes() + to);
}

}  // namespace ayatori::network
