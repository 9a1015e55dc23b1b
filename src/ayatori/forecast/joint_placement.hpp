#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ayatori/collectives/search/search.hpp"
#include "ayatori/mapping/placement.hpp"

namespace ayatori::forecast {

/// A collective operation that a program calls beside its exchange of messages.
struct CollectiveCalls {
  collectives::Operation operation;
  std::int64_t bytes;  ///< length of the buffer
  double calls = 1;    ///< for each exchange
};

/// A placement, with what it makes of the program's messages and of its collectives.
struct JointPlacement {
  std::string how;  ///< "order of ranks", or the objective by which it was found, and how
  std::vector<int> node_of;
  double exchange_seconds = 0;
  std::vector<collectives::SizeChoice> collectives;  ///< the best schedules there, in the order of the calls
  double collective_seconds = 0;                     ///< all calls of one exchange

  double seconds() const { return exchange_seconds + collective_seconds; }
};

/// The messages of a call of this many bytes, round by round: in a pipeline every segment is one round behind
/// the segment before it.
std::vector<std::vector<mapping::PairVolume>> rounds_of(const collectives::Schedule& schedule,
                                                        std::int64_t bytes);

/// Places ranks so that exchange and collectives together are predicted to take the least time: the order of
/// ranks, and what mapping::place() finds for each of its objectives; for each of them the schedules are
/// searched on the machine that ranks see there (placed_machine()), which knows groups and distances. What is
/// found is played through on the routes (mapping::replay_seconds), exchanges as a whole, the finalists of
/// collectives round by round, where that is possible for all. The best is first; the order of ranks is if
/// nothing is better by more than the resolution of the replay. Throws InputError if the network is too
/// small, or an operation cannot be of such a length.
std::vector<JointPlacement> place_jointly(const mapping::CommGraph& graph, const network::Network& network,
                                          const network::CostModel& model, std::span<const int> order,
                                          std::span<const CollectiveCalls> calls,
                                          const collectives::SearchOptions& options);

}  // namespace ayatori::forecast
