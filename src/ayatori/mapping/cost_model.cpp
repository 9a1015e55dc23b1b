#include "ayatori/mapping/cost_model.hpp"

#include <algorithm>

#include "ayatori/base/error.hpp"

namespace ayatori::mapping {

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
  model.inside_latency = inside->model.latency();
  model.inside_bandwidth = inside->model.bandwidth();
  model.between_latency = between->model.latency();
  model.link_bandwidth = between->model.bandwidth();
  model.port_bandwidth = machine::link_sharing(*nearest_between).capacity;
  model.source = name;
  model.error = std::max(inside->model.error, between->model.error);
  return model;
}

}  // namespace ayatori::mapping
