#include "ayatori/forecast/placed_machine.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace ayatori::forecast {

namespace {

/// The first rank of every node that has any, by ascending rank.
struct Representatives {
  std::vector<int> rank;
  std::vector<int> node;
};

Representatives representatives(const network::Network& network, std::span<const int> node_of) {
  Representatives first;
  std::vector<bool> is_seen(network.nodes(), false);
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    if (is_seen[node_of[rank]]) continue;
    is_seen[node_of[rank]] = true;
    first.rank.push_back(static_cast<int>(rank));
    first.node.push_back(node_of[rank]);
  }
  return first;
}

/// Ranks of equal keys are one group; groups are numbered by their lowest rank.
template <class KeyOf>
machine::InferredLevel group_by(std::span<const int> node_of, const KeyOf& key_of) {
  machine::InferredLevel level;
  std::map<std::vector<int>, int> number;
  for (const int node : node_of)
    level.group_of.push_back(number.try_emplace(key_of(node), static_cast<int>(number.size())).first->second);
  level.groups = static_cast<int>(number.size());
  return level;
}

/// Bytes per second out of these nodes while each talks to each of the others.
double throughput(const network::Network& network, const network::CostModel& model,
                  std::span<const int> inside, std::span<const int> outside) {
  const auto seconds_per_byte = network::seconds_per_byte(network, model);
  std::vector<double> load(network.links().size(), 0.0);
  std::vector<int> way;
  for (const int from : inside) {
    for (const int to : outside) {
      way.clear();
      network.route(from, to, way);
      for (const int link : way) load[link] += seconds_per_byte[link];
    }
  }
  const double by_ports = static_cast<double>(outside.size()) / model.port_bandwidth;
  const double busiest = std::max(by_ports, std::ranges::max(load));
  return static_cast<double>(inside.size() * outside.size()) / busiest;
}

/// The level above `below`: groups of that which talk to each other through one port each.
machine::Level level_between(const network::Network& network, const network::CostModel& model,
                             const Representatives& nodes, const machine::InferredLevel& below,
                             machine::InferredLevel structure) {
  // All in the group of rank 0's node that have others at this level stand for every group.
  std::vector<int> inside;
  std::vector<int> outside;
  for (std::size_t i = 0; i < nodes.node.size(); ++i) {
    if (structure.group_of[nodes.rank[i]] != 0) continue;
    (below.group_of[nodes.rank[i]] == 0 ? inside : outside).push_back(nodes.node[i]);
  }
  machine::Level level;
  level.name = "between nodes";
  double nearest = 0;
  double sum = 0;
  for (const int node : outside) {
    const double seconds = model.latency(network.hops(inside.front(), node));
    nearest = nearest == 0 ? seconds : std::min(nearest, seconds);
    sum += seconds;
  }
  structure.least_seconds = nearest;
  structure.typical_seconds = outside.empty() ? 0 : sum / static_cast<double>(outside.size());
  level.structure = std::move(structure);
  const double alone = 1 / std::min(model.link_bandwidth, model.port_bandwidth);
  level.curves.push_back(network::one_way(1, nearest, alone));
  if (outside.empty()) return level;
  const auto sharing = static_cast<int>(std::ranges::count(below.group_of, 0));
  if (sharing > 1) {
    const double shared = sharing / throughput(network, model, inside, outside);
    level.sharing_pairs = sharing;
    level.curves.push_back(network::one_way(sharing, nearest, std::max(alone, shared)));
  }
  return level;
}

/// What short messages take between nodes, which is what machines are probed with.
std::vector<machine::PairTime> pair_times(const network::Network& network, const network::CostModel& model,
                                          const Representatives& nodes) {
  std::vector<machine::PairTime> pairs;
  for (std::size_t i = 0; i < nodes.node.size(); ++i) {
    for (std::size_t j = i + 1; j < nodes.node.size(); ++j) {
      const int hops = network.hops(nodes.node[i], nodes.node[j]);
      pairs.push_back({nodes.rank[i], nodes.rank[j],
                       model.latency(hops) + machine::short_message / model.link_bandwidth});
    }
  }
  return pairs;
}

}  // namespace

machine::Profile placed_machine(const network::Network& network, const network::CostModel& model,
                                std::span<const int> node_of) {
  machine::Profile profile;
  profile.source = model.source;
  profile.ranks = static_cast<int>(node_of.size());
  profile.node_of_rank.assign(node_of.begin(), node_of.end());
  const auto nodes = representatives(network, node_of);

  auto below = group_by(node_of, [](int node) { return std::vector{node}; });
  if (below.groups < profile.ranks || profile.ranks == 1) {
    machine::Level inside;
    inside.name = "inside a node";
    inside.structure = below;
    inside.structure.least_seconds = inside.structure.typical_seconds = model.inside.latency;
    inside.curves.push_back(network::one_way(1, model.inside.latency, 1 / model.inside.bandwidth));
    profile.levels.push_back(std::move(inside));
  }

  for (int digits = network.is_nested() ? network.digits() - 1 : 0; digits >= 0; --digits) {
    auto structure = group_by(node_of, [&](int node) {
      const auto outer = network.address(node).first(digits);
      return std::vector<int>(outer.begin(), outer.end());
    });
    if (structure.groups == below.groups) continue;
    profile.levels.push_back(level_between(network, model, nodes, below, structure));
    below = std::move(structure);
  }
  if (!network.is_nested()) profile.pairs = pair_times(network, model, nodes);
  return profile;
}

}  // namespace ayatori::forecast
