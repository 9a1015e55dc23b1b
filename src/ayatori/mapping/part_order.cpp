#include "ayatori/mapping/part_order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/mapping/placement.hpp"

namespace ayatori::mapping {

namespace {

std::vector<int> everyone_its_own(int ranks) {
  std::vector<int> own(ranks);
  std::iota(own.begin(), own.end(), 0);
  return own;
}

/// Parts that come to another node take the ranks that those leave which go, both in ascending order.
std::vector<int> hand_out(std::span<const int> node_of_rank, std::span<const int> node_of_part) {
  const auto ranks = static_cast<int>(node_of_rank.size());
  auto rank_of_part = everyone_its_own(ranks);
  std::vector<std::vector<int>> left(std::ranges::max(node_of_rank) + 1);
  for (int rank = ranks - 1; rank >= 0; --rank) {
    if (node_of_part[rank] != node_of_rank[rank]) left[node_of_rank[rank]].push_back(rank);
  }
  for (int part = 0; part < ranks; ++part) {
    auto& free = left[node_of_part[part]];
    if (node_of_part[part] == node_of_rank[part]) continue;
    rank_of_part[part] = free.back();
    free.pop_back();
  }
  return rank_of_part;
}

/// On rank 0.
PartOrder find_order(const CommGraph& graph, std::span<const int> node_of_rank,
                     const MakeNetwork& make_network, const network::CostModel& model,
                     const Objective& objective) {
  const Stopwatch watch;
  PartOrder order;
  order.nodes = std::ranges::max(node_of_rank) + 1;
  const auto network = make_network(order.nodes);
  const auto placement = place(graph, *network, model, node_of_rank, objective);
  order.is_kept = placement.is_order;
  order.how = placement.how;
  order.rank_of_part = hand_out(node_of_rank, placement.node_of);
  order.before = Evaluation(graph, *network, model, node_of_rank).metrics();
  order.after = Evaluation(graph, *network, model, placement.node_of).metrics();
  order.seconds = watch.seconds();
  return order;
}

}  // namespace

std::vector<int> node_of_ranks(const comm::Comm& comm) {
  const int lowest = comm.split_by_node().broadcast(comm.rank(), 0);
  const auto lowest_of = comm.allgather(lowest);
  std::vector<int> number(comm.size(), 0);
  int nodes = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (lowest_of[rank] == rank) number[rank] = nodes++;
  }
  std::vector<int> node_of;
  for (const int rank : lowest_of) node_of.push_back(number[rank]);
  return node_of;
}

PartOrder order_parts(const comm::Comm& comm, std::span<const PairVolume> sent,
                      std::span<const int> node_of_rank, const MakeNetwork& make_network,
                      const network::CostModel& model, const Objective& objective) {
  AYATORI_ASSERT(static_cast<int>(node_of_rank.size()) == comm.size());
  const auto messages = comm.gatherv(sent, 0).values;
  auto order = comm::agree(comm, [&] {
    return comm.rank() == 0
               ? find_order(CommGraph(comm.size(), messages), node_of_rank, make_network, model, objective)
               : PartOrder{.rank_of_part = everyone_its_own(comm.size())};
  });
  comm.broadcast(std::span(order.rank_of_part), 0);
  order.how = comm.broadcast(order.how, 0);
  order.is_kept = comm.broadcast(order.is_kept, 0);
  order.nodes = comm.broadcast(order.nodes, 0);
  order.before = comm.broadcast(order.before, 0);
  order.after = comm.broadcast(order.after, 0);
  order.seconds = comm.broadcast(order.seconds, 0);
  return order;
}

}  // namespace ayatori::mapping
