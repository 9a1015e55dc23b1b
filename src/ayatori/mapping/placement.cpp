#include "ayatori/mapping/placement.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/mapping/optimization/anneal.hpp"
#include "ayatori/mapping/optimization/assign.hpp"
#include "ayatori/mapping/optimization/partition.hpp"
#include "ayatori/mapping/optimization/refine.hpp"
#include "ayatori/mapping/optimization/weighted_graph.hpp"

namespace ayatori::mapping {

namespace {

/// How many ranks are on each node.
std::vector<int> capacities_of(std::span<const int> order) {
  std::vector<int> capacities(order.empty() ? 0 : std::ranges::max(order) + 1, 0);
  for (const int node : order) ++capacities[node];
  return capacities;
}

/// Where the ranks are, and how many each node takes.
struct Places {
  std::span<const int> order;
  std::vector<int> capacities;
};

using Start = std::vector<int> (*)(const WeightedGraph& graph, const network::Network& network,
                                   const PairCost& cost, const Places& places, int seed);

std::vector<int> place_in_order(const WeightedGraph&, const network::Network&, const PairCost&,
                                const Places& places, int) {
  return {places.order.begin(), places.order.end()};
}

std::vector<int> bisect(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
                        const Places& places, int seed) {
  return assign_by_bisection(graph, network, cost, places.capacities, seed);
}

/// Groups that came to nodes of another size change places until each is on one of its own.
void match_sizes(std::span<const int> capacities, std::vector<int>& node_of) {
  const auto groups = static_cast<int>(node_of.size());
  const auto is_wrong = [&](int group) { return capacities[group] != capacities[node_of[group]]; };
  for (int group = 0; group < groups; ++group) {
    if (!is_wrong(group)) continue;
    for (int other = 0; other < groups; ++other) {
      if (!is_wrong(other) || capacities[node_of[other]] != capacities[group]) continue;
      std::swap(node_of[group], node_of[other]);
      break;
    }
  }
}

/// Groups of minimum cut, improved as if all nodes were equally far, then put onto the network as a whole
/// each.
std::vector<int> place_groups(const WeightedGraph& graph, const network::Network& network,
                              const PairCost& cost, const Places& places, int seed) {
  const auto& capacities = places.capacities;
  const auto nodes = static_cast<int>(capacities.size());
  auto group_of = group_exactly(graph, capacities, seed);
  PairCost cut = cost;
  cut.base = 1;
  cut.per_hop = 0;
  refine_sum(graph, network, cut, {}, group_of);
  const auto groups = contract(graph, group_of, nodes);
  const std::vector<int> one_each(nodes, 1);
  auto node_of = assign_by_bisection(groups, network, cost, one_each, seed);
  match_sizes(capacities, node_of);
  refine_sum(groups, network, cost, capacities, node_of);
  for (int& group : group_of) group = node_of[group];
  return group_of;
}

struct NamedStart {
  const char* name;
  Start start;
  bool has_seeds;  ///< another placement for each
};

constexpr std::array starts{NamedStart{"order of ranks, refined", place_in_order, false},
                            NamedStart{"groups of minimum cut", place_groups, true},
                            NamedStart{"recursive bisection", bisect, true}};

/// A placement that may become the one.
struct Candidate {
  Attempt attempt;
  std::vector<int> node_of;
  double promise;  ///< what it may come to: the norm of a maximum where there is one, else the value
};

Candidate candidate_of(std::string how, std::vector<int> node_of, const CommGraph& graph,
                       const network::Network& network, const network::CostModel& model,
                       const Objective& objective) {
  const Evaluation evaluation(graph, network, model, node_of);
  const double value = objective.value(evaluation.metrics());
  return {{std::move(how), value},
          std::move(node_of),
          objective.smooth == nullptr ? value : objective.smooth(evaluation)};
}

/// How many of several sums, or seeds, are tried: all where they are not more edges, or ranks, than that
/// together, down to one of them for larger graphs.
int number_to_try(std::int64_t most, std::int64_t each, int all) {
  return static_cast<int>(std::clamp<std::int64_t>(most / each, 1, all));
}

/// Every start by every sum, refined on that sum, and on the first where that is the objective: of each the
/// candidates by several seeds, the most promising first.
std::vector<std::vector<Candidate>> find_families(const CommGraph& graph, const network::Network& network,
                                                  const network::CostModel& model, const Places& places,
                                                  const Objective& objective) {
  std::vector<std::vector<Candidate>> families;
  const auto costs = objective.pair_costs(model);
  const auto own = weigh(graph, costs.front());
  // Graphs that take seconds have all; with one sum and one seed 100,000 ranks take less than a minute.
  std::int64_t edges = 1;
  for (int rank = 0; rank < graph.ranks(); ++rank) edges += std::ssize(graph.talks(rank));
  const int sums = number_to_try(3'000'000, edges, static_cast<int>(costs.size()));
  const int seeds = std::min(number_to_try(200'000, edges, 16), number_to_try(8192, graph.ranks(), 16));
  for (const PairCost& cost : std::span(costs).first(sums)) {
    const auto weighted = weigh(graph, cost);
    for (const auto& [name, start, has_seeds] : starts) {
      auto& family = families.emplace_back();
      for (int seed = 1; seed <= (has_seeds ? seeds : 1); ++seed) {
        auto node_of = start(weighted, network, cost, places, seed);
        refine_sum(weighted, network, cost, {}, node_of);
        if (objective.is_sum) refine_sum(own, network, costs.front(), {}, node_of);
        const auto how =
            fmt::format("{}, by {}{}", name, cost.name, seed > 1 ? fmt::format(", seed {}", seed) : "");
        family.push_back(candidate_of(how, std::move(node_of), graph, network, model, objective));
      }
      std::ranges::stable_sort(family, {}, &Candidate::promise);
    }
  }
  return families;
}

/// How many kicks take a second or two: what one costs grows about as the third power of the edges of a
/// vertex.
std::int64_t kicks_for(const WeightedGraph& graph) {
  constexpr double most_kicks = 1e6;
  const double edges_each = static_cast<double>(graph.neighbour.size()) / graph.vertices();
  return static_cast<std::int64_t>(
      std::min(10.0 * graph.vertices(), most_kicks / (1 + edges_each * edges_each * edges_each)));
}

/// How many exchanges to look at: this many times all that there are, but not for longer than a second.
std::int64_t proposals_for(const WeightedGraph& graph) {
  constexpr double most_looks = 1e8;  // at edges
  constexpr double rounds = 40;       // more gain little
  const double edges_each = static_cast<double>(graph.neighbour.size()) / graph.vertices();
  return static_cast<std::int64_t>(
      std::min(rounds * graph.vertices() * graph.vertices(), most_looks / (1 + 2 * edges_each)));
}

/// Nodes change places with all that is on them, where they have as many ranks.
void shake_nodes(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
                 std::span<const int> capacities, std::vector<int>& node_of) {
  const auto nodes = static_cast<int>(capacities.size());
  const auto groups = contract(graph, node_of, nodes);
  std::vector<int> place_of(nodes);
  std::iota(place_of.begin(), place_of.end(), 0);
  refine_sum(groups, network, cost, capacities, place_of);
  shake_sum(groups, network, cost, capacities, kicks_for(groups), place_of);
  for (int& node : node_of) node = place_of[node];
}

/// What takes longer, for the best: the objective itself, or a search from many places nearby. False if it
/// came to nothing.
bool finish(Candidate& candidate, const CommGraph& graph, const network::Network& network,
            const network::CostModel& model, const Places& places, const Objective& objective) {
  auto& attempt = candidate.attempt;
  auto& node_of = candidate.node_of;
  if (objective.is_sum) {
    const PairCost cost = objective.pair_costs(model).front();
    const auto weighted = weigh(graph, cost);
    auto shaken = node_of;
    if (cost.per_hop > 0) shake_nodes(weighted, network, cost, places.capacities, shaken);
    anneal_sum(weighted, network, cost, proposals_for(weighted), shaken);
    refine_sum(weighted, network, cost, {}, shaken);
    shake_sum(weighted, network, cost, {}, kicks_for(weighted), shaken);
    const double value = objective.value(Evaluation(graph, network, model, shaken).metrics());
    if (!(value < attempt.value)) return false;
    node_of = std::move(shaken);
    attempt = {attempt.how + ", shaken", value};
    return true;
  }
  const std::string how = attempt.how + ", busiest places relieved";
  const auto relieve = [&](Evaluation evaluation) {
    refine_peak(evaluation, objective);
    const double value = objective.value(evaluation.metrics());
    if (!(value < attempt.value)) return false;
    node_of = evaluation.placement();
    attempt = {how, value};
    return true;
  };
  const Evaluation start(graph, network, model, node_of);
  if (objective.smooth == nullptr) return relieve(start);
  return relieve(Evaluation(graph, network, model, anneal_value(start, objective.smooth)));
}

/// The most promising of them, each once.
std::vector<Candidate> finalists_of(std::vector<Candidate> candidates) {
  constexpr std::size_t most = 4;
  std::ranges::stable_sort(candidates, {}, &Candidate::promise);
  std::vector<Candidate> finalists;
  for (auto& candidate : candidates) {
    if (finalists.size() == most) break;
    const bool is_known =
        std::ranges::find(finalists, candidate.node_of, &Candidate::node_of) != finalists.end();
    if (!is_known) finalists.push_back(std::move(candidate));
  }
  return finalists;
}

/// The best of the candidates, by the closer look where there is one; the order of ranks where none is better
/// by both. Notes what the look says of the attempts.
template <class LookCloser>
Candidate choose(Candidate order_itself, std::vector<Candidate> candidates, std::vector<Attempt>& attempts,
                 double resolution, const LookCloser& look_closer) {
  const double of_order = order_itself.attempt.value;
  std::erase_if(candidates, [&](const Candidate& c) { return c.attempt.value >= of_order; });
  std::ranges::stable_sort(candidates, {}, [](const Candidate& c) { return c.attempt.value; });
  const auto look = [&](Candidate& candidate) {
    candidate.attempt.closer = look_closer(candidate.node_of);
    const auto& how = candidate.attempt.how;
    std::ranges::find(attempts, how, &Attempt::how)->closer = candidate.attempt.closer;
    return candidate.attempt.closer;
  };
  if (candidates.empty()) return order_itself;
  const bool has_look = look(order_itself).has_value();
  Candidate best = order_itself;
  for (auto& candidate : candidates) {
    const bool is_better = has_look && look(candidate) ? candidate.attempt.closer < best.attempt.closer
                                                       : candidate.attempt.value < best.attempt.value;
    if (is_better) best = std::move(candidate);
  }
  const bool tells_them_apart =
      !best.attempt.closer || *best.attempt.closer < (1 - resolution) * order_itself.attempt.closer.value();
  return tells_them_apart ? best : order_itself;
}

}  // namespace

std::vector<int> in_order(int ranks, int ranks_per_node) {
  std::vector<int> node_of;
  for (int rank = 0; rank < ranks; ++rank) node_of.push_back(rank / ranks_per_node);
  return node_of;
}

std::vector<int> dealt_round(std::span<const int> order) {
  const auto capacities = capacities_of(order);
  std::vector<int> node_of;
  for (int round = 0; node_of.size() < order.size(); ++round) {
    for (std::size_t node = 0; node < capacities.size(); ++node) {
      if (round < capacities[node]) node_of.push_back(static_cast<int>(node));
    }
  }
  return node_of;
}

Placement place(const CommGraph& graph, const network::Network& network, const network::CostModel& model,
                std::span<const int> order, const Objective& objective) {
  AYATORI_ASSERT(static_cast<int>(order.size()) == graph.ranks());
  const Places places{order, capacities_of(order)};
  const auto nodes = static_cast<int>(places.capacities.size());
  AYATORI_ASSERT(std::ranges::count(places.capacities, 0) == 0);
  if (nodes > network.nodes())
    throw InputError(
        fmt::format("{} ranks on {} nodes: the network has only {}", graph.ranks(), nodes, network.nodes()));
  const Attempt of_order{"order of ranks",
                         objective.value(Evaluation(graph, network, model, order).metrics())};
  Placement placement{{order.begin(), order.end()}, {of_order}, of_order.how, true};
  if (nodes < 2) return placement;

  const auto note = [&](const Candidate& candidate) {
    auto& attempts = placement.attempts;
    if (std::ranges::find(attempts, candidate.attempt.how, &Attempt::how) == attempts.end())
      attempts.push_back(candidate.attempt);
  };
  const auto order_itself = candidate_of(of_order.how, placement.node_of, graph, network, model, objective);
  std::vector<Candidate> candidates{order_itself};
  for (auto& family : find_families(graph, network, model, places, objective)) {
    note(family.front());
    std::ranges::move(family, std::back_inserter(candidates));
  }
  auto finalists = finalists_of(std::move(candidates));
  for (auto& candidate : finalists) {
    note(candidate);
    if (finish(candidate, graph, network, model, places, objective)) note(candidate);
  }
  const auto best = choose(order_itself, std::move(finalists), placement.attempts, objective.resolution,
                           [&](const auto& node_of) {
                             return objective.look_closer == nullptr
                                        ? std::nullopt
                                        : objective.look_closer(Evaluation(graph, network, model, node_of));
                           });
  if (best.attempt.how == of_order.how) return placement;
  placement.node_of = best.node_of;
  placement.how = best.attempt.how;
  placement.is_order = false;
  return placement;
}

}  // namespace ayatori::mapping
