#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/model/estimate.hpp"

namespace ayatori::bench {

/// A vector call (gatherv, scatterv, alltoallv) with blocks of one length.
struct BlockRace {
  collectives::Operation operation;
  std::int64_t block;  ///< bytes
};

/// Seconds to the slowest rank.
struct BlockTimes {
  machine::Estimate memory;  ///< as libayatori_pmpi.so does it, all blocks through the memory of the node
  machine::Estimate mpi;
};

/// Whether libayatori_pmpi.so has a way of its own for the vector call of this operation.
bool has_block_race(collectives::Operation operation);

/// Collective over all ranks, of which `comm` is a communicator. The library and the MPI in turns, for so
/// many seconds together. Empty where memory does not reach all ranks. Throws EnvironmentError, agreed, if
/// they do not bring the same.
std::vector<BlockTimes> time_blocks(const comm::Comm& comm, std::span<const BlockRace> races, double seconds);

}  // namespace ayatori::bench
