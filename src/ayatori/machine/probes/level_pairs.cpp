#include "ayatori/machine/probes/level_pairs.hpp"

#include <algorithm>

namespace ayatori::machine {

namespace {

/// The ranks of a group, in order.
std::vector<int> members(const std::vector<int>& group_of, int group) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < group_of.size(); ++rank) {
    if (group_of[rank] == group) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

}  // namespace

Role role_of(int rank, std::span<const std::pair<int, int>> pairs) {
  for (const auto& [first, second] : pairs) {
    if (rank == first) return {second, true};
    if (rank == second) return {first, false};
  }
  return {};
}

LevelPairs pairs_at(std::span<const InferredLevel> levels, std::size_t level) {
  const auto& here = levels[level].group_of;
  std::vector<int> below(here.size());
  for (std::size_t rank = 0; rank < here.size(); ++rank)
    below[rank] = level == 0 ? static_cast<int>(rank) : levels[level - 1].group_of[rank];
  LevelPairs result;
  for (int group = 0; group < levels[level].groups; ++group) {
    std::vector<int> children;
    for (const int rank : members(here, group)) {
      if (std::ranges::find(children, below[rank]) == children.end()) children.push_back(below[rank]);
    }
    for (std::size_t child = 0; child + 1 < children.size(); child += 2) {
      const auto left = members(below, children[child]);
      const auto right = members(below, children[child + 1]);
      const std::size_t count = std::min(left.size(), right.size());
      if (result.pairs.empty()) result.sharing = static_cast<int>(count);
      for (std::size_t i = 0; i < count; ++i) result.pairs.emplace_back(left[i], right[i]);
    }
  }
  return result;
}

}  // namespace ayatori::machine
