#include "ayatori/mapping/optimization/anneal.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ayatori/base/random.hpp"

namespace ayatori::mapping {

namespace {

/// Temperatures, as shares of what exchanges change on the mean. At the hot one a good placement loses its
/// details, but not its shape; at the cold one no loss is taken any more.
constexpr double hot = 0.15;
constexpr double cold = 0.004;

struct Pair {
  int u;
  int v;
};

/// Who is where, and exchanges that may be worth trying.
class Members {
 public:
  explicit Members(const std::vector<int>& node_of)
      : members_(std::ranges::max(node_of) + 1), slot_of_(node_of.size()) {
    for (int v = 0; v < static_cast<int>(node_of.size()); ++v) {
      slot_of_[v] = static_cast<int>(members_[node_of[v]].size());
      members_[node_of[v]].push_back(v);
    }
  }

  /// A vertex and one that is where a neighbour is, or a neighbour's neighbour. `degree` and `neighbour`: how
  /// many a vertex has, and which.
  template <class Degree, class Neighbour>
  Pair propose(std::int64_t k, const std::vector<int>& node_of, const Degree& degree,
               const Neighbour& neighbour) const {
    const auto some = [&](int v, std::uint64_t bits) {
      const std::int64_t count = degree(v);
      return count == 0 ? v : neighbour(v, draw(bits, count));
    };
    const std::uint64_t bits = random_bits(1, k);
    const std::uint64_t more = random_bits(2, k);
    const int u = draw(bits, std::ssize(slot_of_));
    int near = some(u, bits << 32U);
    if ((more & 1U) != 0) near = some(near, more << 24U);
    const auto& there = members_[node_of[near]];
    return {u, there[draw(more, std::ssize(there))]};
  }

  /// Exchanges two ranks that are on these nodes.
  void exchange(const Pair& pair, int node_of_u, int node_of_v) {
    std::swap(members_[node_of_u][slot_of_[pair.u]], members_[node_of_v][slot_of_[pair.v]]);
    std::swap(slot_of_[pair.u], slot_of_[pair.v]);
  }

 private:
  static int draw(std::uint64_t bits, std::int64_t below) {
    return static_cast<int>((bits >> 32U) * static_cast<std::uint64_t>(below) >> 32U);
  }

  std::vector<std::vector<int>> members_;  ///< by node
  std::vector<int> slot_of_;               ///< by vertex: its place among the members of its node
};

/// Goes through this many proposals while it cools down. `State`: propose(k), changes_nothing(pair),
/// saved_by(pair), accept(pair), reject(pair), note_best(), which is called where the sum of what was saved
/// is larger than ever.
template <class State>
void cool_down(State& state, std::int64_t proposals) {
  constexpr std::int64_t samples = 1000;
  double typical = 0;
  for (std::int64_t k = 0; k < samples; ++k) {
    const auto pair = state.propose(-1 - k);
    if (state.changes_nothing(pair)) continue;
    typical += std::abs(state.saved_by(pair));
    state.reject(pair);
  }
  typical /= samples;
  if (typical <= 0) return;
  double sum = 0;
  double best_sum = 0;
  constexpr std::int64_t stages = 200;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const double share = static_cast<double>(stage) / (stages - 1);
    const double temperature = typical * hot * std::pow(cold / hot, share);
    for (std::int64_t k = proposals * stage / stages; k < proposals * (stage + 1) / stages; ++k) {
      const auto pair = state.propose(k);
      if (state.changes_nothing(pair)) continue;
      const double saved = state.saved_by(pair);
      if (saved < 0 && random_uniform(3, k) >= std::exp(saved / temperature)) {
        state.reject(pair);
        continue;
      }
      state.accept(pair);
      sum += saved;
    }
    if (sum <= best_sum) continue;
    best_sum = sum;
    state.note_best();
  }
}

/// A sum over pairs: what an exchange saves is known before it is made.
class SumAnnealing {
 public:
  SumAnnealing(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
               std::vector<int>& node_of)
      : graph_(graph),
        nodes_(std::ranges::max(node_of) + 1),
        distance_(static_cast<std::size_t>(nodes_) * nodes_),
        node_of_(node_of),
        best_(node_of),
        members_(node_of) {
    for (int a = 0; a < nodes_; ++a) {
      for (int b = 0; b < nodes_; ++b) distance_[index(a, b)] = cost.distance(network, a, b);
    }
  }

  void run(std::int64_t proposals) {
    cool_down(*this, proposals);
    node_of_ = std::move(best_);
  }

  Pair propose(std::int64_t k) const {
    return members_.propose(
        k, node_of_, [&](int v) { return graph_.start[v + 1] - graph_.start[v]; },
        [&](int v, int which) { return graph_.neighbour[graph_.start[v] + which]; });
  }

  bool changes_nothing(const Pair& pair) const { return node_of_[pair.u] == node_of_[pair.v]; }

  double saved_by(const Pair& pair) const {
    const auto& [u, v] = pair;
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

  void accept(const Pair& pair) {
    members_.exchange(pair, node_of_[pair.u], node_of_[pair.v]);
    std::swap(node_of_[pair.u], node_of_[pair.v]);
  }
  void reject(const Pair&) const {}
  void note_best() { best_ = node_of_; }

 private:
  std::size_t index(int a, int b) const { return static_cast<std::size_t>(a) * nodes_ + b; }

  const WeightedGraph& graph_;
  int nodes_;
  std::vector<double> distance_;
  std::vector<int>& node_of_;
  std::vector<int> best_;
  Members members_;
};

/// Any value: an exchange is made to see what it saves.
class ValueAnnealing {
 public:
  ValueAnnealing(Evaluation evaluation, double (*value)(const Evaluation&))
      : evaluation_(std::move(evaluation)),
        value_of_(value),
        value_(value(evaluation_)),
        best_(evaluation_.placement()),
        members_(best_) {}

  /// The best placement that was met.
  std::vector<int> run(std::int64_t proposals) {
    cool_down(*this, proposals);
    return std::move(best_);
  }

  Pair propose(std::int64_t k) const {
    const auto& graph = evaluation_.graph();
    return members_.propose(
        k, evaluation_.placement(), [&](int v) { return std::ssize(graph.talks(v)); },
        [&](int v, int which) { return graph.talks(v)[which].peer; });
  }

  bool changes_nothing(const Pair& pair) const {
    return evaluation_.node_of(pair.u) == evaluation_.node_of(pair.v);
  }
  double saved_by(const Pair& pair) {
    evaluation_.swap(pair.u, pair.v);
    after_ = value_of_(evaluation_);
    return value_ - after_;
  }
  void accept(const Pair& pair) {
    value_ = after_;
    members_.exchange(pair, evaluation_.node_of(pair.v), evaluation_.node_of(pair.u));
  }
  void reject(const Pair& pair) { evaluation_.swap(pair.u, pair.v); }
  void note_best() { best_ = evaluation_.placement(); }

 private:
  Evaluation evaluation_;
  double (*value_of_)(const Evaluation&);
  double value_;
  double after_ = 0;  ///< the exchange that is being tried
  std::vector<int> best_;
  Members members_;
};

}  // namespace

void anneal_sum(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
                std::int64_t proposals, std::vector<int>& node_of) {
  constexpr std::int64_t most_nodes = 2048;  // whose distances fit into a cache
  if (proposals <= 0 || graph.neighbour.empty() || std::ranges::max(node_of) >= most_nodes) return;
  SumAnnealing(graph, network, cost, node_of).run(proposals);
}

std::vector<int> anneal_value(const Evaluation& evaluation, double (*value)(const Evaluation& evaluation)) {
  const auto& graph = evaluation.graph();
  double talks = 0;
  for (int rank = 0; rank < graph.ranks(); ++rank) talks += static_cast<double>(graph.talks(rank).size());
  if (talks == 0) return evaluation.placement();
  // This many times all exchanges that there are, but not for longer than a second: a proposal follows the
  // messages of two ranks four times, and looks at all links.
  constexpr double rounds = 10;
  constexpr double most_looks = 5e8;
  const double looks = 40 * talks / graph.ranks() + static_cast<double>(evaluation.link_bytes().size());
  const double proposals = std::min(rounds * graph.ranks() * graph.ranks(), most_looks / looks);
  return ValueAnnealing(evaluation, value).run(static_cast<std::int64_t>(proposals));
}

}  // namespace ayatori::mapping
