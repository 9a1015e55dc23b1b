#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ayatori/mapping/objectives/evaluation.hpp"

namespace ayatori::mapping {

/// What an edge of the graph costs: its weight, times how far apart its ends are.
struct PairCost {
  std::string_view name;
  double per_message = 0;
  double per_byte = 0;
  double base = 1;     ///< distance of different nodes
  double per_hop = 0;  ///< added to it for every link between them

  double weight(const Volume& volume) const {
    return per_message * static_cast<double>(volume.messages) + per_byte * static_cast<double>(volume.bytes);
  }
  double distance(const network::Network& network, int a, int b) const {
    return a == b ? 0 : base + (per_hop > 0 ? per_hop * network.hops(a, b) : 0);
  }
};

/// An entry in the list of what a placement may be good at.
struct Objective {
  std::string_view name;
  std::string_view description;
  double (*value)(const Metrics& metrics);  ///< the smaller the better
  /// Sums over pairs, whose changes are cheap to know, and one of which may be small where the value is; the
  /// likeliest first.
  std::vector<PairCost> (*pair_costs)(const network::CostModel& model);
  bool is_sum;  ///< the value is the first of these sums
  /// A closer look at a few placements of small value, by which the best of them is chosen; nullptr: none.
  std::optional<double> (*look_closer)(const Evaluation& evaluation) = nullptr;
  double resolution = 0;  ///< resolution of that, as a share: a smaller gain over the order of ranks is none
  /// A norm that is small where a maximum is, and that all links have a part in, for annealing;
  /// nullptr: none.
  double (*smooth)(const Evaluation& evaluation) = nullptr;
};

std::span<const Objective> objectives();

}  // namespace ayatori::mapping
