#include "ayatori/machine/model/levels.hpp"

#include <algorithm>
#include <numeric>

#include "ayatori/base/statistics.hpp"

namespace ayatori::machine {

namespace {

constexpr double gap = 1.25;
/// Share of the pairs within a group that may be on the far side: noise.
constexpr double tolerated = 0.05;

/// Sets of ranks that merge, each named by its lowest rank.
class Groups {
 public:
  explicit Groups(int ranks) : parent_(ranks) { std::iota(parent_.begin(), parent_.end(), 0); }

  int lowest(int rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }
  void merge(int a, int b) {
    a = lowest(a);
    b = lowest(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int> parent_;
};

/// Groups of ranks that are joined by pairs up to this time.
InferredLevel join(int ranks, std::span<const PairTime> near) {
  Groups sets(ranks);
  for (const auto& pair : near) sets.merge(pair.first, pair.second);
  InferredLevel level;
  level.group_of.resize(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const int lowest = sets.lowest(rank);
    level.group_of[rank] = lowest == rank ? level.groups++ : level.group_of[lowest];
  }
  return level;
}

bool in_one_group(const InferredLevel& level, const PairTime& pair) {
  return level.group_of[pair.first] == level.group_of[pair.second];
}

/// Whether the groups agree with the times: few far pairs within, and no near pairs between, by construction.
bool is_consistent(const InferredLevel& level, std::span<const PairTime> near,
                   std::span<const PairTime> far) {
  const auto violations =
      std::ranges::count_if(far, [&](const auto& pair) { return in_one_group(level, pair); });
  return static_cast<double>(violations) <= tolerated * static_cast<double>(near.size());
}

/// Whether every group of `inner` lies within one of `outer`.
bool is_within(const InferredLevel& inner, const InferredLevel& outer) {
  std::vector<int> home(inner.groups, -1);
  for (std::size_t rank = 0; rank < inner.group_of.size(); ++rank) {
    int& of_group = home[inner.group_of[rank]];
    if (of_group >= 0 && of_group != outer.group_of[rank]) return false;
    of_group = outer.group_of[rank];
  }
  return true;
}

/// Partitions only, nearest first, without the one of all ranks.
std::vector<InferredLevel> find_partitions(int ranks, std::span<const PairTime> pairs) {
  std::vector<PairTime> sorted(pairs.begin(), pairs.end());
  std::ranges::sort(sorted, {}, &PairTime::seconds);
  std::vector<InferredLevel> levels;
  const std::span all(sorted);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].seconds < gap * sorted[i - 1].seconds) continue;
    auto level = join(ranks, all.first(i));
    const bool is_new = levels.empty() || level.groups < levels.back().groups;
    if (is_new && level.groups > 1 && is_consistent(level, all.first(i), all.subspan(i)))
      levels.push_back(std::move(level));
  }
  return levels;
}

/// The partitions and all ranks as the last, with the times of pairs that meet there and not below.
std::vector<InferredLevel> with_times(std::vector<InferredLevel> levels, int ranks,
                                      std::span<const PairTime> pairs) {
  levels.push_back({std::vector<int>(ranks, 0), 1, 0, 0, 0});
  for (std::size_t l = 0; l < levels.size(); ++l) {
    std::vector<double> seconds;
    for (const auto& pair : pairs) {
      const bool below = l > 0 && in_one_group(levels[l - 1], pair);
      if (!below && in_one_group(levels[l], pair)) seconds.push_back(pair.seconds);
    }
    if (seconds.empty()) continue;
    const Spread values = spread(seconds);
    levels[l].least_seconds = values.min;
    levels[l].typical_seconds = values.median;
    levels[l].most_seconds = values.max;
  }
  return levels;
}

}  // namespace

std::vector<InferredLevel> infer_levels(int ranks, std::span<const PairTime> pairs) {
  return with_times(find_partitions(ranks, pairs), ranks, pairs);
}

std::vector<InferredLevel> infer_levels(int ranks, std::span<const PairTime> of_short,
                                        std::span<const PairTime> of_long) {
  auto levels = find_partitions(ranks, of_short);
  for (auto& level : find_partitions(ranks, of_long)) {
    const auto next = std::ranges::find_if(levels, [&](const auto& l) { return l.groups <= level.groups; });
    const bool is_known = next != levels.end() && next->group_of == level.group_of;
    const bool nests = (next == levels.end() || is_within(level, *next)) &&
                       (next == levels.begin() || is_within(*(next - 1), level));
    if (nests && !is_known) levels.insert(next, std::move(level));
  }
  return with_times(std::move(levels), ranks, of_short);
}

}  // namespace ayatori::machine
