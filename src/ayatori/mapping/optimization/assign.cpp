#include "ayatori/mapping/optimization/assign.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "ayatori/mapping/optimization/partition.hpp"

namespace ayatori::mapping {

namespace {

/// Some nodes, and the vertices that are to be spread over them.
struct Region {
  std::vector<int> nodes;
  std::vector<int> vertices;
};

class DualBisection {
 public:
  DualBisection(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
                std::span<const int> capacities, int seed)
      : graph_(graph),
        network_(network),
        cost_(cost),
        capacities_(capacities),
        seed_(seed),
        near_(graph.vertices(), 0),
        number_in_(graph.vertices(), -1) {}

  std::vector<int> run() {
    Region all;
    all.nodes.resize(capacities_.size());
    std::iota(all.nodes.begin(), all.nodes.end(), 0);
    all.vertices.resize(graph_.vertices());
    std::iota(all.vertices.begin(), all.vertices.end(), 0);
    settle(all);
    // In breadth: when a region is halved, all others are known as exactly as it.
    std::deque<Region> regions{std::move(all)};
    while (!regions.empty()) {
      Region region = std::move(regions.front());
      regions.pop_front();
      if (region.nodes.size() == 1 || region.vertices.empty()) continue;
      auto [first, second] = halve(region);
      regions.push_back(std::move(first));
      regions.push_back(std::move(second));
    }
    return near_;
  }

 private:
  int digit(int node, int d) const { return network_.address(node)[d]; }

  /// The digit by which nodes are told apart: the outermost that differs, or that with most values.
  int widest_digit(const std::vector<int>& nodes) const {
    int widest = 0;
    int width = 0;
    for (int d = 0; d < network_.digits(); ++d) {
      const auto [least, most] = std::ranges::minmax(nodes, {}, [&](int node) { return digit(node, d); });
      const int extent = digit(most, d) - digit(least, d);
      if (extent <= width) continue;
      widest = d;
      width = extent;
      if (network_.is_nested()) break;
    }
    return widest;
  }

  /// Sorted by a digit and cut between two of its values, where both sides hold about as many vertices.
  std::pair<std::vector<int>, std::vector<int>> split(std::vector<int> nodes) const {
    const int d = widest_digit(nodes);
    std::ranges::stable_sort(nodes, {}, [&](int node) { return digit(node, d); });
    const int all = capacity(nodes);
    int before = 0;
    int best = all;
    std::size_t cut = nodes.size() / 2;
    for (std::size_t k = 1; k < nodes.size(); ++k) {
      before += capacities_[nodes[k - 1]];
      const int uneven = std::abs(all - 2 * before);
      if (digit(nodes[k - 1], d) == digit(nodes[k], d) || uneven >= best) continue;
      best = uneven;
      cut = k;
    }
    return {{nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(cut)},
            {nodes.begin() + static_cast<std::ptrdiff_t>(cut), nodes.end()}};
  }

  int capacity(const std::vector<int>& nodes) const {
    return std::transform_reduce(nodes.begin(), nodes.end(), 0, std::plus<>(),
                                 [&](int node) { return capacities_[node]; });
  }

  /// The node that stands for a region: nearest to the middle in every digit.
  int middle(const std::vector<int>& nodes) const {
    std::vector<int> medians;
    std::vector<int> values(nodes.size());
    for (int d = 0; d < network_.digits(); ++d) {
      std::ranges::transform(nodes, values.begin(), [&](int node) { return digit(node, d); });
      const auto centre = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::nth_element(values.begin(), centre, values.end());
      medians.push_back(*centre);
    }
    return std::ranges::min(nodes, {}, [&](int node) {
      int off = 0;
      for (int d = 0; d < network_.digits(); ++d) off += std::abs(digit(node, d) - medians[d]);
      return off;
    });
  }

  void settle(const Region& region) {
    const int node = middle(region.nodes);
    for (const int v : region.vertices) near_[v] = node;
  }

  std::pair<Region, Region> halve(const Region& region) {
    Region first;
    Region second;
    std::tie(first.nodes, second.nodes) = split(region.nodes);
    const int a = middle(first.nodes);
    const int b = middle(second.nodes);
    const double apart = cost_.distance(network_, a, b);
    // A cut edge costs its weight times `apart`: in these units, what a vertex talks to outside pulls it.
    for (const int v : region.vertices) number_in_[v] = 0;
    std::vector<double> pull;
    for (const int v : region.vertices) {
      double sum = 0;
      for (std::int64_t k = graph_.start[v]; apart > 0 && k < graph_.start[v + 1]; ++k) {
        const int other = graph_.neighbour[k];
        if (number_in_[other] == 0) continue;
        const int at = near_[other];
        sum += graph_.weight[k] * (cost_.distance(network_, a, at) - cost_.distance(network_, b, at)) / apart;
      }
      pull.push_back(sum);
    }
    for (const int v : region.vertices) number_in_[v] = -1;
    const auto part = induce(graph_, region.vertices, number_in_);
    const auto side = bisect_exactly(part, capacity(first.nodes), pull, seed_);
    for (std::size_t i = 0; i < region.vertices.size(); ++i)
      (side[i] == 0 ? first : second).vertices.push_back(region.vertices[i]);
    settle(first);
    settle(second);
    return {std::move(first), std::move(second)};
  }

  const WeightedGraph& graph_;
  const network::Network& network_;
  PairCost cost_;
  std::span<const int> capacities_;
  int seed_;
  std::vector<int> near_;       ///< by vertex: the node in the middle of its region
  std::vector<int> number_in_;  ///< see induce()
};

}  // namespace

std::vector<int> assign_by_bisection(const WeightedGraph& graph, const network::Network& network,
                                     const PairCost& cost, std::span<const int> capacities, int seed) {
  return DualBisection(graph, network, cost, capacities, seed).run();
}

}  // namespace ayatori::mapping
