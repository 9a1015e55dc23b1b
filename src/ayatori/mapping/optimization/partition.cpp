#include "ayatori/mapping/optimization/partition.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "ayatori/base/error.hpp"

namespace ayatori::mapping {

namespace {

static_assert(sizeof(idx_t) == sizeof(std::int32_t));

/// METIS is for large graphs: with few vertices it divides by zero, or prints.
constexpr int fewest_for_metis = 64;
/// And with few vertices for each of many parts it comes upon parts of none.
constexpr int fewest_in_part = 8;

/// The weights as METIS wants them: whole, at least 1, the sum within its index type.
std::vector<idx_t> whole_weights(const WeightedGraph& graph) {
  constexpr double most = 1 << 30;
  const double sum = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
  const double scale = sum > 0 ? (most - static_cast<double>(graph.weight.size())) / sum : 0;
  std::vector<idx_t> whole;
  for (const double weight : graph.weight) whole.push_back(1 + static_cast<idx_t>(weight * scale));
  return whole;
}

void check_metis(int code) {
  if (code != METIS_OK) throw EnvironmentError(fmt::format("METIS cannot cut the graph (code {})", code));
}

std::vector<idx_t> run_metis(const WeightedGraph& graph, std::span<const int> sizes, int seed) {
  if (graph.neighbour.size() > std::numeric_limits<idx_t>::max() / 2)
    throw EnvironmentError(
        fmt::format("a graph of {} edges exceeds METIS's index type", graph.weight.size()));
  std::vector<idx_t> start(graph.start.begin(), graph.start.end());
  std::vector<idx_t> neighbour(graph.neighbour);
  auto weights = whole_weights(graph);
  std::vector<real_t> shares;
  for (const int size : sizes)
    shares.push_back(static_cast<real_t>(size) / static_cast<real_t>(graph.vertices()));
  idx_t vertices = graph.vertices();
  idx_t constraints = 1;
  auto parts = static_cast<idx_t>(sizes.size());
  idx_t cut = 0;
  std::vector<idx_t> part(vertices, 0);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = seed;  // the same groups every time
  options[METIS_OPTION_UFACTOR] = 1;  // as even as it can
  options[METIS_OPTION_NCUTS] = 2;
  const auto cut_graph = parts == 2 ? METIS_PartGraphRecursive : METIS_PartGraphKway;
  check_metis(cut_graph(&vertices, &constraints, start.data(), neighbour.data(), nullptr, nullptr,
                        weights.data(), &parts, shares.data(), nullptr, options, &cut, part.data()));
  return part;
}

/// Moves vertices out of groups that are too large, each time the one that loses least of its overfull group,
/// to that of the groups with room that it has most to do with.
void bring_to_size(const WeightedGraph& graph, std::span<const int> sizes, std::vector<int>& group_of) {
  const auto groups = static_cast<int>(sizes.size());
  std::vector<std::vector<int>> members(groups);
  for (int v = 0; v < graph.vertices(); ++v) members[group_of[v]].push_back(v);
  const auto room = [&](int group) { return sizes[group] - static_cast<int>(members[group].size()); };
  int first_with_room = 0;  // for a vertex none of whose neighbours' groups has any
  std::vector<double> to(groups, 0);
  for (int group = 0; group < groups; ++group) {
    while (room(group) < 0) {
      while (room(first_with_room) <= 0) ++first_with_room;
      double most = -std::numeric_limits<double>::infinity();
      std::size_t leaves = 0;
      int target = first_with_room;
      for (std::size_t m = 0; m < members[group].size(); ++m) {
        const int v = members[group][m];
        for (std::int64_t k = graph.start[v]; k < graph.start[v + 1]; ++k)
          to[group_of[graph.neighbour[k]]] += graph.weight[k];
        const double stays = to[group];
        const auto consider = [&](int other) {
          if (room(other) <= 0 || to[other] - stays <= most) return;
          most = to[other] - stays;
          leaves = m;
          target = other;
        };
        consider(first_with_room);
        for (std::int64_t k = graph.start[v]; k < graph.start[v + 1]; ++k)
          consider(group_of[graph.neighbour[k]]);
        for (std::int64_t k = graph.start[v]; k < graph.start[v + 1]; ++k)
          to[group_of[graph.neighbour[k]]] = 0;
      }
      const int v = members[group][leaves];
      members[group].erase(members[group].begin() + static_cast<std::ptrdiff_t>(leaves));
      members[target].push_back(v);
      group_of[v] = target;
    }
  }
}

/// Two sides under improvement (Fiduccia and Mattheyses, DAC 1982): in a pass every vertex moves at most
/// once, the best first, and what follows the best state that has the right sizes is undone.
class Bisection {
 public:
  Bisection(const WeightedGraph& graph, int first_size, std::span<const double> pull,
            std::vector<std::uint8_t>& side)
      : graph_(graph), first_size_(first_size), pull_(pull), side_(side), gain_(graph.vertices(), 0) {}

  void improve() {
    constexpr int most_passes = 10;
    for (int pass = 0; pass < most_passes && run_pass(); ++pass) {
    }
  }

 private:
  struct Entry {
    double gain;
    int vertex;
    bool operator<(const Entry& other) const {
      return gain != other.gain ? gain < other.gain : vertex > other.vertex;
    }
  };

  /// What moving a vertex to the other side saves.
  double gain_of(int v) const {
    double gain = 0;
    for (std::int64_t k = graph_.start[v]; k < graph_.start[v + 1]; ++k)
      gain += side_[graph_.neighbour[k]] == side_[v] ? -graph_.weight[k] : graph_.weight[k];
    if (!pull_.empty()) gain += side_[v] == 0 ? pull_[v] : -pull_[v];
    return gain;
  }

  /// The best vertex of a side that has not moved; nullptr if all have.
  const Entry* best(int side) {
    auto& queue = queues_[side];
    while (!queue.empty()) {
      const Entry& top = queue.top();
      if (!moved_[top.vertex] && side_[top.vertex] == side && gain_[top.vertex] == top.gain) return &top;
      queue.pop();
    }
    return nullptr;
  }

  void move(int v) {
    side_[v] = static_cast<std::uint8_t>(1 - side_[v]);
    first_count_ += side_[v] == 0 ? 1 : -1;
  }

  /// Whether something was gained, or the sizes are right now and were not before.
  bool run_pass() {
    const int vertices = graph_.vertices();
    first_count_ = static_cast<int>(std::ranges::count(side_, 0));
    const bool was_balanced = first_count_ == first_size_;
    moved_.assign(vertices, false);
    queues_[0] = queues_[1] = {};
    double scale = 0;
    for (int v = 0; v < vertices; ++v) {
      gain_[v] = gain_of(v);
      scale = std::max(scale, std::abs(gain_[v]));
      queues_[side_[v]].push({gain_[v], v});
    }
    const double least = 1e-9 * scale;  // that is no rounding error
    const int patience = 50 + vertices / 8;
    std::vector<int> moves;
    double sum = 0;
    double best_sum = 0;
    bool has_best = was_balanced;
    std::size_t best_moves = 0;
    while (moves.size() < best_moves + patience || !has_best) {
      const Entry* candidates[2] = {best(0), best(1)};
      const int excess = first_count_ - first_size_;
      int from = excess > 0 ? 0 : 1;
      if (excess == 0 && candidates[0] != nullptr && candidates[1] != nullptr)
        from = candidates[0]->gain >= candidates[1]->gain ? 0 : 1;
      if (candidates[from] == nullptr) break;
      const int v = candidates[from]->vertex;
      sum += gain_[v];
      moved_[v] = true;
      move(v);
      moves.push_back(v);
      for (std::int64_t k = graph_.start[v]; k < graph_.start[v + 1]; ++k) {
        const int other = graph_.neighbour[k];
        if (moved_[other]) continue;
        gain_[other] += side_[other] == side_[v] ? -2 * graph_.weight[k] : 2 * graph_.weight[k];
        queues_[side_[other]].push({gain_[other], other});
      }
      if (first_count_ == first_size_ && (!has_best || sum > best_sum + least)) {
        has_best = true;
        best_sum = sum;
        best_moves = moves.size();
      }
    }
    while (moves.size() > best_moves) {
      move(moves.back());
      moves.pop_back();
    }
    return best_moves > 0;
  }

  const WeightedGraph& graph_;
  int first_size_;
  std::span<const double> pull_;
  std::vector<std::uint8_t>& side_;
  std::vector<double> gain_;
  std::vector<char> moved_;
  std::priority_queue<Entry> queues_[2];
  int first_count_ = 0;
};

/// By bisections, as METIS does it, but of exact sizes.
void halve_groups(const WeightedGraph& graph, std::span<const int> sizes, int seed, std::span<int> group_of) {
  struct Some {
    std::vector<int> vertices;
    std::size_t first;  ///< group
    std::size_t last;
  };
  std::vector<int> number_in(graph.vertices(), -1);
  std::vector<Some> open(1);
  open.front().vertices.resize(graph.vertices());
  std::iota(open.front().vertices.begin(), open.front().vertices.end(), 0);
  open.front().first = 0;
  open.front().last = sizes.size();
  while (!open.empty()) {
    const Some some = std::move(open.back());
    open.pop_back();
    if (some.last - some.first == 1) {
      for (const int vertex : some.vertices) group_of[vertex] = static_cast<int>(some.first);
      continue;
    }
    const std::size_t middle = (some.first + some.last) / 2;
    const auto of_first = sizes.subspan(some.first, middle - some.first);
    const auto side = bisect_exactly(induce(graph, some.vertices, number_in),
                                     std::accumulate(of_first.begin(), of_first.end(), 0), {}, seed);
    Some halves[2] = {{{}, some.first, middle}, {{}, middle, some.last}};
    for (std::size_t i = 0; i < some.vertices.size(); ++i)
      halves[side[i]].vertices.push_back(some.vertices[i]);
    for (Some& half : halves) open.push_back(std::move(half));
  }
}

}  // namespace

std::vector<int> group_exactly(const WeightedGraph& graph, std::span<const int> sizes, int seed) {
  AYATORI_ASSERT(std::accumulate(sizes.begin(), sizes.end(), 0) == graph.vertices());
  std::vector<int> group_of(graph.vertices(), 0);
  const auto parts = static_cast<int>(sizes.size());
  if (parts > 1 && graph.vertices() >= fewest_for_metis) {
    if (graph.vertices() < fewest_in_part * parts) {
      halve_groups(graph, sizes, seed, group_of);
      return group_of;
    }
    std::ranges::copy(run_metis(graph, sizes, seed), group_of.begin());
  }
  bring_to_size(graph, sizes, group_of);
  return group_of;
}

std::vector<std::uint8_t> bisect_exactly(const WeightedGraph& graph, int first_size,
                                         std::span<const double> pull, int seed) {
  const int vertices = graph.vertices();
  std::vector<std::uint8_t> side(vertices, 1);
  if (vertices >= fewest_for_metis && first_size > 0 && first_size < vertices) {
    const std::vector<int> sizes{first_size, vertices - first_size};
    const auto part = run_metis(graph, sizes, seed);
    std::ranges::transform(part, side.begin(), [](idx_t p) { return static_cast<std::uint8_t>(p); });
  } else {
    std::fill_n(side.begin(), first_size, static_cast<std::uint8_t>(0));
  }
  if (!pull.empty() && 2 * first_size == vertices) {  // METIS knows nothing of pulls
    double of_side[2] = {0, 0};
    for (int v = 0; v < vertices; ++v) of_side[side[v]] += pull[v];
    if (of_side[0] > of_side[1]) {
      for (std::uint8_t& s : side) s = static_cast<std::uint8_t>(1 - s);
    }
  }
  Bisection(graph, first_size, pull, side).improve();
  return side;
}

std::vector<std::int32_t> partition_rows(Pattern& pattern, int parts) {
  auto rows = static_cast<idx_t>(pattern.start.size()) - 1;
  std::vector<idx_t> part(rows, 0);
  if (parts == 1) return part;
  if (rows < 2 * static_cast<std::int64_t>(parts))
    throw InputError(fmt::format("{} rows are too few for {} parts", rows, parts));
  std::vector<idx_t> weights(rows);
  // METIS adds weights up in its index type: a large pattern's are divided until their sum fits.
  const std::int64_t sum = static_cast<std::int64_t>(pattern.neighbour.size()) + 2 * std::int64_t{rows};
  const std::int64_t unit = 1 + sum / (std::numeric_limits<idx_t>::max() / 2);
  for (idx_t row = 0; row < rows; ++row) {
    const std::int64_t weight = std::int64_t{pattern.start[row + 1]} - pattern.start[row] + 2;
    weights[row] = static_cast<idx_t>((weight + unit - 1) / unit);
  }
  idx_t constraints = 1;
  idx_t part_count = parts;
  idx_t cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  check_metis(METIS_PartGraphKway(&rows, &constraints, pattern.start.data(), pattern.neighbour.data(),
                                  weights.data(), nullptr, nullptr, &part_count, nullptr, nullptr, options,
                                  &cut, part.data()));
  return part;
}

}  // namespace ayatori::mapping
