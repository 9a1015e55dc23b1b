#include "ayatori/mapping/optimization/refine.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <numeric>
#include <ranges>
#include <utility>

#include "ayatori/base/random.hpp"

namespace ayatori::mapping {

namespace {

std::vector<std::vector<int>> members_of(std::span<const int> node_of, int nodes) {
  std::vector<std::vector<int>> members(nodes);
  for (int v = 0; v < static_cast<int>(node_of.size()); ++v) members[node_of[v]].push_back(v);
  return members;
}

/// The local search of refine_sum() and shake_sum().
class SumSearch {
 public:
  SumSearch(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
            std::span<const int> sizes, std::vector<int>& node_of)
      : graph_(graph),
        network_(network),
        cost_(cost),
        sizes_(sizes),
        node_of_(node_of),
        members_(members_of(node_of, network.nodes())),
        seen_(network.nodes(), 0),
        active_(graph.vertices(), false) {
    const double sum = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
    least_ = 1e-12 * sum;
    // A second, and ten times what halo exchanges of 26 neighbours take. Where everyone talks to everyone,
    // looking once at all exchanges would take hours.
    constexpr std::int64_t most_looks = 100'000'000;
    constexpr std::int64_t looks_each = 20'000;
    looks_left_ = std::max(most_looks, looks_each * graph.vertices());
  }

  std::int64_t run() {
    for (int u = 0; u < graph_.vertices(); ++u) activate(u);
    settle();
    return static_cast<std::int64_t>(exchanges_.size());
  }

  void shake(std::int64_t kicks) {
    for (std::int64_t kick = 0; kick < kicks; ++kick) {
      exchanges_.clear();
      saved_ = 0;
      disturb(kick);
      settle();
      if (saved_ > least_) continue;
      for (const auto& [u, v] : exchanges_ | std::views::reverse) change_places(u, v);
    }
  }

 private:
  /// What a vertex saves by moving to another node, if nobody else moved.
  double gain(int v, int from, int to) {
    double gain = 0;
    looks_left_ -= graph_.start[v + 1] - graph_.start[v];
    for (std::int64_t k = graph_.start[v]; k < graph_.start[v + 1]; ++k) {
      const int at = node_of_[graph_.neighbour[k]];
      gain += graph_.weight[k] * (cost_.distance(network_, from, at) - cost_.distance(network_, to, at));
    }
    return gain;
  }

  double weight_between(int u, int v) {
    looks_left_ -= graph_.start[u + 1] - graph_.start[u];
    for (std::int64_t k = graph_.start[u]; k < graph_.start[u + 1]; ++k) {
      if (graph_.neighbour[k] == v) return graph_.weight[k];
    }
    return 0;
  }

  void add_candidate(int node, int u) {
    if (seen_[node] == search_ || node == node_of_[u]) return;
    seen_[node] = search_;
    candidates_.push_back(node);
  }

  /// Nodes that a vertex might like to be on, the likely ones first.
  void find_candidates(int u) {
    constexpr std::size_t most = 48;
    candidates_.clear();
    const std::size_t all = std::min(most, members_.size() - 1);
    ++search_;
    for (std::int64_t k = graph_.start[u]; k < graph_.start[u + 1]; ++k)
      add_candidate(node_of_[graph_.neighbour[k]], u);
    for (std::int64_t k = graph_.start[u]; k < graph_.start[u + 1]; ++k) {
      const int v = graph_.neighbour[k];
      looks_left_ -= graph_.start[v + 1] - graph_.start[v];
      if (looks_left_ <= 0) return;
      for (std::int64_t j = graph_.start[v]; j < graph_.start[v + 1]; ++j) {
        if (candidates_.size() >= all) return;
        add_candidate(node_of_[graph_.neighbour[j]], u);
      }
    }
  }

  bool are_alike(int u, int v) const { return sizes_.empty() || sizes_[u] == sizes_[v]; }

  void activate(int v) {
    if (active_[v]) return;
    active_[v] = true;
    queue_.push_back(v);
  }

  /// Improves until nobody who was touched can gain, or too much has been looked at.
  void settle() {
    while (!queue_.empty()) {
      const int u = queue_.front();
      queue_.pop_front();
      active_[u] = false;
      if (looks_left_ > 0) improve(u);
    }
  }

  /// Brings neighbours of a random vertex to its node, whatever that costs.
  void disturb(std::int64_t kick) {
    constexpr int guests = 3;
    const auto draw = [&](int what, std::int64_t below) {
      return static_cast<std::int64_t>(random_bits(kick, what) % below);
    };
    const int u = static_cast<int>(draw(0, graph_.vertices()));
    const int p = node_of_[u];
    const std::int64_t degree = graph_.start[u + 1] - graph_.start[u];
    for (int k = 0; k < guests && degree > 0; ++k) {
      const int guest = graph_.neighbour[graph_.start[u] + draw(2 * k + 1, degree)];
      const int leaves = members_[p][draw(2 * k + 2, std::ssize(members_[p]))];
      if (node_of_[guest] == p || (leaves == u && members_[p].size() > 1) || !are_alike(guest, leaves))
        continue;
      const double saved = saved_by(guest, leaves);
      exchange(guest, leaves, saved);
    }
  }

  /// What two vertices save by changing places.
  double saved_by(int u, int v) {
    const int p = node_of_[u];
    const int q = node_of_[v];
    return gain(u, p, q) + gain(v, q, p) - 2 * weight_between(u, v) * cost_.distance(network_, p, q);
  }

  void improve(int u) {
    find_candidates(u);
    const int p = node_of_[u];
    double best = least_;
    int partner = -1;
    for (const int q : candidates_) {
      const double gain_u = gain(u, p, q);
      if (gain_u <= 0) continue;  // then the partner would gain, and is asked itself
      for (const int v : members_[q]) {
        if (!are_alike(u, v)) continue;
        const double both = gain_u + gain(v, q, p);
        if (both <= best) continue;
        const double saved = both - 2 * weight_between(u, v) * cost_.distance(network_, p, q);
        if (saved <= best) continue;
        best = saved;
        partner = v;
      }
    }
    if (partner >= 0) exchange(u, partner, best);
  }

  void change_places(int u, int v) {
    std::ranges::replace(members_[node_of_[u]], u, v);
    std::ranges::replace(members_[node_of_[v]], v, u);
    std::swap(node_of_[u], node_of_[v]);
  }

  void exchange(int u, int v, double saved) {
    change_places(u, v);
    saved_ += saved;
    exchanges_.emplace_back(u, v);
    for (const int w : {u, v}) {
      activate(w);
      for (std::int64_t k = graph_.start[w]; k < graph_.start[w + 1]; ++k) activate(graph_.neighbour[k]);
    }
  }

  const WeightedGraph& graph_;
  const network::Network& network_;
  PairCost cost_;
  std::span<const int> sizes_;
  std::vector<int>& node_of_;
  std::vector<std::vector<int>> members_;
  std::vector<std::int64_t> seen_;  ///< by node: the last search that met it
  std::int64_t search_ = 0;
  std::vector<char> active_;  ///< is in the queue, and was not looked at yet
  std::deque<int> queue_;
  std::vector<int> candidates_;
  std::vector<std::pair<int, int>> exchanges_;
  double saved_ = 0;
  double least_;
  std::int64_t looks_left_;  ///< at edges
};

/// One local search of refine_peak().
class PeakSearch {
 public:
  PeakSearch(Evaluation& evaluation, const Objective& objective)
      : evaluation_(evaluation),
        objective_(objective),
        members_(members_of(evaluation.placement(), evaluation.network().nodes())) {
    std::int64_t edges = 0;
    for (int rank = 0; rank < evaluation.graph().ranks(); ++rank)
      edges += std::ssize(evaluation.graph().talks(rank));
    looks_per_search_ = 20 * edges;
    value_ = objective.value(evaluation.metrics());
  }

  std::int64_t run() {
    std::int64_t swaps = 0;
    while (looks_left_ > 0 && improve()) ++swaps;
    return swaps;
  }

 private:
  /// Ranks whose messages pass the busiest link, those with most bytes first; then the busiest rank and its
  /// peers.
  std::vector<int> culprits() const {
    constexpr std::size_t most = 24;
    const int link = evaluation_.busiest_link();
    const auto& graph = evaluation_.graph();
    std::vector<std::int64_t> bytes(graph.ranks(), 0);
    std::vector<int> ranks;
    std::vector<int> way;
    for (int rank = 0; rank < graph.ranks(); ++rank) {
      for (const auto& talk : graph.talks(rank)) {
        const int from = evaluation_.node_of(rank);
        const int to = evaluation_.node_of(talk.peer);
        if (talk.out.bytes == 0 || from == to) continue;
        way.clear();
        network::route_with_ports(evaluation_.network(), from, to, way);
        if (std::ranges::find(way, link) == way.end()) continue;
        for (const int end : {rank, talk.peer}) {
          if (bytes[end] == 0) ranks.push_back(end);
          bytes[end] += talk.out.bytes;
        }
      }
    }
    std::ranges::stable_sort(ranks, [&](int a, int b) { return bytes[a] > bytes[b]; });
    if (ranks.size() > most) ranks.resize(most);
    const int busiest = evaluation_.busiest_rank();
    ranks.push_back(busiest);
    for (const auto& talk : graph.talks(busiest)) ranks.push_back(talk.peer);
    return ranks;
  }

  /// Nodes of a rank's peers, and a few others.
  std::vector<int> targets(int rank) {
    constexpr int others = 3;
    std::vector<int> nodes;
    for (const auto& talk : evaluation_.graph().talks(rank)) nodes.push_back(evaluation_.node_of(talk.peer));
    for (int k = 0; k < others; ++k) {
      const int any = static_cast<int>(random_bits(1, drawn_++) % evaluation_.graph().ranks());
      nodes.push_back(evaluation_.node_of(any));
    }
    std::ranges::sort(nodes);
    const auto repeated = std::ranges::unique(nodes);
    nodes.erase(repeated.begin(), repeated.end());
    std::erase(nodes, evaluation_.node_of(rank));
    return nodes;
  }

  /// A trial costs about as much as looking at all ranks and links once, and following the messages of two
  /// ranks four times: much for those that talk to everyone.
  std::int64_t looks_for(int rank, int other) const {
    constexpr std::int64_t least = 2000;
    const auto& graph = evaluation_.graph();
    const std::int64_t following = 20 * (std::ssize(graph.talks(rank)) + std::ssize(graph.talks(other)));
    return std::max(least, following) + graph.ranks() + std::ssize(evaluation_.link_bytes());
  }

  bool improve() {
    constexpr double clearly = 1 - 1e-9;
    looks_left_ -= looks_per_search_;
    for (const int rank : culprits()) {
      for (const int node : targets(rank)) {
        for (const int other : members_[node]) {
          if (looks_left_ <= 0) return false;
          looks_left_ -= looks_for(rank, other);
          evaluation_.swap(rank, other);
          const double value = objective_.value(evaluation_.metrics());
          if (value < clearly * value_) {
            value_ = value;
            std::ranges::replace(members_[evaluation_.node_of(other)], rank, other);
            std::ranges::replace(members_[node], other, rank);
            return true;
          }
          evaluation_.swap(rank, other);
        }
      }
    }
    return false;
  }

  Evaluation& evaluation_;
  const Objective& objective_;
  std::vector<std::vector<int>> members_;
  std::int64_t looks_left_ = 1'000'000'000;  ///< a second or two
  std::int64_t looks_per_search_;            ///< finding the culprits: following every message
  std::uint64_t drawn_ = 0;
  double value_;
};

}  // namespace

std::int64_t refine_sum(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
                        std::span<const int> sizes, std::vector<int>& node_of) {
  return SumSearch(graph, network, cost, sizes, node_of).run();
}

void shake_sum(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
               std::span<const int> sizes, std::int64_t kicks, std::vector<int>& node_of) {
  SumSearch(graph, network, cost, sizes, node_of).shake(kicks);
}

std::int64_t refine_peak(Evaluation& evaluation, const Objective& objective) {
  return PeakSearch(evaluation, objective).run();
}

}  // namespace ayatori::mapping
