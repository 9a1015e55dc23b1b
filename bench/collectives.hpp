#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/collectives/word_schedule.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/estimate.hpp"

namespace ayatori::bench {

/// A schedule against the MPI's own operation, on a buffer of doubles; root is rank 0.
struct CollectiveCase {
  std::int64_t bytes;  ///< of the buffer, of all blocks where the operation is by rank
  collectives::WordPlan plan;
};

struct CollectiveTiming {
  machine::Estimate mpi;  ///< seconds to the slowest rank
  machine::Estimate ours;
};

/// Collective. Both in turns, for `seconds` in all; every call begins at an appointed time. Throws InputError
/// if a plan is not for the ranks of `comm`, and EnvironmentError if a schedule gives another result than the
/// MPI, agreed.
std::vector<CollectiveTiming> time_collectives(const comm::Comm& comm, std::span<const CollectiveCase> cases,
                                               double seconds);

}  // namespace ayatori::bench
