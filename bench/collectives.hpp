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
  machine::Estimate mpi;  ///< seconds to the slowest rank; zeros for a side that was not timed
  machine::Estimate ours;
};

struct CollectiveOptions {
  double seconds = 10;  ///< for all cases together, about
  int calls = 0;        ///< if positive so many of each, once: what a deterministic simulation needs
  bool mpi = true;      ///< sides to time; both are run, and compared
  bool ours = true;
};

/// Collective. Both in turns; every call begins at an appointed time. Throws InputError
/// if a plan is not for the ranks of `comm`, and EnvironmentError if a schedule gives another result than the
/// MPI, agreed.
std::vector<CollectiveTiming> time_collectives(const comm::Comm& comm, std::span<const CollectiveCase> cases,
                                               const CollectiveOptions& options);

}  // namespace ayatori::bench
