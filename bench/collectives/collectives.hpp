#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ayatori/collectives/words/word_plan.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/model/estimate.hpp"
#include "bench/collectives/forced_comms.hpp"

namespace ayatori::bench {

/// Which of the MPI's algorithms take part in a race; an empty one: none.
using AlgorithmFilter = std::function<bool(const comm::MpiAlgorithm&)>;
inline AlgorithmFilter all_algorithms() {
  return [](const comm::MpiAlgorithm&) { return true; };
}

/// Ways to do one operation on one size, on a buffer of doubles; root is rank 0. The MPI's own choice always
/// takes part.
struct CollectiveRace {
  collectives::Operation operation;
  std::int64_t bytes;  ///< length of the buffer, of all blocks where the operation is by rank
  std::vector<collectives::WordPlan> plans = {};
  AlgorithmFilter algorithms = {};
};

/// The MPI, made to use one of its algorithms.
struct ForcedTiming {
  comm::MpiAlgorithm algorithm;
  machine::Estimate seconds;
};

struct RaceTimes {
  machine::Estimate mpi;                 ///< seconds to the slowest rank; zeros for what was not timed
  std::vector<machine::Estimate> plans;  ///< likewise
  std::optional<ForcedTiming> forced;    ///< none where nothing can be forced, or there was no time
  int left_out = 0;                      ///< algorithms of the MPI that there was no time to try or to race
};

struct CollectiveOptions {
  double seconds = 10;  ///< for all together, but no less than a few calls of each schedule and the MPI's own
  int calls = 0;        ///< if positive this many of each, once: what a deterministic simulation needs
  bool mpi = true;      ///< sides to time; both are run, and compared
  bool ours = true;
};

/// Collective. All in turns; every call begins at an appointed time. Of the MPI's algorithms those take part
/// that give the MPI's result and are fastest in a few calls; finding them takes half of the time at most.
/// Throws InputError if a plan is not for the
/// ranks of `comm` or another operation, and EnvironmentError if a schedule gives another result than the
/// MPI, agreed.
std::vector<RaceTimes> time_collectives(const comm::Comm& comm, std::span<const CollectiveRace> races,
                                        const CollectiveOptions& options, ForcedComms* forced = nullptr);

}  // namespace ayatori::bench
