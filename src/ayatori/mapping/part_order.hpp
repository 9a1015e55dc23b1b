#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/mapping/objectives/evaluation.hpp"
#include "ayatori/mapping/objectives/objective.hpp"
#include "ayatori/network/cost_model.hpp"
#include "ayatori/network/network.hpp"

namespace ayatori::mapping {

/// Which rank takes which part of something that is spread over all of them, one part each.
struct PartOrder {
  std::vector<int> rank_of_part;  ///< where nothing is better: every part's own number
  bool is_kept = true;            ///< nothing was better
  int nodes = 1;
  std::string how;  ///< see Attempt
  Metrics before;   ///< costs of an exchange, rank r having part r
  Metrics after;
  double seconds = 0;  ///< that finding it took
};

/// Collective. The node of every rank: those that share memory have the same. Nodes are numbered by their
/// lowest ranks.
std::vector<int> node_of_ranks(const comm::Comm& comm);

/// Makes the network for at least this many nodes. May throw InputError.
using MakeNetwork = std::function<std::unique_ptr<network::Network>(int nodes)>;

/// Collective. Finds who should take which part of a job that runs already, so that parts that talk much are
/// near each other: place(), with parts in place of ranks. `sent`: what this rank's part sends, `from` being
/// this rank and `to` parts. `node_of_rank`: of all ranks, numbered from 0 without gaps; as node_of_ranks()
/// says, or otherwise. Node n is node n of the network, which rank 0 makes. Parts that stay on their node
/// stay on their rank. Throws InputError, agreed.
PartOrder order_parts(const comm::Comm& comm, std::span<const PairVolume> sent,
                      std::span<const int> node_of_rank, const MakeNetwork& make_network,
                      const network::CostModel& model, const Objective& objective);

}  // namespace ayatori::mapping
