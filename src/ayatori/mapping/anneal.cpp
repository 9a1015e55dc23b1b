#include "ayatori/mapping/anneal.hpp"

#include <algorithm>
#include <cmath>

#include "ayatori/base/random.hpp"

namespace ayatori::mapping {

namespace {

class Annealing {
 public:
  Annealing(const WeightedGraph& graph, const Network& network, const PairCost& cost,
            std::vector<int>& node_of)
      : graph_(graph),
        nodes_(std::ranges::max(node_of) + 1),
        distance_(static_cast<std::size_t>(nodes_) * nodes_),
        node_of_(node_of),
        members_(nodes_),
        slot_of_(node_of.size()) {
    for (int a = 0; a < nodes_; ++a) {
      for (int b = 0; b < nodes_; ++b) distance_[index(a, b)] = cost.distance(network, a, b);
    }
    for (int v = 0; v < graph.vertices(); ++v) {
      slot_of_[v] = static_cast<int>(members_[node_of[v]].size());
      members_[node_of[v]].push_back(v);
    }
  }

  void run(std::int64_t proposals) {
    // Of what exchanges change on the mean: from where a good placement loses its details, but not its shape,
    // to where no loss is taken any more.
    constexpr double hot = 0.15;
    constexpr double cold = 0.004;
    const double typical = typical_change();
    if (typical <= 0) return;
    auto best = node_of_;
    double sum = 0;
    double best_sum = 0;
    constexpr std::int64_t stages = 200;
    for (std::int64_t stage = 0; stage < stages; ++stage) {
      const double share = static_cast<double>(stage) / (stages - 1);
      const double temperature = typical * hot * std::pow(cold / hot, share);
      for (std::int64_t k = proposals * stage / stages; k < proposals * (stage + 1) / stages; ++k) {
        const auto [u, v] = propose(k);
        if (node_of_[u] == node_of_[v]) continue;
        const double saved = saved_by(u, v);
        if (saved < 0 && random_uniform(3, k) >= std::exp(saved / temperature)) continue;
        exchange(u, v);
        sum += saved;
      }
      if (sum <= best_sum) continue;
      best_sum = sum;
      best = node_of_;
    }
    node_of_ = std::move(best);
  }

 private:
  struct Pair {
    int u;
    int v;
  };

  std::size_t index(int a, int b) const { return static_cast<std::size_t>(a) * nodes_ + b; }
  int draw(std::uint64_t bits, std::int64_t below) const {
    return static_cast<int>((bits >> 32U) * static_cast<std::uint64_t>(below) >> 32U);
  }
  int some_neighbour(int v, std::uint64_t bits) const {
    const std::int64_t degree = graph_.start[v + 1] - graph_.start[v];
    return degree == 0 ? v : graph_.neighbour[graph_.start[v] + draw(bits, degree)];
  }

  /// A vertex and one that is where a neighbour is, or a neighbour's neighbour.
  Pair propose(std::int64_t k) const {
    const std::uint64_t bits = random_bits(1, k);
    const std::uint64_t more = random_bits(2, k);
    const int u = draw(bits, graph_.vertices());
    int near = some_neighbour(u, bits << 32U);
    if ((more & 1U) != 0) near = some_neighbour(near, more << 24U);
    const auto& there = members_[node_of_[near]];
    return {u, there[draw(more, std::ssize(there))]};
  }

  double saved_by(int u, int v) const {
    const int p = node_of_[u];
    const int q = node_of_[v];
    const double* from_p = &distance_[index(p, 0)];
    const double* from_q = &distance_[index(q, 0)];
    double saved = 0;
    for (std::int64_t k = graph_.start[u]; k < graph_.start[u + 1]; ++k) {
      if (graph_.neighbour[k] == v) continue;  // as far apart as before
      const int at = node_of_[graph_.neighbour[k]];
      saved += graph_.weight[k] * (from_p[at] - from_q[at]);
    }
    for (std::int64_t k = graph_.start[v]; k < graph_.start[v + 1]; ++k) {
      if (graph_.neighbour[k] == u) continue;
      const int at = node_of_[graph_.neighbour[k]];
      saved += graph_.weight[k] * (from_q[at] - from_p[at]);
    }
    return saved;
  }

  double typical_change() const {
    constexpr std::int64_t samples = 1000;
    double sum = 0;
    for (std::int64_t k = 0; k < samples; ++k) {
      const auto [u, v] = propose(-1 - k);
      if (node_of_[u] != node_of_[v]) sum += std::abs(saved_by(u, v));
    }
    return sum / samples;
  }

  void exchange(int u, int v) {
    std::swap(members_[node_of_[u]][slot_of_[u]], members_[node_of_[v]][slot_of_[v]]);
    std::swap(slot_of_[u], slot_of_[v]);
    std::swap(node_of_[u], node_of_[v]);
  }

  const WeightedGraph& graph_;
  int nodes_;
  std::vector<double> distance_;
  std::vector<int>& node_of_;
  std::vector<std::vector<int>> members_;
  std::vector<int> slot_of_;  ///< by vertex: its place among the members of its node
};

}  // namespace

void anneal_sum(const WeightedGraph& graph, const Network& network, const PairCost& cost,
                std::int64_t proposals, std::vector<int>& node_of) {
  constexpr std::int64_t most_nodes = 2048;  // whose distances fit into a cache
  if (proposals <= 0 || graph.neighbour.empty() || std::ranges::max(node_of) >= most_nodes) return;
  Annealing(graph, network, cost, node_of).run(proposals);
}

}  // namespace ayatori::mapping
