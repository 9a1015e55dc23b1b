#include "ayatori/collectives/search/layout.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace ayatori::collectives {

namespace {

/// Ranks of a group next to each other, at every level.
std::vector<int> order_by_levels(const machine::Profile& profile, int ranks) {
  std::vector<int> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  for (const auto& level : profile.levels) {
    std::ranges::stable_sort(order, {}, [&](int rank) { return level.structure.group_of[rank]; });
  }
  return order;
}

}  // namespace

std::vector<Layout> layouts_of(Operation operation, int ranks, const machine::Profile& profile,
                               bool may_group) {
  std::vector<int> natural(ranks);
  std::iota(natural.begin(), natural.end(), 0);
  std::vector<Layout> layouts{{{}, {}, Exchange::direct, natural}};
  if (!may_group || operation == Operation::alltoall) return layouts;
  const auto order = order_by_levels(profile, ranks);
  const auto kept_order = order == natural ? std::vector<int>() : order;
  if (!kept_order.empty()) layouts.push_back({kept_order, {}, Exchange::direct, order});
  const auto add_groups = [&](const std::vector<int>& groups) {
    std::vector<int> leaders;
    for (const int position : groups) leaders.push_back(order[position]);
    for (const Exchange fold : {Exchange::direct, Exchange::doubling})
      layouts.push_back({kept_order, groups, fold, leaders});
  };
  for (const auto& level : profile.levels) {
    std::vector<int> groups;
    for (int position = 0; position < ranks; ++position) {
      const auto group_at = [&](int p) { return level.structure.group_of[order[p]]; };
      if (position == 0 || group_at(position) != group_at(position - 1)) groups.push_back(position);
    }
    if (std::ssize(groups) > 1 && std::ssize(groups) < ranks) add_groups(groups);
  }
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  if (core < ranks) {
    std::vector<int> groups;
    for (int position = 0; position < ranks; ++position) {
      const bool is_folded = position < 2 * (ranks - core) && position % 2 == 1;
      if (!is_folded) groups.push_back(position);
    }
    add_groups(groups);
  }
  return layouts;
}

std::optional<std::vector<int>> radices_of_levels(const machine::Profile& profile, const Layout& layout) {
  std::vector<int> radices;
  int product = 1;
  for (const auto& level : profile.levels) {
    std::map<int, int> sizes;
    for (const int leader : layout.leaders) ++sizes[level.structure.group_of[leader]];
    const int size = sizes.begin()->second;
    const bool is_same = std::ranges::all_of(sizes, [&](const auto& entry) { return entry.second == size; });
    if (!is_same || size % product != 0) return std::nullopt;
    if (size > product) radices.push_back(size / product);
    product = size;
  }
  return radices;
}

}  // namespace ayatori::collectives
